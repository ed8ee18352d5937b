/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/run_triggers.h"

enum { MOST_SOURCES = 20 };

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

	/* One after another, so that the count holds. */
	if (db_query(c->store->db, NULL, err, "select 1 from workspaces where id = $1 for no key update",
		    P_TEXT(c->workspace_id)) < 0 ||
		db_query(c->store->db, &rows, err,
			"insert into run_triggers (id, workspace_id, source_id) select $1, $2, $3 "
			"where (select count(*) from run_triggers where workspace_id = $2) < $4::bigint",
			P_TEXT(c->id.text), P_TEXT(c->workspace_id), P_TEXT(c->source_id), P_INT(MOST_SOURCES)) < 0) {
		if (err->kind == ERR_CONFLICT && text_equal(db_constraint(c->store->db), "run_triggers_pair"))
			return err_at(err, pointer, "Sourceable is a source of the workspace already");
		return -1;
	}
	if (db_affected(&rows))
		return 0;
	return err_at(err, pointer, "A workspace can't have more than %d source workspaces", MOST_SOURCES);
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

/* ---- what comes of them ---- */

int run_triggers_of(struct store *store, struct db_array *run_ids, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"select r.id as run_id, s.name as source_name, w.id as workspace_id, w.name as workspace_name, "
		"coalesce((w.settings->>'auto-apply-run-trigger')::boolean, false) as auto_apply "
		"from runs r join run_triggers t on t.source_id = r.workspace_id "
		"join workspaces s on s.id = t.source_id join workspaces w on w.id = t.workspace_id "
		"where r.id = any($1::text[]) order by w.id, r.position",
		P_ARRAY(run_ids));
}
