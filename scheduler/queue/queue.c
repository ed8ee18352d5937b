/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/queue/queue.h"

bool queue_may_start(const struct queue_view *workspace, bool plan_only, bool first)
{
	return plan_only || (first && !workspace->locked && !workspace->has_current);
}

enum job_class job_class_of(bool is_apply, bool plan_only)
{
	if (is_apply)
		return CLASS_APPLY;
	return plan_only ? CLASS_SPECULATIVE : CLASS_PLAN;
}
