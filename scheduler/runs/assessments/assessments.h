/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_RUNS_ASSESSMENTS_ASSESSMENTS_H
#define SCHEDULER_RUNS_ASSESSMENTS_ASSESSMENTS_H

/*
 * Health assessments: between its runs, a workspace is planned with the configuration of its last applied run and
 * today's variables. The result says what has drifted, and which checks do not hold.
 *
 * An assessment is a plan-only run without run tasks, policies and cost estimates, which no list of runs shows. It
 * waits for no lock and holds nothing. Its job is of the last class (lifecycle/job_class.h), and at most
 * --assessments-at-a-time percent of a pool's slots work on assessments. A run of the workspace cancels it, and so does
 * a job that waits while the pool has no free slot.
 *
 * A workspace is due a period after its last change and its last assessment. `assess_at` is when the scheduler looks at
 * it: it may find that the workspace is not due yet, or can't be assessed (refusals.def).
 */

#include "scheduler/store/store.h"

enum { ASSESSMENTS_KEPT = 100 };

/* Looks at the pool's workspaces whose time has come, and begins at most `room` assessments. */
int assessments_begin(struct store *store, const char *pool_id, long long room, struct err *err);
/* Begins the assessment of one workspace, whether it is due or not. ERR_CONFLICT with the reason if it can't be
 * assessed now, or began an assessment within the last minute; ERR_NOT_FOUND. */
int assessment_start(struct store *store, const char *workspace_id, const char *user_id, struct err *err);
/* Evaluates an assessment whose run has ended, stores the result and notifies about changes, unless another scheduler
 * does so. It counts as canceled if the workspace's state has changed since. Fetches the plan's content from the object
 * store, which may be NULL, outside of transactions. ERR_UNAVAILABLE if that content can't be read now. */
int assessment_settle(struct store *store, struct objects *objects, const char *run_id, struct err *err);

/* The sentence for a refusal's word; NULL for NULL. */
const char *assessment_refusal_sentence(const char *word);
/* Stores the result of an assessment that could not begin. In a transaction. */
int assessment_fail(struct store *store, const char *workspace_id, const char *why, struct err *err);

#endif
