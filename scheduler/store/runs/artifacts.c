/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/runs/artifacts.h"

#include <string.h>

#include "scheduler/store/runs/artifacts.sql.h"
#include "scheduler/store/states/state_bases.h"
#include "scheduler/store/content/blobs.h"

int artifacts_of_run(struct store *store, const char *run_id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, artifacts_of_run, .plan_id = id_sibling(run_id, "plan").text) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "run not found");
}

/* ---- inputs of a job ---- */

static const struct db_statement *const statements[] = {
	[ARTIFACT_CONFIGURATION] = &artifact_configuration_statement,
	[ARTIFACT_STATE] = &artifact_state_statement,
	[ARTIFACT_PLAN] = &artifact_plan_statement,
	[ARTIFACT_PLAN_JSON] = &artifact_plan_json_statement,
	[ARTIFACT_SCHEMAS] = &artifact_schemas_statement,
	[ARTIFACT_INIT] = &artifact_init_statement,
};

struct artifact_read {
	const struct artifact_request *request;
	bool *there;
};

static int artifact_read(
	struct store *store, const void *data, long long most, struct buf *out, long long *ret_size, struct err *err)
{
	const struct artifact_read *reading = data;
	const struct artifact_request *request = reading->request;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct artifact_row *row;
	char hash[SHA256_HEX_SIZE];

	crypto_sha256_hex(text_or_empty(request->token), strlen(text_or_empty(request->token)), hash);
	if (db_query_one_of(store->db, &rows, err, statements[request->artifact], artifact_configuration,
		    .job_id = request->job_id, .hash = hash, .most = most) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_NOT_FOUND, "this attempt is over, or the token is not its own");
	row = row_of(artifact, &rows, 0);
	*reading->there = row->blob_id;
	*ret_size = row->size;
	if (!row->blob_id || row->size > most)
		return 0;
	if (request->artifact != ARTIFACT_STATE)
		return blob_open(
			store, &(struct sealed_blob){row->blob_id, row->object_key, row->sealed, NULL}, out, err);
	return sealed_state_open(store,
		&(struct sealed_state){.id = row->state_id,
			.blob = {row->blob_id, row->object_key, row->sealed, NULL},
			.base_id = row->base_id,
			.difference = row->difference_sealed},
		out, err);
}

int artifact_of_job(
	struct store *store, const struct artifact_request *request, struct buf *out, bool *ret_there, struct err *err)
{
	return blob_read_within(store, artifact_read, &(struct artifact_read){request, ret_there}, out, err);
}

/* ---- small inputs of many jobs ---- */

/* A content that does not open is skipped: the worker's own request for it reports the error. */
static void small_add(struct store *store, const struct artifacts_small_row *content, json_t *contents)
{
	const struct sealed_blob blob = {content->blob_id, content->object_key, content->sealed, NULL};
	_cleanup_(buf_release) struct buf bytes = BUF_INIT(SMALL_CONTENT);
	_cleanup_(freep) char *text = NULL;
	struct err err = ERR_INIT;

	if (blob_open(store, &blob, &bytes, &err) < 0)
		return;
	text = crypto_base64(buf_str(&bytes), bytes.len);
	if (!json_object_get(contents, content->job_id))
		json_object_set_new(contents, content->job_id, json_object());
	json_object_set_new(json_object_get(contents, content->job_id), content->name, json_string(text));
}

int artifacts_small(struct store *store, struct db_array *job_ids, json_t **ret_contents, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, artifacts_small, .job_ids = job_ids, .small = SMALL_CONTENT,
		    .total = SMALL_CONTENTS) < 0)
		return -1;
	*ret_contents = json_object();
	for (int i = 0; i < rows.count; i++)
		small_add(store, row_of(artifacts_small, &rows, i), *ret_contents);
	return 0;
}
