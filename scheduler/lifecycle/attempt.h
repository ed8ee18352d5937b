/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_LIFECYCLE_ATTEMPT_H
#define SCHEDULER_LIFECYCLE_ATTEMPT_H

/* The attempt that a run's job is at, and whether what is said of one still counts. Pure. */

#include "common/ids.h"

/* As the job's row has it, under its lock. */
struct attempt {
	struct id id; /* of the job; "": the run has none */
	int attempt;
	int losses; /* earlier attempts that were lost with their workers */
	bool claimed, started, lease_over;
};

/* What is said was said of this one. */
struct attempt_said {
	struct id job; /* "": it is of the run, whatever its job is at */
	int attempt;
	bool only_if_lease_over; /* it holds only while the lease is over: a heartbeat may have come in between */
};

/* Duplicated, delayed or fenced: the run's job is not, or not any more, where it was when that was said. */
bool attempt_is_late(const struct attempt *now, const struct attempt_said *said);

#endif
