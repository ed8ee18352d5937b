/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/include_resolver.h"
#include "scheduler/api/kinds.h"
#include "scheduler/api/resources.h"
#include "scheduler/http/relations.h"
#include "scheduler/http/scope.h"
#include "scheduler/store/access/team_access.h"
#include "scheduler/store/access/team_access.sql.h"
#include "scheduler/store/workspaces/projects.h"
#include "scheduler/store/workspaces/projects.sql.h"

/* Access of teams to workspaces (`team-workspaces`) and projects (`team-projects`): the level and its details. Clients
 * choose the details with the level `custom`. */

static const struct kind {
	const char *type, *place_type, *relation, *filter;
	const struct access_table *table;
} kinds[] = {
	[IN_WORKSPACE] = {"team-workspaces", "workspaces", "workspace", "filter[workspace][id]", &workspace_accesses},
	[IN_PROJECT] = {"team-projects", "projects", "project", "filter[project][id]", &project_accesses},
};

/* ---- the resource ---- */

static json_t *access_resource(enum access_place place, const struct team_access_row *row)
{
	json_t *attributes = json_pack("{so}", "access", json_string_or_null(row->access));

	if (place == IN_WORKSPACE)
		json_object_update_new(attributes, json_shown(row->detail));
	else
		json_object_update_new(attributes,
			json_pack("{so so}", "project-access", json_shown(row->detail), "workspace-access",
				json_shown(row->workspace_detail)));
	return resource_new(kinds[place].type, row->id, attributes,
		json_pack("{so so}", "team", to_one("teams", row->team_id), kinds[place].relation,
			to_one(kinds[place].place_type, row->place_id)));
}

static json_t *workspace_access_show(const void *row)
{
	return access_resource(IN_WORKSPACE, row);
}

static json_t *project_access_show(const void *row)
{
	return access_resource(IN_PROJECT, row);
}

static const struct inclusion workspace_includes[] = {{"team", "team-workspaces", "team", &kind_teams}};
static const struct inclusion project_includes[] = {{"team", "team-projects", "team", &kind_teams}};

static const struct resource_kind resource_kinds[] = {
	[IN_WORKSPACE] = {.type = "team-workspaces", .show = workspace_access_show, KIND_INCLUDES(workspace_includes)},
	[IN_PROJECT] = {.type = "team-projects", .show = project_access_show, KIND_INCLUDES(project_includes)},
};

/* ---- permissions ---- */

/* Checks the route's permission in an existing workspace or project. */
static int may_in_place(struct request *req, enum access_place place, const char *id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct scope scope;

	if (place == IN_WORKSPACE)
		return scope_workspace_id(req, id, &scope, err);
	if (project_read(req->store, id, &rows, err) < 0)
		return -1;
	return may(req, (struct place){.organization = row_of(project, &rows, 0)->organization_id, .project = id},
		"project", err);
}

static int access_in_path(struct request *req, enum access_place place, struct rows *ret_rows, struct err *err)
{
	if (team_access_read(req->store, place, param(req, "access"), ret_rows, err) < 0)
		return -1;
	return may_in_place(req, place, row_of(team_access, ret_rows, 0)->place_id, err);
}

/* ---- reading ---- */

static int access_read_resource(
	struct store *store, enum access_place place, const char *id, json_t **ret_resource, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (team_access_read(store, place, id, &rows, err) < 0)
		return -1;
	*ret_resource = access_resource(place, row_of(team_access, &rows, 0));
	return 0;
}

static int accesses_index(struct request *req, struct response *res, enum access_place place, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct access_list list = {.place = place,
		.place_id = query(req, kinds[place].filter),
		.team_id = text_or_null(query(req, "filter[team][id]"))};
	struct page page;

	if (!list.place_id || !*list.place_id)
		return err_set(err, ERR_MALFORMED, "%s is needed", kinds[place].filter);
	if (includes_check(req, &resource_kinds[place], err) < 0 || page_read(req, &page, err) < 0 ||
		may_in_place(req, place, list.place_id, err) < 0)
		return -1;
	list.limit = page.size;
	list.offset = page.offset;
	if (team_accesses_list(req->store, &list, &rows, err) < 0)
		return -1;
	return respond_rows(req, res, &page, &(struct resource_rows){&resource_kinds[place], &rows}, err);
}

static int access_read_one(struct request *req, struct response *res, enum access_place place, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (includes_check(req, &resource_kinds[place], err) < 0 || access_in_path(req, place, &rows, err) < 0)
		return -1;
	return respond_row(req, res, 200, &(struct resource_rows){&resource_kinds[place], &rows}, err);
}

/* ---- input ---- */

struct access_input {
	struct team_access access;
	json_t *detail, *workspace_detail;
};

static void access_input_release(struct access_input *input)
{
	json_decref(input->detail);
	json_decref(input->workspace_detail);
}

/* NULL with *err filled if the level does not exist. */
static const struct access_level *level_read(
	const struct request *req, enum access_place place, const char **name, struct err *err)
{
	const struct access_level *level;

	if (body_check(req, kinds[place].type, err) < 0 || body_text(req, "access", name, err) < 0)
		return NULL;
	level = access_level_find(kinds[place].table, *name);
	if (!level)
		err_at(err, "/data/attributes/access",
			*name ? "Access is not one of the levels there are" : "Access can't be blank");
	return level;
}

/* Reads the details for the project itself, and for the workspaces in it. */
static int project_details_read(const struct request *req, const struct access_level *level,
	const struct team_access_row *old, struct access_input *input, struct err *err)
{
	const json_t *sent = json_at(req->body, "data.attributes");
	const struct access_level *within = access_level_find(&project_workspace_accesses, level->name);
	json_auto_t *old_detail = old ? json_shown(old->detail) : NULL;
	json_auto_t *old_within = old ? json_shown(old->workspace_detail) : NULL;
	const struct access_change of_project = {
		level, json_object_get(sent, "project-access"), old_detail, "/data/attributes/project-access"};
	const struct access_change of_workspaces = {
		within, json_object_get(sent, "workspace-access"), old_within, "/data/attributes/workspace-access"};

	if (access_read(&project_accesses, &of_project, &input->detail, err) < 0 ||
		access_read(&project_workspace_accesses, &of_workspaces, &input->workspace_detail, err) < 0)
		return -1;
	input->access.rights = access_rights(&project_accesses, level, input->detail) |
		access_rights(&project_workspace_accesses, within, input->workspace_detail);
	return 0;
}

static int workspace_detail_read(const struct request *req, const struct access_level *level,
	const struct team_access_row *old, struct access_input *input, struct err *err)
{
	json_auto_t *old_detail = old ? json_shown(old->detail) : NULL;
	const struct access_change change = {
		level, json_at(req->body, "data.attributes"), old_detail, "/data/attributes"};

	if (access_read(&workspace_accesses, &change, &input->detail, err) < 0)
		return -1;
	input->access.rights = access_rights(&workspace_accesses, level, input->detail);
	return 0;
}

/* Reads a body. Attributes that were not sent are those of `old`, or NULL. */
static int input_read(const struct request *req, enum access_place place, const struct team_access_row *old,
	struct access_input *input, struct err *err)
{
	const struct access_level *level;

	if (old)
		input->access.access = old->access;
	level = level_read(req, place, &input->access.access, err);
	if (!level ||
		(place == IN_WORKSPACE ? workspace_detail_read : project_details_read)(req, level, old, input, err) < 0)
		return -1;
	input->access.detail = input->detail;
	input->access.workspace_detail = input->workspace_detail;
	return 0;
}

/* ---- creating and changing ---- */

static int access_create(struct request *req, struct response *res, enum access_place place, struct err *err)
{
	_cleanup_(access_input_release) struct access_input input = {.detail = NULL};
	struct id id;
	json_t *resource;

	input.access.team_id = body_relation(req, "team");
	input.access.place_id = body_relation(req, kinds[place].relation);
	if (body_check(req, kinds[place].type, err) < 0)
		return -1;
	if (!input.access.place_id)
		return place == IN_WORKSPACE ? err_at(err, "/data/relationships/workspace", "Workspace must exist")
					     : err_at(err, "/data/relationships/project", "Project must exist");
	if (may_in_place(req, place, input.access.place_id, err) < 0)
		return -1;
	if (!input.access.team_id)
		return err_at(err, "/data/relationships/team", "Team must exist");
	if (input_read(req, place, NULL, &input, err) < 0 ||
		team_access_create(req->store, place, &input.access, &id, err) < 0)
		return -1;
	if (access_read_resource(req->store, place, id.text, &resource, err) < 0)
		return -1;
	return respond_resource(res, 201, resource);
}

static int access_update(struct request *req, struct response *res, enum access_place place, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(access_input_release) struct access_input input = {.detail = NULL};
	const struct team_access_row *old;
	json_t *resource;

	if (access_in_path(req, place, &rows, err) < 0)
		return -1;
	old = row_of(team_access, &rows, 0);
	if (input_read(req, place, old, &input, err) < 0 ||
		team_access_update(req->store, place, old->id, &input.access, err) < 0 ||
		access_read_resource(req->store, place, old->id, &resource, err) < 0)
		return -1;
	return respond_resource(res, 200, resource);
}

static int access_delete(struct request *req, struct response *res, enum access_place place, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (access_in_path(req, place, &rows, err) < 0 ||
		team_access_delete(req->store, place, row_of(team_access, &rows, 0)->id, err) < 0)
		return -1;
	return respond_empty(res, 204);
}

/* ---- the routes ---- */

#define IN_BOTH(action, function)                                                                                      \
	int team_workspaces_##action(struct request *req, struct response *res, struct err *err)                       \
	{                                                                                                              \
		return function(req, res, IN_WORKSPACE, err);                                                          \
	}                                                                                                              \
	int team_projects_##action(struct request *req, struct response *res, struct err *err)                         \
	{                                                                                                              \
		return function(req, res, IN_PROJECT, err);                                                            \
	}

IN_BOTH(index, accesses_index)
IN_BOTH(create, access_create)
IN_BOTH(read, access_read_one)
IN_BOTH(update, access_update)
IN_BOTH(delete, access_delete)
