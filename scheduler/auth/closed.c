/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/auth/closed.h"

#include <stdio.h>
#include <string.h>

#include "common/ids.h"

static const struct {
	char letter; /* in the list */
	enum err_kind kind;
	const char *sentence;
} reasons[] = {
	{'t', ERR_UNAUTHORIZED, "the organization takes no tokens of people"},
	{'a', ERR_UNAUTHORIZED, "the organization takes no tokens that are as old as this one: make a new one"},
	{'s', ERR_FORBIDDEN,
		"the organization requires single sign-on: sign in through its identity provider, and make a new token "
		"if this is one"},
	{'f', ERR_FORBIDDEN, "the organization needs two-factor authentication: set it up at " FACTORS_PATH},
};

int closed_check(const char *closed, const char *organization_id, struct err *err)
{
	char entry[ID_SIZE + 4];

	for (size_t i = 0; closed && i < ARRAY_LEN(reasons); i++) {
		snprintf(entry, sizeof(entry), ",%c:%s,", reasons[i].letter, organization_id);
		if (strstr(closed, entry))
			return err_set(err, reasons[i].kind, "%s", reasons[i].sentence);
	}
	return 0;
}
