/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/workspaces/remote_state.h"

#include "scheduler/store/access/response_scope.h"

/* Whether the state of workspace p is shared with workspace c. */
#define SHARED                                                                                                         \
	"(coalesce((p.settings->>'global-remote-state')::boolean, false) "                                             \
	"or case when coalesce((p.settings->>'project-remote-state')::boolean, false) then c.project_id = "            \
	"p.project_id else exists (select 1 from remote_state_consumers s where s.workspace_id = p.id "                \
	"and s.consumer_id = c.id) end) "

int state_shared(struct store *store, const char *consumer, const char *producer, bool *ret_shared, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err,
		    "select 1 from workspaces c join workspaces p on p.organization_id = c.organization_id "
		    "where c.id = $1 and p.id = $2 and (c.id = p.id or " SHARED ")",
		    P_TEXT(consumer), P_TEXT(producer)) < 0)
		return -1;
	*ret_shared = rows.count > 0;
	return 0;
}

int consumers_list(
	struct store *store, const char *workspace_id, struct list_range range, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"with found as (select c.id, lower(c.name) as name from workspaces p join workspaces c "
		"on c.organization_id = p.organization_id and c.id <> p.id where p.id = $1 and " SHARED
		"and " SCOPE_HAS("$4", RIGHTS_IN_WORKSPACE("$4", "c.organization_id", "c.id"),
			"1") ") "
			     "select t.total, f.id from (select count(*) as total from found) t "
			     "left join (select * from found order by name limit $2 offset $3) f on true order by "
			     "f.name",
		P_TEXT(workspace_id), P_INT(range.limit), P_INT(range.offset),
		P_TEXT(response_scope_user(store->scope)));
}

/* ---- changing ---- */

struct sharing {
	struct store *store;
	const char *workspace_id;
	const json_t *ids;
};

static int add_in(void *data, struct err *err)
{
	const struct sharing *s = data;
	_cleanup_(db_array_release) struct db_array ids = DB_ARRAY_INIT;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	db_array_add_texts(&ids, s->ids);
	if (db_query(s->store->db, &rows, err,
		    "with may as (select c.id from workspaces p join workspaces c on c.organization_id = "
		    "p.organization_id and c.id <> p.id where p.id = $1 and c.id = any($2::text[])), "
		    "done as (insert into remote_state_consumers (workspace_id, consumer_id) select $1, id from may "
		    "on conflict do nothing) select count(*) as found from may",
		    P_TEXT(s->workspace_id), P_ARRAY(&ids)) < 0)
		return -1;
	if (row_int(&rows, 0, "found") == (long long)json_array_size(s->ids))
		return 0;
	return err_at(err, "/data", "Workspaces must be other ones of the workspace's organization");
}

static int replace_in(void *data, struct err *err)
{
	const struct sharing *s = data;

	if (db_query(s->store->db, NULL, err, "delete from remote_state_consumers where workspace_id = $1",
		    P_TEXT(s->workspace_id)) < 0)
		return -1;
	return add_in(data, err);
}

int consumers_add(struct store *store, const char *workspace_id, const json_t *ids, struct err *err)
{
	struct sharing s = {store, workspace_id, ids};

	return db_transaction(store->db, add_in, &s, err);
}

int consumers_replace(struct store *store, const char *workspace_id, const json_t *ids, struct err *err)
{
	struct sharing s = {store, workspace_id, ids};

	return db_transaction(store->db, replace_in, &s, err);
}

int consumers_remove(struct store *store, const char *workspace_id, const json_t *ids, struct err *err)
{
	_cleanup_(db_array_release) struct db_array array = DB_ARRAY_INIT;

	db_array_add_texts(&array, ids);
	return db_query(store->db, NULL, err,
		"delete from remote_state_consumers where workspace_id = $1 and consumer_id = any($2::text[])",
		P_TEXT(workspace_id), P_ARRAY(&array));
}
