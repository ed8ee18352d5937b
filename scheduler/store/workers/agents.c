/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/workers/agents.h"

#include "scheduler/store/workers/agents.sql.h"
#include "scheduler/store/workers/draining.h"

int agents_list(struct store *store, const struct agent_list *list, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, agents_list, .pool_id = list->pool_id, .seen_since = list->seen_since,
		.sort = list->sort, .limit = list->limit, .offset = list->offset,
		.organization_id = list->organization_id);
}

int agent_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, agent_read, .id = id) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "agent not found");
}

int agent_delete(struct store *store, const char *id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, agent_delete, .id = id) < 0)
		return -1;
	if (db_affected(&rows))
		return 0;
	return err_set(err, ERR_PRECONDITION, "an agent can be deleted when it is unknown, errored or exited");
}
