/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/background/sweep_failures.h"

#include <stdio.h>

#include "common/log.h"

void sweep_failures_add(struct sweep_failures *failures, const char *id, const struct err *why)
{
	if (!failures->count++) {
		text_copy(failures->first.text, sizeof(failures->first.text), id);
		failures->why = *why;
	}
}

int sweep_failed(struct sweep_failures *failures, const char *id, const struct err *why, struct err *err)
{
	if (why->kind == ERR_UNAVAILABLE) {
		*err = *why;
		return -1;
	}
	sweep_failures_add(failures, id, why);
	return 0;
}

void sweep_failures_note(const struct sweep_failures *failures, const char *sweep)
{
	char count[24];

	if (!failures->count)
		return;
	snprintf(count, sizeof(count), "%zu", failures->count);
	log_error("a sweep leaves out rows that fail, and tries them again", "sweep", sweep, "count", count, "first",
		failures->first.text, "error", failures->why.message, NULL);
}
