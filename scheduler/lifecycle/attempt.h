/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_LIFECYCLE_ATTEMPT_H
#define SCHEDULER_LIFECYCLE_ATTEMPT_H

/* The current attempt of a run's job, and whether a report about an attempt is late. Pure. */

#include "common/ids.h"

/* The values of the job's row, read under its lock. */
struct attempt {
	struct id id; /* the job's id; "": the run has no job */
	int attempt;
	int losses; /* earlier attempts that were lost with their workers */
	bool claimed, started, lease_over;
};

/* The attempt that a report refers to. */
struct attempt_ref {
	struct id job; /* "": the report is about the run, whatever its job's attempt */
	int attempt;
	bool only_if_lease_over; /* valid only while the lease is over: a heartbeat may have arrived in between */
};

/* Returns true if the report is late (duplicated, delayed or fenced): it does not match the job's current attempt. */
bool attempt_is_late(const struct attempt *now, const struct attempt_ref *ref);

#endif
