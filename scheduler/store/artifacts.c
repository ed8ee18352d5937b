/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/artifacts.h"

static const struct {
	const char *sql;
	bool shared;
} artifacts[] = {
	[ARTIFACT_PLAN] = {"update operations set plan_blob = $2 where id = $1", false},
	[ARTIFACT_PLAN_JSON] = {"update operations set json_blob = $2 where id = $1", false},
	[ARTIFACT_INIT] = {"update operations set init_blob = $2 where id = $1", true},
	[ARTIFACT_SCHEMAS] = {"update operations set schemas_blob = $2 where id = $1", true},
};

int artifact_put(struct store *store, enum artifact artifact, const char *plan_id, const void *bytes, size_t len,
	struct err *err)
{
	int (*put)(struct store *, const void *, size_t, struct id *, struct err *) =
		artifacts[artifact].shared ? blob_put_shared : blob_put;
	struct id blob;

	if (put(store, bytes, len, &blob, err) < 0)
		return -1;
	return db_query(store->db, NULL, err, artifacts[artifact].sql, P_TEXT(plan_id), P_TEXT(blob.text));
}

int artifact_link_schemas(struct store *store, const char *plan_id, const char *sha256_hex, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct id blob = blob_shared_id(store, sha256_hex);

	if (db_query(store->db, &rows, err,
		    "update operations set schemas_blob = b.id from blobs b where operations.id = $1 and b.id = $2",
		    P_TEXT(plan_id), P_TEXT(blob.text)) < 0)
		return -1;
	return db_affected(&rows) ? 0 : err_set(err, ERR_NOT_FOUND, "the content is not here");
}

int artifacts_of_run(struct store *store, const char *run_id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err,
		    "select c.blob_id as configuration_blob, s.blob_id as state_blob, o.plan_blob, o.json_blob, "
		    "o.init_blob, "
		    "o.schemas_blob from runs r join run_inputs i on i.run_id = r.id "
		    "join configuration_versions c on c.id = i.configuration_version_id "
		    "join workspaces w on w.id = r.workspace_id left join state_versions s on s.id = "
		    "w.current_state_id "
		    "join operations o on o.id = 'plan' || substr(r.id, 4) where r.id = $1",
		    P_TEXT(run_id)) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "run not found");
}
