/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_LIFECYCLE_QUEUE_H
#define SCHEDULER_LIFECYCLE_QUEUE_H

/*
 * The rules of a workspace's queue: runs start strictly in order, one at a time. A plan-only run does not hold the
 * workspace. So it starts without a turn in the queue, and no lock, hold or current run delays it. Maintenance delays
 * every pending run. Pure, like the lifecycle.
 */

#include "scheduler/lifecycle/job_class.h"
#include "scheduler/lifecycle/run.h"

struct queue_view {
	bool locked;      /* by a person */
	bool has_current; /* a run holds the workspace */
	bool held;        /* the last state of a lost apply may still arrive (store/runs/holds.h) */
	bool maintenance; /* of the site: no pending run starts, plan-only or not (store/maintenance.h) */
};

/* Returns true if the run may start now. `first`: no queued run precedes it. */
bool queue_may_start(const struct queue_view *workspace, bool plan_only, bool first);

/* Returns the event that is due for a queued or parked run: EV_TURN; EV_STALE if its saved plan was made from another
 * state than the workspace's; or EVENT_COUNT for none. A queued run must be the first of its queue. */
enum run_event_kind queue_event(const struct queue_view *workspace, const struct run *run, bool plan_is_stale);

/* Returns true if the workspace's queue has to be checked after that step: the workspace became free, or a saved plan
 * was queued again. */
bool queue_may_move(const struct run *before, const struct run *after);

/* The class of the job of the run's stage. */
enum job_class job_class_of(const struct run *run);

#endif
