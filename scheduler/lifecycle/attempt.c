/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/lifecycle/attempt.h"

bool attempt_is_late(const struct attempt *now, const struct attempt_ref *ref)
{
	if (ref->only_if_lease_over && !(now->claimed && now->lease_over))
		return true;
	return ref->job.text[0] && (!text_equal(ref->job.text, now->id.text) || ref->attempt != now->attempt);
}
