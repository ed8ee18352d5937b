/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_BACKGROUND_SWEEP_FAILURES_H
#define SCHEDULER_BACKGROUND_SWEEP_FAILURES_H

/* Rows that fail in a sweep: the sweep continues with the others, and the log has one line for all of them. */

#include "scheduler/store/store.h"

struct sweep_failures {
	size_t count;
	struct id first;
	struct err why; /* the first one's */
};

/* Counts a failed row. */
void sweep_failures_add(struct sweep_failures *failures, const char *id, const struct err *why);
/* The same for rows that need only PostgreSQL. Returns -1 with *err if it does not answer: the sweep ends then. */
int sweep_failed(struct sweep_failures *failures, const char *id, const struct err *why, struct err *err);
/* Logs the failures at the end of the sweep. */
void sweep_failures_note(const struct sweep_failures *failures, const char *sweep);

#endif
