/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_QUEUE_QUEUE_H
#define SCHEDULER_QUEUE_QUEUE_H

/*
 * The rules of a workspace's queue: runs start strictly in order, one at a time. A plan-only run holds nothing. So it
 * starts without a turn in the queue, and no lock, hold or current run delays it. Pure, like the lifecycle.
 */

#include "scheduler/lifecycle/run.h"

struct queue_view {
	bool locked;      /* by a person */
	bool has_current; /* a run holds the workspace */
	bool held;        /* the last state of an apply that was lost may still come (store/holds.h) */
};

/* Whether the run may take its turn now. `first`: nothing that is queued came before it. */
bool queue_may_start(const struct queue_view *workspace, bool plan_only, bool first);

/* What a run that is queued or parked comes to now: EV_TURN, EV_STALE since its saved plan was made from another state
 * than the workspace's, or EVENT_COUNT: nothing. It is the first of its queue, if it is in it. */
enum run_event_kind queue_event(const struct queue_view *workspace, const struct run *run, bool plan_is_stale);

/* Whether its workspace's queue is to be looked at after that step: the workspace became free, or a saved plan came
 * back to the queue. */
bool queue_may_move(const struct run *before, const struct run *after);

/*
 * The order in which waiting jobs are given out: applies, then plans, then speculative plans, since an apply holds a
 * workspace and a speculative plan holds nothing. Smaller goes first.
 */
enum job_class { CLASS_APPLY, CLASS_PLAN, CLASS_SPECULATIVE };
enum job_class job_class_of(bool is_apply, bool plan_only);

#endif
