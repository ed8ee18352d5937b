/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/variables/varsets.h"

#include <stdio.h>
#include <string.h>

#include "scheduler/store/access/response_scope.h"
#include "scheduler/store/names.h"
#include "scheduler/store/variables/varset_globals.h"

#define RELATED(column, table, order)                                                                                  \
	"(select coalesce(jsonb_agg(m." column " order by " order "), '[]') from " table " m "                         \
	"where m.varset_id = s.id) as "

#define COLUMNS                                                                                                        \
	"s.*, o.name as organization_name, " RELATED("workspace_id", "varset_workspaces",                              \
		"m.workspace_id") "workspaces, " RELATED("project_id", "varset_projects",                              \
		"m.project_id") "projects, " RELATED("id", "variables", "m.key, m.category") "vars "

#define TABLES "from varsets s join organizations o on o.id = s.organization_id "

/* ---- reading ---- */

/* A project's own sets are visible with the permission to read variable sets in that project. */
#define RUN_IN_SCOPE                                                                                                   \
	"($7::boolean or s.project_id is null or s.project_id in (select tp.project_id from team_members m "           \
	"join team_projects tp on tp.team_id = m.team_id and tp.rights & 67108864 <> 0 where m.user_id = $8)) "

_Static_assert(1 << BIT_CAN_READ_VARSETS == 67108864, "the fragment holds the bit as a number");

int varsets_list(struct store *store, const struct varset_list *list, struct rows *ret_rows, struct err *err)
{
	/* Permission to list the sets of one workspace or project covers all sets that apply there. */
	bool all = list->workspace_id || list->project_id ||
		response_scope_all(store->scope, list->organization_id, CAN_READ_VARSETS);

	return db_query(store->db, ret_rows, err,
		"with found as (select s.id from varsets s where s.organization_id = $1 "
		"and ($2::text is null or strpos(lower(s.name), lower($2)) > 0) "
		"and ($3::text is null or s.global or exists (select 1 from varset_projects m "
		"where m.varset_id = s.id and m.project_id = $3) or s.project_id = $3) "
		"and ($4::text is null or s.global or exists (select 1 from workspaces w where w.id = $4 "
		"and (s.project_id is null or s.project_id = w.project_id) "
		"and (exists (select 1 from varset_workspaces m where m.varset_id = s.id and m.workspace_id = w.id) "
		"or exists (select 1 from varset_projects m where m.varset_id = s.id "
		"and m.project_id = w.project_id)))) "
		"and " RUN_IN_SCOPE ") select c.total, s.* from (select count(*) as total from found) c left join "
		"(select " COLUMNS TABLES "where s.id in (select id from found) "
		"order by lower(s.name), s.id limit $5 offset $6) s on true order by lower(s.name), s.id",
		P_TEXT(list->organization_id), P_TEXT(list->search), P_TEXT(list->project_id),
		P_TEXT(list->workspace_id), P_INT(list->limit), P_INT(list->offset), P_BOOL(all),
		P_TEXT(response_scope_user(store->scope)));
}

int varset_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, "select " COLUMNS TABLES "where s.id = $1", P_TEXT(id)) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "variable set not found");
}

/* ---- scope ---- */

/* Attaches the valid ids and returns their number. */
#define ATTACH(of, owned, into)                                                                                        \
	"with may as (select x.id from varsets s join " of " x on x.organization_id = s.organization_id "              \
	"where s.id = $1 and x.id = any($2::text[]) and (s.project_id is null or s.project_id = x." owned ")), "       \
	"done as (insert into " into " select $1, id from may on conflict do nothing) select count(*) as found from "  \
	"may"

static const struct {
	const char *what, *pointer, *attach, *detach, *narrow;
} relations[VARSET_RELATIONS] = {
	[VARSET_WORKSPACES] = {"Workspaces", "/data/relationships/workspaces",
		ATTACH("workspaces", "project_id", "varset_workspaces (varset_id, workspace_id)"),
		"delete from varset_workspaces where varset_id = $1 and workspace_id = any($2::text[])",
		"delete from varset_workspaces where varset_id = $1 and workspace_id <> all($2::text[])"},
	[VARSET_PROJECTS] = {"Projects", "/data/relationships/projects",
		ATTACH("projects", "id", "varset_projects (varset_id, project_id)"),
		"delete from varset_projects where varset_id = $1 and project_id = any($2::text[])",
		"delete from varset_projects where varset_id = $1 and project_id <> all($2::text[])"},
};

struct attaching {
	struct store *store;
	const char *id;
	struct varset_members members;
	const char *pointer;
};

static int attach_in(void *data, struct err *err)
{
	const struct attaching *a = data;
	const enum varset_relation relation = a->members.relation;
	_cleanup_(db_array_release) struct db_array ids = DB_ARRAY_INIT;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	db_array_add_texts(&ids, a->members.ids);
	if (db_query(a->store->db, &rows, err, relations[relation].attach, P_TEXT(a->id), P_ARRAY(&ids)) < 0)
		return -1;
	if (row_int(&rows, 0, "found") == (long long)json_array_size(a->members.ids))
		return 0;
	return err_at(err, a->pointer,
		"%s must exist in the variable set's organization or in the project that owns it",
		relations[relation].what);
}

int varset_attach(
	struct store *store, const char *id, struct varset_members members, const char *pointer, struct err *err)
{
	struct attaching a = {store, id, members, pointer};

	return db_transaction(store->db, attach_in, &a, err);
}

/* Runs a statement that deletes members: `detach` or `narrow`. */
static int members_delete(struct store *store, const char *sql, const char *id, const json_t *ids, struct err *err)
{
	_cleanup_(db_array_release) struct db_array array = DB_ARRAY_INIT;

	db_array_add_texts(&array, ids);
	return db_query(store->db, NULL, err, sql, P_TEXT(id), P_ARRAY(&array));
}

int varset_detach(struct store *store, const char *id, struct varset_members members, struct err *err)
{
	return members_delete(store, relations[members.relation].detach, id, members.ids, err);
}

/* A global set applies everywhere, so it has no relations. */
static int relations_set(struct store *store, const char *id, const struct varset *set, struct err *err)
{
	json_auto_t *none = json_array();

	for (enum varset_relation r = 0; r < VARSET_RELATIONS; r++) {
		const struct varset_members members = {r, set->global ? none : set->related[r]};

		if (!members.ids)
			continue;
		if (members_delete(store, relations[r].narrow, id, members.ids, err) < 0 ||
			varset_attach(store, id, members, relations[r].pointer, err) < 0)
			return -1;
	}
	return 0;
}

/* ---- variables ---- */

int varset_variable_refused(struct err *err, size_t index)
{
	static const char data[] = "/data";
	char rest[sizeof(err->pointer)];

	text_copy(rest, sizeof(rest), text_starts(err->pointer, data) ? err->pointer + strlen(data) : "");
	snprintf(err->pointer, sizeof(err->pointer), "/data/relationships/vars/data/%zu%.60s", index, rest);
	return -1;
}

static int variables_add(struct store *store, const char *id, const struct varset *set, struct err *err)
{
	struct variable_owner owner = {id, true};
	struct id ignored;

	for (size_t i = 0; i < set->variable_count; i++)
		if (variable_create(store, &owner, &set->variables[i], &ignored, err) < 0)
			return err->kind == ERR_INVALID ? varset_variable_refused(err, i) : -1;
	return 0;
}

/* ---- creating and changing ---- */

struct change {
	struct store *store;
	const char *organization_id;
	const struct varset *set;
	struct id id;
};

static int change_rest(const struct change *c, struct err *err)
{
	if (relations_set(c->store, c->id.text, c->set, err) < 0 ||
		variables_add(c->store, c->id.text, c->set, err) < 0)
		return -1;
	if (varset_touch(c->store, c->id.text, err) == 0)
		return 0;
	/* The conflict is due to `global`, not to a variable's key. */
	if (err->kind == ERR_INVALID)
		text_copy(err->pointer, sizeof(err->pointer), "/data/attributes/global");
	return -1;
}

static int create_in(void *data, struct err *err)
{
	struct change *c = data;

	if (db_query(c->store->db, NULL, err,
		    "insert into varsets (id, organization_id, project_id, name, description, global, priority) "
		    "values ($1, $2, $3, $4, $5, $6, $7)",
		    P_TEXT(c->id.text), P_TEXT(c->organization_id), P_TEXT(c->set->project_id), P_TEXT(c->set->name),
		    P_TEXT(c->set->description), P_BOOL(c->set->global), P_BOOL(c->set->priority)) < 0)
		return name_taken(c->store, "varsets_name", err);
	return change_rest(c, err);
}

int varset_create(
	struct store *store, const char *organization_id, const struct varset *set, struct id *ret_id, struct err *err)
{
	struct change change = {store, organization_id, set, id_new("varset")};

	if (db_transaction(store->db, create_in, &change, err) < 0)
		return -1;
	*ret_id = change.id;
	return 0;
}

static int update_in(void *data, struct err *err)
{
	struct change *c = data;

	if (db_query(c->store->db, NULL, err,
		    "update varsets set name = $2, description = $3, global = $4, priority = $5 where id = $1",
		    P_TEXT(c->id.text), P_TEXT(c->set->name), P_TEXT(c->set->description), P_BOOL(c->set->global),
		    P_BOOL(c->set->priority)) < 0)
		return name_taken(c->store, "varsets_name", err);
	return change_rest(c, err);
}

int varset_update(struct store *store, const char *id, const struct varset *set, struct err *err)
{
	struct change change = {.store = store, .set = set};

	text_copy(change.id.text, sizeof(change.id.text), id);
	return db_transaction(store->db, update_in, &change, err);
}

int varset_delete(struct store *store, const char *id, struct err *err)
{
	return db_query(store->db, NULL, err, "delete from varsets where id = $1", P_TEXT(id));
}
