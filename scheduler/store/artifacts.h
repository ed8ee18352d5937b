/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_ARTIFACTS_H
#define SCHEDULER_STORE_ARTIFACTS_H

/* What a run's stages read, each a sealed blob. Plans' own are kept by store/uploads.c. */

#include "scheduler/store/store.h"

/* One row: json_blob and schemas_blob; plan_deleted: retention has deleted both. */
int artifacts_of_run(struct store *store, const char *run_id, struct rows *ret_rows, struct err *err);
enum artifact { ARTIFACT_CONFIGURATION, ARTIFACT_STATE, ARTIFACT_PLAN, ARTIFACT_PLAN_JSON, ARTIFACT_INIT };

/* Appends one of them, of the run of a job, if the token is that of its present attempt; else ERR_NOT_FOUND. False in
 * *ret_there: there is none. */
int artifact_of_job(struct store *store, const char *job_id, const char *token, enum artifact artifact, struct buf *out,
	bool *ret_there, struct err *err);

/* The most bytes of one, and of all, that go with the answer to a claim. */
enum { SMALL_CONTENT = 64 << 10, SMALL_CONTENTS = 1 << 20 };

/* Of what these jobs will ask for what is small and in PostgreSQL, the smallest first, until there is no more room:
 * {"job-...": {"state": <base64>, ...}}, with the names of their requests. A new reference. */
int artifacts_small(struct store *store, struct db_array *job_ids, json_t **ret_contents, struct err *err);

#endif
