/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/policies/policy_sets.h"

#include "scheduler/store/names.h"
#include "scheduler/store/vcs/repositories.h"

#define RELATED(table, column, condition)                                                                              \
	"(select coalesce(jsonb_agg(m." column " order by m." column "), '[]') from " table " m "                      \
	"where m.policy_set_id = s.id" condition ") as "

#define COLUMNS                                                                                                        \
	"s.*, o.name as organization_name, " RELATED("policy_set_policies", "policy_id", "") "policies, " RELATED(     \
		"policy_set_workspaces", "workspace_id",                                                               \
		" and not m.excluded") "workspaces, " RELATED("policy_set_workspaces", "workspace_id",                 \
		" and m.excluded") "workspace_exclusions, " RELATED("policy_set_projects", "project_id",               \
		" and not m.excluded") "projects, " RELATED("policy_set_projects", "project_id",                       \
		" and m.excluded") "project_exclusions, " VCS_USED_BY_POLICY_SET("s.id") "as repository "

#define TABLES "from policy_sets s join organizations o on o.id = s.organization_id "

int policy_sets_list(struct store *store, const struct policy_set_list *list, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"with found as (select id from policy_sets where organization_id = $1 "
		"and ($2::text is null or strpos(lower(name), lower($2)) > 0) and ($3::text is null or kind = $3)) "
		"select c.total, s.* from (select count(*) as total from found) c left join "
		"(select " COLUMNS TABLES "where s.id in (select id from found) "
		"order by lower(s.name) limit $4 offset $5) s on true order by lower(s.name)",
		P_TEXT(list->organization_id), P_TEXT(list->search), P_TEXT(list->kind), P_INT(list->limit),
		P_INT(list->offset));
}

int policy_set_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, "select " COLUMNS TABLES "where s.id = $1", P_TEXT(id)) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "policy set not found");
}

/* ---- relations ---- */

/* Attaches the valid ids and returns their number. */
#define ATTACH(of, condition, into)                                                                                    \
	"with may as (select x.id from policy_sets s join " of " x on x.organization_id = s.organization_id "          \
	"where s.id = $1 and x.id = any($2::text[])" condition "), done as (insert into " into                         \
	") select count(*) as found from may"

#define ATTACH_EXCLUDING(of, table, column, excluded)                                                                  \
	ATTACH(of, "",                                                                                                 \
		table " (policy_set_id, " column ", excluded) select $1, id, " excluded                                \
		      " from may on conflict (policy_set_id, " column ") do update set excluded = " excluded)

#define DETACH(table, column, condition)                                                                               \
	"delete from " table " where policy_set_id = $1 and " column " = any($2::text[])" condition

static const struct {
	const char *what, *attach, *detach;
} relations[SET_RELATIONS] = {
	[SET_POLICIES] = {"Policies",
		ATTACH("policies",
			" and x.kind = s.kind and s.newest_version_id is null and not exists (select 1 from "
			"policy_set_repositories u where u.policy_set_id = s.id)",
			"policy_set_policies (policy_set_id, policy_id) select $1, id from may on conflict do nothing"),
		DETACH("policy_set_policies", "policy_id", "")},
	[SET_WORKSPACES] = {"Workspaces",
		ATTACH_EXCLUDING("workspaces", "policy_set_workspaces", "workspace_id", "false"),
		DETACH("policy_set_workspaces", "workspace_id", " and not excluded")},
	[SET_WORKSPACE_EXCLUSIONS] = {"Workspace exclusions",
		ATTACH_EXCLUDING("workspaces", "policy_set_workspaces", "workspace_id", "true"),
		DETACH("policy_set_workspaces", "workspace_id", " and excluded")},
	[SET_PROJECTS] = {"Projects", ATTACH_EXCLUDING("projects", "policy_set_projects", "project_id", "false"),
		DETACH("policy_set_projects", "project_id", " and not excluded")},
	[SET_PROJECT_EXCLUSIONS] = {"Project exclusions",
		ATTACH_EXCLUDING("projects", "policy_set_projects", "project_id", "true"),
		DETACH("policy_set_projects", "project_id", " and excluded")},
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
	if (db_query(a->store->db, &rows, err, relations[relation].attach, P_TEXT(a->id), P_ARRAY(&ids)) < 0)
		return -1;
	if (row_int(&rows, 0, "found") == (long long)json_array_size(a->members.ids))
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
	return db_query(store->db, NULL, err, relations[members.relation].detach, P_TEXT(id), P_ARRAY(&array));
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
	return db_query(c->store->db, NULL, err,
		"insert into policy_sets (id, organization_id, name, description, kind, global, overridable, "
		"agent_enabled, policy_tool_version, policies_path, settings) "
		"values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11::jsonb)",
		P_TEXT(c->id.text), P_TEXT(c->organization_id), P_TEXT(set->name), P_TEXT(set->description),
		P_TEXT(set->kind), P_BOOL(set->global), P_BOOL(set->overridable), P_BOOL(set->agent_enabled),
		P_TEXT(set->tool_version), P_TEXT(set->policies_path), P_TEXT(settings));
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
	return 0;
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

int policy_set_update(struct store *store, const char *id, const struct policy_set *set, struct err *err)
{
	_cleanup_(freep) char *settings = json_text(set->settings);

	if (db_query(store->db, NULL, err,
		    "update policy_sets set name = $2, description = $3, global = $4, overridable = $5, "
		    "agent_enabled = $6, policy_tool_version = $7, policies_path = $8, "
		    "settings = settings || $9::jsonb, updated_at = now() where id = $1",
		    P_TEXT(id), P_TEXT(set->name), P_TEXT(set->description), P_BOOL(set->global),
		    P_BOOL(set->overridable), P_BOOL(set->agent_enabled), P_TEXT(set->tool_version),
		    P_TEXT(set->policies_path), P_TEXT(settings)) < 0)
		return name_taken(store, "policy_sets_name", err);
	return 0;
}

int policy_set_delete(struct store *store, const char *id, struct err *err)
{
	return db_query(store->db, NULL, err, "delete from policy_sets where id = $1", P_TEXT(id));
}
