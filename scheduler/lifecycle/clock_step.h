/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_LIFECYCLE_CLOCK_STEP_H
#define SCHEDULER_LIFECYCLE_CLOCK_STEP_H

/* Whether the clock of another machine stepped between two readings, judged by this machine's own clock. Pure. */

#include "common/base.h"

struct clock_reading {
	int64_t asked_ms, answered_ms; /* before and after the reading, by the own clock, which never steps */
	int64_t said_ms;               /* the other machine's clock */
};

/* The largest step that leases of that length bear: they are renewed after a third of their time. */
int64_t clock_tolerance_ms(int lease_seconds);
/* False if the reading took too long to tell a step by. */
bool clock_reading_is_exact(const struct clock_reading *reading, int64_t tolerance_ms);
/* How far the other clock stepped, negative for a step back; 0 unless it is certainly more than the tolerance. */
int64_t clock_step_ms(const struct clock_reading *before, const struct clock_reading *now, int64_t tolerance_ms);

#endif
