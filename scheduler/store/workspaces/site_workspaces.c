/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/workspaces/site_workspaces.h"

#include "scheduler/store/workspaces/site_workspaces.sql.h"

int site_workspaces_list(
	struct store *store, const struct site_workspaces *list, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, site_workspaces_list, .id = list->id, .search = list->search,
		.statuses = list->statuses, .sort = list->sort, .limit = list->limit, .offset = list->offset);
}

int site_workspaces_count(struct store *store, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, site_workspaces_count);
}
