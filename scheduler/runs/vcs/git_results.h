/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_RUNS_VCS_GIT_RESULTS_H
#define SCHEDULER_RUNS_VCS_GIT_RESULTS_H

/*
 * Applies claims, results and expired leases of git jobs (store/vcs/git_jobs.h).
 *
 *  - A success is applied: a look's refs, a diff's files, a fetch's content, a module's description.
 *  - A temporary failure is tried again, GIT_TRIES times in all, with growing pauses. So is a job whose worker died.
 *  - Any other failure is the job's end: the content errs, the files of an event stay unknown, or the repository's next
 *    look is later.
 */

#include "scheduler/store/vcs/git_jobs.h"

/* Claims jobs: {job, attempt, token, and the members of git_job_order}. An array. */
int git_claim_jobs(struct store *store, const struct git_claim *claim, json_t **ret_jobs, struct err *err);
/* Applies the result of the attempt that the token is for (proto/README.md). ERR_NOT_FOUND if the attempt is over;
 * ERR_INVALID. */
int git_result_apply(struct store *store, const char *job_id, const char *token, const json_t *result, struct err *err);
/* Ends attempts whose lease has ended. For the reaper. */
int git_jobs_sweep(struct store *store, struct err *err);

#endif
