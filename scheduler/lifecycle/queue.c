/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/lifecycle/queue.h"

bool queue_may_start(const struct queue_view *workspace, bool plan_only, bool first)
{
	return plan_only || (first && !workspace->locked && !workspace->has_current && !workspace->held);
}

enum run_event_kind queue_event(const struct queue_view *workspace, const struct run *run, bool plan_is_stale)
{
	bool saved = run_situation(run) == AT_SAVED || run->status == RUN_CONFIRMED;

	if (saved && plan_is_stale)
		return EV_STALE;
	if (workspace->maintenance && run->status == RUN_PENDING)
		return EVENT_COUNT;
	if (run->queued && queue_may_start(workspace, run->plan_only, true))
		return EV_TURN;
	return EVENT_COUNT;
}

bool queue_may_move(const struct run *before, const struct run *after)
{
	return (run_holds(before) && !run_holds(after)) || (after->queued && !before->queued);
}

enum job_class job_class_of(const struct run *run)
{
	if (run->stage == STAGE_APPLY)
		return CLASS_APPLY;
	if (run->assessment)
		return CLASS_ASSESSMENT;
	return run->plan_only ? CLASS_SPECULATIVE : CLASS_PLAN;
}
