/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_DISPATCH_SWEEP_FAILURES_H
#define SCHEDULER_DISPATCH_SWEEP_FAILURES_H

/* Rows that fail in a sweep: the sweep goes on with the others, and the log has one line for all of them. */

#include "scheduler/store/store.h"

struct sweep_failures {
	size_t count;
	struct id first;
	struct err why; /* the first one's */
};

/* Counts the row that failed. Returns -1, with *err, if PostgreSQL does not answer: then the sweep ends. */
int sweep_failed(struct sweep_failures *failures, const char *id, const struct err *why, struct err *err);
/* At the sweep's end. */
void sweep_failures_tell(const struct sweep_failures *failures, const char *sweep);

#endif
