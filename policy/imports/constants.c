/* SPDX-License-Identifier: MPL-2.0 */
/* Imports that have values alone: units and runtime. */
#include <string.h>

#include "common/base.h"
#include "policy/imports/standard.h"

/* The release of the language's documentation that this evaluator follows. Policies compare it before they use what is
 * new. */
#define LANGUAGE_VERSION "0.40.0"

#define KILO INT64_C(1024)

static const struct {
	const char *name;
	int64_t bytes;
} units[] = {
	{"byte", 1},
	{"kilobyte", KILO},
	{"megabyte", KILO *KILO},
	{"gigabyte", KILO *KILO *KILO},
	{"terabyte", KILO *KILO *KILO *KILO},
	{"petabyte", KILO *KILO *KILO *KILO *KILO},
};

static bool is_named(const char *known, const char *name, size_t len)
{
	return strlen(known) == len && memcmp(known, name, len) == 0;
}

static bool unit_field(
	struct run *run, const struct import *import, const char *name, size_t len, struct value *ret_field)
{
	(void)run;
	(void)import;
	for (size_t i = 0; i < ARRAY_LEN(units); i++) {
		if (!is_named(units[i].name, name, len))
			continue;
		*ret_field = value_int(units[i].bytes);
		return true;
	}
	return false;
}

static bool runtime_field(
	struct run *run, const struct import *import, const char *name, size_t len, struct value *ret_field)
{
	(void)import;
	if (!is_named("version", name, len))
		return false;
	*ret_field = string_text(run, LANGUAGE_VERSION);
	return true;
}

const struct import import_units = {.name = "units", .field = unit_field};
const struct import import_runtime = {.name = "runtime", .field = runtime_field};
