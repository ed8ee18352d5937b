/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/workspaces/remote_state.h"

#include "scheduler/store/access/response_scope.h"
#include "scheduler/store/workspaces/remote_state.sql.h"

int state_shared(struct store *store, const char *consumer, const char *producer, bool *ret_shared, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, state_shared, .consumer = consumer, .producer = producer) < 0)
		return -1;
	*ret_shared = rows.count > 0;
	return 0;
}

int consumers_list(
	struct store *store, const char *workspace_id, struct list_range range, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, consumers_list, .workspace_id = workspace_id, .limit = range.limit,
		.offset = range.offset, .user = response_scope_user(store->scope));
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
	if (db_query(s->store->db, &rows, err, consumers_add, .workspace_id = s->workspace_id, .consumer_ids = &ids) <
		0)
		return -1;
	if (row_of(consumers_add, &rows, 0)->found == (long long)json_array_size(s->ids))
		return 0;
	return err_at(err, "/data", "Workspaces must be other ones of the workspace's organization");
}

static int replace_in(void *data, struct err *err)
{
	const struct sharing *s = data;

	if (db_query(s->store->db, NULL, err, consumers_clear, .workspace_id = s->workspace_id) < 0)
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
	return db_query(store->db, NULL, err, consumers_remove, .workspace_id = workspace_id, .consumer_ids = &array);
}
