/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/runs/site_runs.h"

#define COLUMNS                                                                                                        \
	"select r.id, r.workspace_id, o.name as organization_name, r.status, r.status_timestamps, r.has_changes, "     \
	"r.created_at from runs r join organizations o on o.id = r.organization_id "                                   \
	"join workspaces w on w.id = r.workspace_id "

int site_runs_list(struct store *store, const struct site_runs *list, struct rows *ret_rows, struct err *err)
{
	if (list->run_id)
		return db_query(store->db, ret_rows, err, COLUMNS "where r.id = $1 limit $2 offset $3",
			P_TEXT(list->run_id), P_INT(list->limit), P_INT(list->offset));
	return db_query(store->db, ret_rows, err,
		COLUMNS "where ($1::text is null or r.status = any(string_to_array($1, ','))) "
			"and ($2::text is null or strpos(lower(w.name), lower($2)) > 0 or strpos(lower(o.name), "
			"lower($2)) > 0) "
			"and ($3::timestamptz is null or r.created_at >= $3) "
			"and ($4::timestamptz is null or r.created_at <= $4) "
			"order by r.position desc limit $5 offset $6",
		P_TEXT(list->statuses), P_TEXT(list->search), P_TEXT(list->from), P_TEXT(list->to), P_INT(list->limit),
		P_INT(list->offset));
}
