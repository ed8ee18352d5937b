/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/policies/policy_sets.h"

#include "scheduler/store/names.h"
#include "scheduler/store/policies/policy_sets.sql.h"
#include "scheduler/store/vcs/repositories.h"

int policy_sets_list(struct store *store, const struct policy_set_list *list, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, policy_sets_list, .organization_id = list->organization_id,
		.search = list->search, .kind = list->kind, .versioned = list->versioned, .limit = list->limit,
		.offset = list->offset);
}

int policy_sets_read_all(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err)
{
	return db_ask(store->db, ret_rows, err, policy_sets_read_all, .ids = ids);
}

int policy_set_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, policy_set_read, .id = id) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "policy set not found");
}

/* ---- relations ---- */

static const struct {
	const char *what;
	const struct db_statement *attach, *detach;
} relations[SET_RELATIONS] = {
	[SET_POLICIES] = {"Policies", &policy_set_attach_policies_statement, &policy_set_detach_policies_statement},
	[SET_WORKSPACES] = {"Workspaces", &policy_set_attach_workspaces_statement,
		&policy_set_detach_workspaces_statement},
	[SET_WORKSPACE_EXCLUSIONS] = {"Workspace exclusions", &policy_set_attach_workspace_exclusions_statement,
		&policy_set_detach_workspace_exclusions_statement},
	[SET_PROJECTS] = {"Projects", &policy_set_attach_projects_statement, &policy_set_detach_projects_statement},
	[SET_PROJECT_EXCLUSIONS] = {"Project exclusions", &policy_set_attach_project_exclusions_statement,
		&policy_set_detach_project_exclusions_statement},
};

struct attaching {
	struct store *store;
	const char *id;
	struct policy_set_members members;
	const char *pointer;
};

static int attach_in(void *data, struct err *err)
{
	const struct attaching *a = data;
	const enum set_relation relation = a->members.relation;
	_cleanup_(db_array_release) struct db_array ids = DB_ARRAY_INIT;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	db_array_add_texts(&ids, a->members.ids);
	if (db_query_one_of(a->store->db, &rows, err, relations[relation].attach, policy_set_attach_policies,
		    .id = a->id, .ids = &ids) < 0)
		return -1;
	if (row_of(policy_set_attached, &rows, 0)->found == (long long)json_array_size(a->members.ids))
		return 0;
	if (relation == SET_POLICIES)
		return err_at(err, a->pointer,
			"Policies must exist and be of the policy set's kind, and the policy set must have no "
			"versions and no repository");
	return err_at(err, a->pointer, "%s must exist in the policy set's organization", relations[relation].what);
}

int policy_set_attach(
	struct store *store, const char *id, struct policy_set_members members, const char *pointer, struct err *err)
{
	struct attaching a = {store, id, members, pointer};

	return db_transaction(store->db, attach_in, &a, err);
}

int policy_set_detach(struct store *store, const char *id, struct policy_set_members members, struct err *err)
{
	_cleanup_(db_array_release) struct db_array array = DB_ARRAY_INIT;

	db_array_add_texts(&array, members.ids);
	return db_query_one_of(store->db, NULL, err, relations[members.relation].detach, policy_set_attach_policies,
		.id = id, .ids = &array);
}

/* ---- selectors of tags ---- */

enum { MAX_SELECTORS = 100 };

struct tagging {
	struct store *store;
	const char *id;
	const json_t *selectors;
	const char *pointer;
};

static int tags_in(void *data, struct err *err)
{
	const struct tagging *t = data;
	_cleanup_(freep) char *text = json_text(t->selectors);
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(t->store->db, &rows, err, policy_set_tags_add, .id = t->id, .selectors = text) < 0)
		return -1;
	if (row_of(policy_set_tags_add, &rows, 0)->selectors <= MAX_SELECTORS)
		return 0;
	return err_at(err, t->pointer, "Tag selectors are too many (maximum is %d)", MAX_SELECTORS);
}

int policy_set_tags_include(
	struct store *store, const char *id, const json_t *selectors, const char *pointer, struct err *err)
{
	struct tagging t = {store, id, selectors, pointer};

	return db_transaction(store->db, tags_in, &t, err);
}

int policy_set_tags_drop(struct store *store, const char *id, const json_t *selectors, struct err *err)
{
	_cleanup_(freep) char *text = json_text(selectors);

	return db_query(store->db, NULL, err, policy_set_tags_remove, .id = id, .selectors = text);
}

static int tags_replace(struct store *store, const char *id, const json_t *selectors, struct err *err)
{
	if (!selectors)
		return 0;
	if (db_query(store->db, NULL, err, policy_set_tags_clear, .id = id) < 0)
		return -1;
	return policy_set_tags_include(store, id, selectors, "/data/attributes/tag-selectors", err);
}

/* ---- creating and changing ---- */

struct creation {
	struct store *store;
	const char *organization_id;
	const struct policy_set *set;
	struct id id;
};

static int create_row(struct creation *c, struct err *err)
{
	const struct policy_set *set = c->set;
	_cleanup_(freep) char *settings = json_text(set->settings);

	c->id = id_new("polset");
	return db_query(c->store->db, NULL, err, policy_set_create, .id = c->id.text,
		.organization_id = c->organization_id, .name = set->name, .description = set->description,
		.kind = set->kind, .global = set->global, .overridable = set->overridable,
		.agent_enabled = set->agent_enabled, .tool_version = set->tool_version,
		.policies_path = set->policies_path, .settings = settings);
}

static int create_in(void *data, struct err *err)
{
	static const char *const pointers[SET_RELATIONS] = {"/data/relationships/policies",
		"/data/relationships/workspaces", "/data/relationships/workspace-exclusions",
		"/data/relationships/projects", "/data/relationships/project-exclusions"};
	struct creation *c = data;

	if (create_row(c, err) < 0)
		return -1;
	for (enum set_relation r = 0; r < SET_RELATIONS; r++) {
		const struct policy_set_members members = {r, c->set->related[r]};

		if (json_array_size(members.ids) &&
			policy_set_attach(c->store, c->id.text, members, pointers[r], err) < 0)
			return -1;
	}
	return tags_replace(c->store, c->id.text, c->set->tags, err);
}

int policy_set_create(struct store *store, const char *organization_id, const struct policy_set *set, struct id *ret_id,
	struct err *err)
{
	struct creation c = {.store = store, .organization_id = organization_id, .set = set};

	if (db_transaction(store->db, create_in, &c, err) < 0)
		return name_taken(store, "policy_sets_name", err);
	*ret_id = c.id;
	return 0;
}

struct change {
	struct store *store;
	const char *id;
	const struct policy_set *set;
};

static int update_in(void *data, struct err *err)
{
	const struct change *c = data;
	const struct policy_set *set = c->set;
	_cleanup_(freep) char *settings = json_text(set->settings);

	if (db_query(c->store->db, NULL, err, policy_set_update, .id = c->id, .name = set->name,
		    .description = set->description, .global = set->global, .overridable = set->overridable,
		    .agent_enabled = set->agent_enabled, .tool_version = set->tool_version,
		    .policies_path = set->policies_path, .settings = settings) < 0)
		return -1;
	return tags_replace(c->store, c->id, set->tags, err);
}

int policy_set_update(struct store *store, const char *id, const struct policy_set *set, struct err *err)
{
	struct change c = {store, id, set};

	if (db_transaction(store->db, update_in, &c, err) < 0)
		return name_taken(store, "policy_sets_name", err);
	return 0;
}

int policy_set_delete(struct store *store, const char *id, struct err *err)
{
	return db_query(store->db, NULL, err, policy_set_delete, .id = id);
}
