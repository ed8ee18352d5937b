/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/runs/plan_exports.h"

int plan_export_create(struct store *store, const struct new_plan_export *export, struct id *ret_id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct id id = id_new("pe");

	if (db_query(store->db, &rows, err,
		    "insert into plan_exports (id, run_id, data_type, created_by, expires_at) "
		    "select $1, run_id, $3, $4, now() + interval '1 hour' from operations "
		    "where id = $2 and exists (select 1 from operation_blobs where operation_id = $2 and kind = "
		    "'json')",
		    P_TEXT(id.text), P_TEXT(export->plan_id), P_TEXT(export->data_type), P_TEXT(export->user_id)) < 0)
		return -1;
	if (!db_affected(&rows))
		return err_at(err, "/data/relationships/plan", "Plan must have finished");
	*ret_id = id;
	return 0;
}

int plan_export_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err,
		    "select e.*, o.id as plan_id, b.blob_id as json_blob, s.blob_id as schemas_blob, e.expires_at <= "
		    "now() as expired, "
		    "r.organization_id, "
		    "r.workspace_id from plan_exports e join runs r on r.id = e.run_id "
		    "join operations o on o.id = 'plan' || substr(r.id, 4) left join operation_blobs b "
		    "on b.operation_id = o.id and b.kind = 'json' left join operation_blobs s "
		    "on s.operation_id = o.id and s.kind = 'schemas' where e.id = $1",
		    P_TEXT(id)) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "plan export not found");
}

int plan_export_delete(struct store *store, const char *id, struct err *err)
{
	return db_query(store->db, NULL, err, "delete from plan_exports where id = $1", P_TEXT(id));
}
