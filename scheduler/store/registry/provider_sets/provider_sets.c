/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/registry/provider_sets/provider_sets.h"

#include "scheduler/store/names.h"
#include "scheduler/store/registry/provider_sets/provider_sets.sql.h"

/* ---- reading ---- */

int provider_sets_list(
	struct store *store, const struct provider_set_list *list, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, provider_sets_list, .organization_id = list->organization_id,
		.search = list->search, .project_id = list->project_id, .workspace_id = list->workspace_id,
		.limit = list->limit, .offset = list->offset);
}

static int one_read(
	struct store *store, const struct provider_set_read_params *of, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, provider_set_read, .id = of->id, .organization_id = of->organization_id,
		    .name = of->name) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "provider set not found");
}

int provider_set_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	return one_read(store, &(struct provider_set_read_params){.id = id}, ret_rows, err);
}

int provider_set_find(
	struct store *store, const char *organization_id, const char *name, struct rows *ret_rows, struct err *err)
{
	return one_read(store, &(struct provider_set_read_params){.organization_id = organization_id, .name = name},
		ret_rows, err);
}

/* ---- where sets apply ---- */

static const struct {
	const char *what, *pointer;
	const struct db_statement *attach, *detach, *narrow;
} relations[PROVIDER_SET_RELATIONS] = {
	[PROVIDER_SET_WORKSPACES] = {"Workspaces", "/data/relationships/workspaces",
		&provider_set_attach_workspaces_statement, &provider_set_detach_workspaces_statement,
		&provider_set_narrow_workspaces_statement},
	[PROVIDER_SET_PROJECTS] = {"Projects", "/data/relationships/projects", &provider_set_attach_projects_statement,
		&provider_set_detach_projects_statement, &provider_set_narrow_projects_statement},
};

static int members_add(
	struct store *store, const char *id, struct provider_set_members members, const char *pointer, struct err *err)
{
	_cleanup_(db_array_release) struct db_array ids = DB_ARRAY_INIT;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	db_array_add_texts(&ids, members.ids);
	if (db_query_one_of(store->db, &rows, err, relations[members.relation].attach, provider_set_attach_workspaces,
		    .id = id, .ids = &ids) < 0)
		return -1;
	if (row_of(provider_set_attached, &rows, 0)->found == (long long)json_array_size(members.ids))
		return 0;
	/* go-tfe's tests look for the first two words. */
	return err_at(err, pointer, "Invalid %s: they must exist in the provider set's organization",
		relations[members.relation].what);
}

/* Runs a statement that deletes members: `detach` or `narrow`. */
static int members_delete(
	struct store *store, const struct db_statement *statement, const char *id, const json_t *ids, struct err *err)
{
	_cleanup_(db_array_release) struct db_array array = DB_ARRAY_INIT;

	db_array_add_texts(&array, ids);
	return db_query_one_of(
		store->db, NULL, err, statement, provider_set_attach_workspaces, .id = id, .ids = &array);
}

int provider_set_attach(
	struct store *store, const char *id, struct provider_set_members members, const char *pointer, struct err *err)
{
	return members_add(store, id, members, pointer, err) < 0
		? -1
		: db_query(store->db, NULL, err, provider_set_touch, .id = id);
}

int provider_set_detach(struct store *store, const char *id, struct provider_set_members members, struct err *err)
{
	return members_delete(store, relations[members.relation].detach, id, members.ids, err);
}

static int members_set(struct store *store, const char *id, const struct provider_set *set, struct err *err)
{
	json_auto_t *none = json_array();

	for (enum provider_set_relation r = 0; r < PROVIDER_SET_RELATIONS; r++) {
		const struct provider_set_members members = {r, set->global ? none : set->related[r]};

		if (!members.ids)
			continue;
		if (members_delete(store, relations[r].narrow, id, members.ids, err) < 0 ||
			members_add(store, id, members, relations[r].pointer, err) < 0)
			return -1;
	}
	return 0;
}

/* ---- creating and changing ---- */

int provider_set_create(struct store *store, const char *organization_id, const struct provider_set *set,
	struct id *ret_id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct id id = id_new("provset");

	if (db_query(store->db, &rows, err, provider_set_insert, .id = id.text, .organization_id = organization_id,
		    .name = set->name, .description = set->description, .provider_source = set->source,
		    .configuration_hcl = set->configuration, .global = set->global, .priority = set->priority,
		    .max = MAX_PROVIDER_SETS) < 0)
		return name_taken(store, "provider_sets_name", err);
	if (!rows.count)
		return err_set(err, ERR_INVALID, "the organization has %d provider sets, and can have no more",
			MAX_PROVIDER_SETS);
	*ret_id = id;
	return members_set(store, id.text, set, err);
}

int provider_set_update(struct store *store, const char *id, const struct provider_set *set, struct err *err)
{
	if (db_query(store->db, NULL, err, provider_set_update, .id = id, .name = set->name,
		    .description = set->description, .provider_source = set->source,
		    .configuration_hcl = set->configuration, .global = set->global, .priority = set->priority) < 0)
		return name_taken(store, "provider_sets_name", err);
	return members_set(store, id, set, err);
}

int provider_sets_delete(struct store *store, const char *organization_id, const json_t *ids, struct err *err)
{
	_cleanup_(db_array_release) struct db_array array = DB_ARRAY_INIT;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	db_array_add_texts(&array, ids);
	if (db_query(store->db, &rows, err, provider_sets_delete, .organization_id = organization_id, .ids = &array) <
		0)
		return -1;
	return (size_t)rows.count == json_array_size(ids)
		? 0
		: err_at(err, "/data", "Each item must be a provider set of the organization");
}
