/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/lifecycle/attempt.h"

bool attempt_is_late(const struct attempt *now, const struct attempt_said *said)
{
	if (said->only_if_lease_over && !(now->claimed && now->lease_over))
		return true;
	return said->job.text[0] && (!text_equal(said->job.text, now->id.text) || said->attempt != now->attempt);
}
