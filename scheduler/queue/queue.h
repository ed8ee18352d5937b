/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_QUEUE_QUEUE_H
#define SCHEDULER_QUEUE_QUEUE_H

/*
 * What a workspace's queue decides (LIFECYCLE, Pending): strictly in order, one at a time; a plan-only run goes beside
 * the queue and holds nothing, so neither a lock nor a current run keeps it waiting. Pure, like the lifecycle.
 */

#include "common/base.h"

struct queue_view {
	bool locked;      /* by a person */
	bool has_current; /* a run holds the workspace */
};

/* Whether the run may take its turn now. `first`: nothing that is queued came before it. */
bool queue_may_start(const struct queue_view *workspace, bool plan_only, bool first);

/*
 * The order in which waiting jobs are given out: applies, then plans, then speculative plans, since an apply holds a
 * workspace and a speculative plan holds nothing (DESIGN, Dispatch). Smaller goes first.
 */
enum job_class { CLASS_APPLY, CLASS_PLAN, CLASS_SPECULATIVE };
enum job_class job_class_of(bool is_apply, bool plan_only);

#endif
