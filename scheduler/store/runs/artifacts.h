/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_RUNS_ARTIFACTS_H
#define SCHEDULER_STORE_RUNS_ARTIFACTS_H

/* Inputs of a run's stages, each a sealed blob. Outputs of plans are stored by store/runs/uploads.c. */

#include "scheduler/store/store.h"

/* One artifacts_of_run_row. plan_deleted: retention has deleted both blobs. */
int artifacts_of_run(struct store *store, const char *run_id, struct rows *ret_rows, struct err *err);
enum artifact {
	ARTIFACT_CONFIGURATION,
	ARTIFACT_STATE,
	ARTIFACT_PLAN,
	ARTIFACT_PLAN_JSON,
	ARTIFACT_SCHEMAS,
	ARTIFACT_INIT
};

struct artifact_request {
	const char *job_id, *token;
	enum artifact artifact;
};
/* Appends an artifact of the job's run. ERR_NOT_FOUND unless the token belongs to the job's current attempt. *ret_there
 * is false if the run has no such artifact. */
int artifact_of_job(
	struct store *store, const struct artifact_request *request, struct buf *out, bool *ret_there, struct err *err);

/* Size limits in bytes, of one content and of all contents that are sent with the response to a claim. */
enum { SMALL_CONTENT = 64 << 10, SMALL_CONTENTS = 1 << 20 };

/* Reads the small contents that these jobs will request, if they are in PostgreSQL. The smallest come first, until
 * SMALL_CONTENTS is reached. The keys are the names in the requests: {"job-...": {"state": <base64>, ...}}. A new
 * reference. */
int artifacts_small(struct store *store, struct db_array *job_ids, json_t **ret_contents, struct err *err);

#endif
