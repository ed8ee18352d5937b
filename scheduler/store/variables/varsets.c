/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/variables/varsets.h"

#include <stdio.h>
#include <string.h>

#include "scheduler/store/access/response_scope.h"
#include "scheduler/store/names.h"
#include "scheduler/store/variables/varset_globals.h"
#include "scheduler/store/variables/varsets.sql.h"

/* ---- reading ---- */

_Static_assert(1 << BIT_CAN_READ_VARSETS == 67108864, "the fragment holds the bit as a number");

int varsets_list(struct store *store, const struct varset_list *list, struct rows *ret_rows, struct err *err)
{
	/* Permission to list the sets of one workspace or project covers all sets that apply there. */
	bool all = list->workspace_id || list->project_id ||
		response_scope_all(store->scope, list->organization_id, CAN_READ_VARSETS);

	return db_query(store->db, ret_rows, err, varsets_list, .organization_id = list->organization_id,
		.search = list->search, .global = list->global, .project_id = list->project_id,
		.workspace_id = list->workspace_id, .limit = list->limit, .offset = list->offset, .all = all,
		.user = response_scope_user(store->scope));
}

int varset_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, varset_read, .id = id) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "variable set not found");
}

/* ---- scope ---- */

static const struct {
	const char *what, *pointer;
	const struct db_statement *attach, *detach, *narrow;
} relations[VARSET_RELATIONS] = {
	[VARSET_WORKSPACES] = {"Workspaces", "/data/relationships/workspaces", &varset_attach_workspaces_statement,
		&varset_detach_workspaces_statement, &varset_narrow_workspaces_statement},
	[VARSET_PROJECTS] = {"Projects", "/data/relationships/projects", &varset_attach_projects_statement,
		&varset_detach_projects_statement, &varset_narrow_projects_statement},
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
	if (db_query_one_of(a->store->db, &rows, err, relations[relation].attach, varset_attach_workspaces, .id = a->id,
		    .ids = &ids) < 0)
		return -1;
	if (row_of(varset_attached, &rows, 0)->found == (long long)json_array_size(a->members.ids))
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
static int members_delete(
	struct store *store, const struct db_statement *statement, const char *id, const json_t *ids, struct err *err)
{
	_cleanup_(db_array_release) struct db_array array = DB_ARRAY_INIT;

	db_array_add_texts(&array, ids);
	return db_query_one_of(store->db, NULL, err, statement, varset_attach_workspaces, .id = id, .ids = &array);
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

	if (db_query(c->store->db, NULL, err, varset_insert, .id = c->id.text, .organization_id = c->organization_id,
		    .project_id = c->set->project_id, .name = c->set->name, .description = c->set->description,
		    .global = c->set->global, .priority = c->set->priority) < 0)
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

	if (db_query(c->store->db, NULL, err, varset_update, .id = c->id.text, .name = c->set->name,
		    .description = c->set->description, .global = c->set->global, .priority = c->set->priority) < 0)
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
	return db_query(store->db, NULL, err, varset_delete, .id = id);
}
