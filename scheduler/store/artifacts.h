/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_ARTIFACTS_H
#define SCHEDULER_STORE_ARTIFACTS_H

/* What a run's stages read, each a sealed blob. Plans' own are kept by store/uploads.c. */

#include "scheduler/store/store.h"

/* One row: configuration_blob, state_blob (the workspace's current state), plan_blob, json_blob, init_blob,
 * schemas_blob; plan_deleted: retention has deleted json_blob and schemas_blob. */
int artifacts_of_run(struct store *store, const char *run_id, struct rows *ret_rows, struct err *err);
/* The same of the run of a job, if the token is that of its present attempt; else ERR_NOT_FOUND. */
int artifacts_of_job(
	struct store *store, const char *job_id, const char *token, struct rows *ret_rows, struct err *err);

#endif
