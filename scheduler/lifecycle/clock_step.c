/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/lifecycle/clock_step.h"

int64_t clock_tolerance_ms(int lease_seconds)
{
	return (int64_t)lease_seconds * 1000 / 8;
}

bool clock_reading_is_exact(const struct clock_reading *reading, int64_t tolerance_ms)
{
	return reading->answered_ms - reading->asked_ms <= tolerance_ms;
}

/* The other clock was read at an unknown moment between the question and the answer, so the step is only known to be in
 * a range. */
int64_t clock_step_ms(const struct clock_reading *before, const struct clock_reading *now, int64_t tolerance_ms)
{
	int64_t gone = now->said_ms - before->said_ms;
	int64_t lowest = gone - (now->answered_ms - before->asked_ms);
	int64_t highest = gone - (now->asked_ms - before->answered_ms);

	if (lowest <= tolerance_ms && highest >= -tolerance_ms)
		return 0;
	return lowest + (highest - lowest) / 2;
}
