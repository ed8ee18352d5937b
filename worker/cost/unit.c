/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/cost/unit.h"

#include "common/base.h"

static const struct unit units[] = {
	{"hour", 730},
	{"month", 1},
	{"GB-month", 1},
};

const struct unit *unit_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(units); i++)
		if (text_equal(units[i].name, name))
			return &units[i];
	return NULL;
}
