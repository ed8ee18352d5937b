/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/runs/run_triggers.h"

enum { MAX_SOURCES = 20 };

#define COLUMNS "t.*, w.name as workspace_name, s.name as source_name, w.organization_id "

#define TABLES "from run_triggers t join workspaces w on w.id = t.workspace_id join workspaces s on s.id = t.source_id "

int run_triggers_list(struct store *store, const struct run_trigger_list *list, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"with found as (select id from run_triggers where case when $2 then source_id = $1 "
		"else workspace_id = $1 end) "
		"select c.total, t.* from (select count(*) as total from found) c left join "
		"(select " COLUMNS TABLES "where t.id in (select id from found) "
		"order by t.created_at, t.id limit $3 offset $4) t on true order by t.created_at, t.id",
		P_TEXT(list->workspace_id), P_BOOL(list->outbound), P_INT(list->limit), P_INT(list->offset));
}

int run_trigger_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, "select " COLUMNS TABLES "where t.id = $1", P_TEXT(id)) < 0)
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
	if (db_query(c->store->db, NULL, err, "select 1 from workspaces where id = $1 for no key update",
		    P_TEXT(c->workspace_id)) < 0 ||
		db_query(c->store->db, &rows, err,
			"insert into run_triggers (id, workspace_id, source_id) select $1, $2, $3 "
			"where (select count(*) from run_triggers where workspace_id = $2) < $4::bigint",
			P_TEXT(c->id.text), P_TEXT(c->workspace_id), P_TEXT(c->source_id), P_INT(MAX_SOURCES)) < 0) {
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
	return db_query(store->db, NULL, err, "delete from run_triggers where id = $1", P_TEXT(id));
}

/* ---- pending triggers ---- */

int pending_triggers_insert(struct store *store, struct db_array *run_ids, struct err *err)
{
	return db_queue(store->db, err,
		"insert into pending_run_triggers (run_id, workspace_id) select r.id, t.workspace_id from runs r "
		"join run_triggers t on t.source_id = r.workspace_id where r.id = any($1::text[]) "
		"on conflict do nothing",
		P_ARRAY(run_ids));
}

int pending_triggers_due(struct store *store, long long limit, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"select run_id, workspace_id from pending_run_triggers where next_at <= now() order by next_at limit "
		"$1",
		P_INT(limit));
}

int pending_trigger_lock(
	struct store *store, const struct pending_trigger *trigger, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"select s.name as source_name, w.name as workspace_name, "
		"coalesce((w.settings->>'auto-apply-run-trigger')::boolean, false) as auto_apply "
		"from pending_run_triggers p join runs r on r.id = p.run_id join workspaces s on s.id = r.workspace_id "
		"left join workspaces w on w.id = p.workspace_id "
		"where p.run_id = $1 and p.workspace_id = $2 and p.next_at <= now() for update of p skip locked",
		P_TEXT(trigger->run_id), P_TEXT(trigger->workspace_id));
}

int pending_trigger_delete(struct store *store, const struct pending_trigger *trigger, struct err *err)
{
	return db_query(store->db, NULL, err,
		"delete from pending_run_triggers where run_id = $1 and workspace_id = $2", P_TEXT(trigger->run_id),
		P_TEXT(trigger->workspace_id));
}

int pending_trigger_postpone(struct store *store, const struct pending_trigger *trigger, const char *error,
	struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"update pending_run_triggers p set tries = tries + 1, error = $3, "
		"next_at = now() + least(interval '2 seconds' * power(2, least(tries, 20)), interval '5 minutes') "
		"where run_id = $1 and workspace_id = $2 returning tries, "
		"(select name from workspaces where id = p.workspace_id) as workspace_name",
		P_TEXT(trigger->run_id), P_TEXT(trigger->workspace_id), P_TEXT(error));
}
