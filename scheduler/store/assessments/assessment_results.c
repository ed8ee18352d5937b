/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/assessments/assessment_results.h"

#include "scheduler/store/assessments/assessment_results.sql.h"

int assessment_results_list(
	struct store *store, const char *workspace_id, struct list_range range, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, assessment_results_list, .workspace_id = workspace_id,
		.limit = range.limit, .offset = range.offset);
}

int assessment_result_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, assessment_result_read, .id = id) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "assessment result not found");
}

int assessment_results_ask(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err)
{
	return db_ask(store->db, ret_rows, err, assessment_results_of, .ids = ids);
}

int workspace_health(struct store *store, const char *workspace_id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, workspace_health, .workspace_id = workspace_id,
		    .hours = store->settings->assessment_hours) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "workspace not found");
}
