/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/vcs/event_list.h"

#include "scheduler/store/access/response_scope.h"
#include "scheduler/store/vcs/connections.h"
#include "scheduler/store/vcs/event_list.sql.h"

int vcs_events_list(struct store *store, const struct vcs_event_list *list, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, vcs_events_list, .organization_id = list->organization_id,
		.from = list->from, .to = list->to, .levels = list->levels, .connection_ids = list->connection_ids,
		.workspace = list->workspace, .limit = list->limit, .offset = list->offset);
}

int vcs_event_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, vcs_event_read, .id = id) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "VCS event not found");
}

int vcs_outcomes_read(struct store *store, const char *event_id, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, vcs_outcomes_read, .event_id = event_id,
		.user = response_scope_user(store->scope));
}
