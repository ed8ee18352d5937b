/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/runs/run_triggers.h"

#include "scheduler/store/runs/run_triggers.sql.h"

enum { MAX_SOURCES = 20 };

int run_triggers_list(struct store *store, const struct run_trigger_list *list, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, run_triggers_list, .workspace_id = list->workspace_id,
		.outbound = list->outbound, .limit = list->limit, .offset = list->offset);
}

int run_trigger_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, run_trigger_read, .id = id) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "run trigger not found");
}

/* ---- creating ---- */

struct creation {
	struct store *store;
	const char *workspace_id, *source_id;
	struct id id;
};

static int create_in(void *data, struct err *err)
{
	static const char pointer[] = "/data/relationships/sourceable";
	const struct creation *c = data;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	/* The lock serializes creations, so that the count is correct. */
	if (db_query(c->store->db, NULL, err, run_trigger_lock, .workspace_id = c->workspace_id) < 0 ||
		db_query(c->store->db, &rows, err, run_trigger_create, .id = c->id.text,
			.workspace_id = c->workspace_id, .source_id = c->source_id, .max_sources = MAX_SOURCES) < 0) {
		if (err->kind == ERR_CONFLICT && text_equal(db_constraint(c->store->db), "run_triggers_pair"))
			return err_at(err, pointer, "Sourceable is a source of the workspace already");
		return -1;
	}
	if (db_affected(&rows))
		return 0;
	return err_at(err, pointer, "A workspace can't have more than %d source workspaces", MAX_SOURCES);
}

int run_trigger_create(
	struct store *store, const char *workspace_id, const char *source_id, struct id *ret_id, struct err *err)
{
	struct creation creation = {store, workspace_id, source_id, id_new("rt")};

	if (db_transaction(store->db, create_in, &creation, err) < 0)
		return -1;
	*ret_id = creation.id;
	return 0;
}

int run_trigger_delete(struct store *store, const char *id, struct err *err)
{
	return db_query(store->db, NULL, err, run_trigger_delete, .id = id);
}

/* ---- pending triggers ---- */

int pending_triggers_insert(struct store *store, struct db_array *run_ids, struct err *err)
{
	return db_queue(store->db, err, pending_triggers_insert, .run_ids = run_ids);
}

int pending_triggers_due(struct store *store, long long limit, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, pending_triggers_due, .limit = limit);
}

int pending_trigger_lock(
	struct store *store, const struct pending_trigger *trigger, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, pending_trigger_lock, .run_id = trigger->run_id,
		.workspace_id = trigger->workspace_id);
}

int pending_trigger_delete(struct store *store, const struct pending_trigger *trigger, struct err *err)
{
	return db_query(store->db, NULL, err, pending_trigger_delete, .run_id = trigger->run_id,
		.workspace_id = trigger->workspace_id);
}

int pending_trigger_postpone(struct store *store, const struct pending_trigger *trigger, const char *error,
	struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, pending_trigger_postpone, .run_id = trigger->run_id,
		.workspace_id = trigger->workspace_id, .error = error);
}
