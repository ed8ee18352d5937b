/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/lifecycle/history.h"

#include <stdlib.h>
#include <string.h>

static bool same_system(const char *a, const char *b)
{
	size_t len = strcspn(a, "/");

	return len == strcspn(b, "/") && strncmp(a, b, len) == 0;
}

/* The timeline is hexadecimal, as in the names of WAL files. */
static unsigned long timeline(const char *history)
{
	const char *slash = strchr(history, '/');

	return slash ? strtoul(slash + 1, NULL, 16) : 0;
}

enum history_change history_compare(const char *known, const char *now, bool synchronous)
{
	if (!known)
		return HISTORY_FIRST;
	if (text_equal(known, now))
		return HISTORY_SAME;
	if (synchronous && same_system(known, now) && timeline(now) > timeline(known))
		return HISTORY_CONTINUED;
	return HISTORY_MAY_LACK;
}
