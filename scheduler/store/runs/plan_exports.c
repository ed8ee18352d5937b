/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/runs/plan_exports.h"

#include "scheduler/store/runs/plan_exports.sql.h"

int plan_export_create(struct store *store, const struct new_plan_export *export, struct id *ret_id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct id id = id_new("pe");

	if (db_query(store->db, &rows, err, plan_export_create, .id = id.text, .plan_id = export->plan_id,
		    .data_type = export->data_type, .user_id = export->user_id) < 0)
		return -1;
	if (!db_affected(&rows))
		return err_at(err, "/data/relationships/plan", "Plan must have finished");
	*ret_id = id;
	return 0;
}

int plan_export_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, plan_export_read, .id = id) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "plan export not found");
}

int plan_export_delete(struct store *store, const char *id, struct err *err)
{
	return db_query(store->db, NULL, err, plan_export_delete, .id = id);
}
