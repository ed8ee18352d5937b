/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/runs/artifacts.h"

#include <string.h>

#include "scheduler/store/runs/artifacts.sql.h"
#include "scheduler/store/states/state_bases.h"
#include "scheduler/store/content/blobs.h"

int artifacts_of_run(struct store *store, const char *run_id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, artifacts_of_run, .id_sibling = id_sibling(run_id, "plan").text) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "run not found");
}

/* ---- inputs of a job ---- */

/* Selects the content, joined from the job by `way`. */
#define BLOB_BY(way, blob)                                                                                             \
	BLOB_SELECT "from jobs j " way " left join blobs b on b.id = " blob                                            \
		    " where j.id = $1 and j.token_hash = $2 and j.state = 'claimed'"
#define BY_CONFIGURATION                                                                                               \
	"join run_inputs i on i.run_id = j.run_id join configuration_versions c on c.id = i.configuration_version_id"
#define BY_STATE "join workspaces w on w.id = j.workspace_id left join state_versions s on s.id = w.current_state_id"
#define BY_PLAN(kind)                                                                                                  \
	"left join operation_blobs o on o.operation_id = 'plan' || substr(j.run_id, 4) and o.kind = '" kind "'"

static const char *const blob_sql[] = {
	[ARTIFACT_CONFIGURATION] = BLOB_BY(BY_CONFIGURATION, "c.blob_id"),
	[ARTIFACT_STATE] = STATE_CONTENT_SELECT "from jobs j " BY_STATE " " STATE_CONTENT_JOIN
						"where j.id = $1 and j.token_hash = $2 and j.state = 'claimed'",
	[ARTIFACT_PLAN] = BLOB_BY(BY_PLAN("plan"), "o.blob_id"),
	[ARTIFACT_PLAN_JSON] = BLOB_BY(BY_PLAN("json"), "o.blob_id"),
	[ARTIFACT_SCHEMAS] = BLOB_BY(BY_PLAN("schemas"), "o.blob_id"),
	[ARTIFACT_INIT] = BLOB_BY(BY_PLAN("init"), "o.blob_id"),
};

int artifact_of_job(
	struct store *store, const struct artifact_request *request, struct buf *out, bool *ret_there, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	char hash[SHA256_HEX_SIZE];

	crypto_sha256_hex(text_or_empty(request->token), strlen(text_or_empty(request->token)), hash);
	if (db_query_sql(store->db, &rows, err, blob_sql[request->artifact], P_TEXT(request->job_id), P_TEXT(hash)) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_NOT_FOUND, "this attempt is over, or the token is not its own");
	*ret_there = !row_null(&rows, 0, "blob_id");
	if (!*ret_there)
		return 0;
	return (request->artifact == ARTIFACT_STATE ? state_content_of_row : blob_of_row)(store, &rows, 0, out, err);
}

/* ---- small inputs of many jobs ---- */

/* A content that does not open is skipped: the worker's own request for it reports the error. */
static void small_add(struct store *store, const struct rows *rows, int row, json_t *contents)
{
	const char *job = row_text(rows, row, "job_id");
	_cleanup_(buf_release) struct buf bytes = BUF_INIT(SMALL_CONTENT);
	_cleanup_(freep) char *text = NULL;
	struct err err = ERR_INIT;

	if (blob_of_row(store, rows, row, &bytes, &err) < 0)
		return;
	text = crypto_base64(buf_str(&bytes), bytes.len);
	if (!json_object_get(contents, job))
		json_object_set_new(contents, job, json_object());
	json_object_set_new(json_object_get(contents, job), row_text(rows, row, "name"), json_string(text));
}

int artifacts_small(struct store *store, struct db_array *job_ids, json_t **ret_contents, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, artifacts_small, .job_ids = job_ids, .small_content = SMALL_CONTENT,
		    .small_contents = SMALL_CONTENTS) < 0)
		return -1;
	*ret_contents = json_object();
	for (int i = 0; i < rows.count; i++)
		small_add(store, &rows, i, *ret_contents);
	return 0;
}
