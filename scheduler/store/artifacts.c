/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/artifacts.h"

#include <string.h>

#define BLOBS_OF(runs)                                                                                                 \
	"select c.blob_id as configuration_blob, s.blob_id as state_blob, o.plan_blob, o.json_blob, o.init_blob, "     \
	"o.schemas_blob, o.plan_deleted_at is not null as plan_deleted from " runs                                     \
	" join run_inputs i on i.run_id = r.id "                                                                       \
	"join configuration_versions c on c.id = i.configuration_version_id "                                          \
	"join workspaces w on w.id = r.workspace_id left join state_versions s on s.id = w.current_state_id "          \
	"join operations o on o.id = 'plan' || substr(r.id, 4) "

int artifacts_of_run(struct store *store, const char *run_id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, BLOBS_OF("runs r") "where r.id = $1", P_TEXT(run_id)) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "run not found");
}

int artifacts_of_job(struct store *store, const char *job_id, const char *token, struct rows *ret_rows, struct err *err)
{
	char hash[SHA256_HEX_SIZE];

	crypto_sha256_hex(text_or_empty(token), strlen(text_or_empty(token)), hash);
	if (db_query(store->db, ret_rows, err,
		    BLOBS_OF("jobs j join runs r on r.id = j.run_id") "where j.id = $1 and j.token_hash = $2 "
								      "and j.state = 'claimed'",
		    P_TEXT(job_id), P_TEXT(hash)) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "this attempt is over, or the token is not its own");
}
