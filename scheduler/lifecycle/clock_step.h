/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_LIFECYCLE_CLOCK_STEP_H
#define SCHEDULER_LIFECYCLE_CLOCK_STEP_H

/* Detects steps of another machine's clock between two readings, using this machine's own clock. Pure. */

#include "common/base.h"

struct clock_reading {
	int64_t asked_ms, answered_ms; /* before and after the reading, by this machine's monotonic clock */
	int64_t said_ms;               /* the other machine's clock */
};

/* The largest step that leases of that length tolerate: they are renewed after a third of their time. */
int64_t clock_tolerance_ms(int lease_seconds);
/* Returns false if the reading took too long to detect a step. */
bool clock_reading_is_exact(const struct clock_reading *reading, int64_t tolerance_ms);
/* Returns how far the other clock stepped, negative for a step back; 0 unless it is certainly more than the
 * tolerance. */
int64_t clock_step_ms(const struct clock_reading *before, const struct clock_reading *now, int64_t tolerance_ms);

#endif
