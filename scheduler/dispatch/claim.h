/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_DISPATCH_CLAIM_H
#define SCHEDULER_DISPATCH_CLAIM_H

/*
 * Claims: a worker gets the best waiting jobs of its pool, each with a lease and a token of its own. A claim is a
 * compare-and-set on (job, attempt). So one of two claimers gets the job, whichever message each of them read.
 *
 * What a job is about to read comes along where it is small (store/artifacts.h). It is read when the claim has
 * committed, since then nothing that is wrong with it can undo the claim, or keep its locks: the worker asks for what
 * does not come. So a state that comes along is what the job's own request would give at that moment. It may be
 * overtaken as one that was asked for may be, once it is given: by a late state, or, beside a speculative plan, which
 * holds nothing, by anybody's. All others write a workspace's state with its lock only, which nobody gets while a run
 * has the workspace.
 */

#include "scheduler/lifecycle/run.h"
#include "scheduler/store/store.h"

enum { MOST_CLAIMED = 64 };

/* All borrowed. */
struct claim_request {
	const char *pool_id, *worker_id;
	const json_t *capabilities; /* proto/capabilities.h; NULL: the worker is of an earlier version */
	int slots;
	long long apply_seconds; /* what the worker's keeper gives an apply from when the claim was sent; 0: any time */
};

/* Claims up to `slots` jobs for a worker, of those that it can run. *ret_jobs is an array of jobs as proto/README.md
 * has them, *ret_more whether others waited besides. The run of a job that no live worker of the pool can run ends with
 * the reason. ERR_NOT_FOUND if the worker is not known in that pool (any more). */
int jobs_claim(
	struct store *store, const struct claim_request *request, json_t **ret_jobs, bool *ret_more, struct err *err);

/* What a job's token allows: to work on this attempt, and nothing else. */
struct job_grant {
	struct id job, run, workspace, plan, apply;
	enum stage stage;
	int attempt;
	long long log_base; /* where this attempt's log begins in its operation's */
	bool late;          /* the attempt is over, and may hand in its states and nothing else (state_granted) */
};

/* ERR_NOT_FOUND if the token is not that of the job's present attempt. */
int job_granted(
	struct store *store, const char *job_id, const char *token, struct job_grant *ret_grant, struct err *err);
/* The same, and of an attempt whose last state was owed when it ended. */
int state_granted(
	struct store *store, const char *job_id, const char *token, struct job_grant *ret_grant, struct err *err);
/* Whether state_granted would say yes. */
bool job_token_valid(struct store *store, const char *job_id, const char *token);
/* Whether the job that made the plan had that token, and passed: its JSON may come later (store/uploads.h). */
bool plan_token_valid(struct store *store, const char *plan_id, const char *token);

#endif
