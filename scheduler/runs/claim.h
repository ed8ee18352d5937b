/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_RUNS_CLAIM_H
#define SCHEDULER_RUNS_CLAIM_H

/*
 * Claims: a worker gets the best waiting jobs of its pool, each with a lease and a token of its own. A claim is a
 * compare-and-set on (job, attempt). So one of two claimers gets the job, whichever message each of them read.
 *
 * Small inputs of a job are sent with the claim's answer (store/runs/artifacts.h). They are read after the claim has
 * committed. So an error in reading them can neither undo the claim nor keep its locks, and the worker requests
 * whatever is missing. A state in the answer is the one that the job's own request would return at that moment. Like a
 * state that the job requests, it can be outdated later:
 *  - a late state can replace it;
 *  - during a speculative plan, which does not hold the workspace, any client can replace it.
 *
 * Every other write of a state needs the workspace's lock, which cannot be taken while a run holds the workspace.
 */

#include "common/json/json.h"
#include "scheduler/store/store.h"

enum { MAX_CLAIMED = 64 };

/* All borrowed. */
struct claim_request {
	const char *pool_id, *worker_id;
	const json_t *capabilities; /* proto/capabilities.h; NULL: the worker is of an earlier version */
	int slots;
	long long apply_seconds; /* an apply's limit, counted from when the claim was sent; 0: none */
};

/* Claims up to `slots` waiting jobs that the worker can run. *ret_jobs is an array of jobs in the format of
 * proto/README.md. *ret_more is true if further jobs wait. If no live worker of the pool can run a job, the job's run
 * ends with that reason. ERR_NOT_FOUND if the pool has no such worker, or has it no longer. */
int jobs_claim(
	struct store *store, const struct claim_request *request, json_t **ret_jobs, bool *ret_more, struct err *err);

#endif
