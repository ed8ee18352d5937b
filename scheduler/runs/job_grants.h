/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_RUNS_JOB_GRANTS_H
#define SCHEDULER_RUNS_JOB_GRANTS_H

/* The permissions of a job's token. The claim makes the token, and jobs.token_hash has its hash. */

#include "scheduler/lifecycle/run.h"
#include "scheduler/store/store.h"

/* A valid job token grants work on this attempt, and nothing else. */
struct job_grant {
	struct id job, run, workspace, plan, apply;
	enum stage stage;
	int attempt;
	long long log_base; /* offset of this attempt's log in the log of the operation */
	bool late;          /* the attempt has ended: its token is valid for its last states only (state_granted) */
};

/* Looks the token up. ERR_NOT_FOUND if it does not belong to the job's current attempt. */
int job_granted(
	struct store *store, const char *job_id, const char *token, struct job_grant *ret_grant, struct err *err);
/* The same, but also accepts the token of an attempt that ended while its last state was still outstanding. */
int state_granted(
	struct store *store, const char *job_id, const char *token, struct job_grant *ret_grant, struct err *err);
/* Returns true if state_granted would succeed. */
bool job_token_valid(struct store *store, const char *job_id, const char *token);
/* Returns true if the token belongs to the job that made the plan, and that job passed: the plan's JSON may be uploaded
 * after the result (store/runs/uploads.h). */
bool plan_token_valid(struct store *store, const char *plan_id, const char *token);

#endif
