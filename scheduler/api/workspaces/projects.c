/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/workspaces/projects.h"

#include "scheduler/api/api.h"

#include <string.h>

#include "scheduler/api/access/permissions.h"
#include "scheduler/api/include_resolver.h"
#include "scheduler/api/resources.h"
#include "scheduler/api/workspaces/auto_destroy.h"
#include "scheduler/api/workspaces/default_mode.h"
#include "scheduler/api/workspaces/tags.h"
#include "scheduler/http/fields.h"
#include "scheduler/http/scope.h"
#include "scheduler/store/workspaces/projects.h"
#include "scheduler/store/workspaces/workspaces.h"

enum { NAME_MIN = 3, MAX_NAME = 40, MAX_DESCRIPTION = 256 };

/* ---- the resource ---- */

static const struct permission_shown permissions[] = {
	{"can-read", CAN_READ_PROJECT},
	{"can-update", CAN_MANAGE_PROJECT},
	{"can-destroy", CAN_DELETE_PROJECT},
	{"can-create-workspace", CAN_CREATE_WORKSPACE},
	{"can-move-workspace", CAN_MOVE_WORKSPACE},
	{"can-deploy-no-code-modules", CAN_CREATE_WORKSPACE},
	{"can-read-teams", CAN_READ_PROJECT_TEAMS},
	{"can-manage-teams", CAN_MANAGE_PROJECT_TEAMS},
	{"can-manage-tags", CAN_MANAGE_PROJECT},
};

static json_t *project_permissions(const struct project_row *project)
{
	json_t *object = rights_shown(permissions, ARRAY_LEN(permissions), project->rights);

	if (project->is_default)
		json_object_set_new(object, "can-destroy", json_false());
	json_object_set_new(object, "can-manage-in-hcp", json_false());
	return object;
}

static json_t *project_resource(const void *of_row)
{
	const struct project_row *project = of_row;
	_cleanup_(freep) char *self = mem_printf("/api/v2/projects/%s", project->id);
	json_auto_t *settings = json_shown(project->settings);
	bool own = json_object_get(settings, "default-execution-mode") != NULL;
	json_t *resource = resource_new("projects", project->id,
		json_pack("{so so sb so so s{sb sb} so sI so}", "name", json_string_or_null(project->name),
			"description", json_string_or_null(project->description), "is-unified", 0,
			"default-execution-mode", json_string_or_null(project->mode), "auto-destroy-activity-duration",
			json_string_or_null(json_string_at(settings, "auto-destroy-activity-duration")),
			"setting-overwrites", "default-execution-mode", own, "default-agent-pool", own, "created-at",
			time_shown(project->created_at), "workspace-count", (json_int_t)project->workspace_count,
			"permissions", project_permissions(project)),
		json_pack("{so so so}", "organization", to_one("organizations", project->organization_name),
			"default-agent-pool", to_one("agent-pools", project->default_pool_id), "tag-bindings",
			relation_linked(json_object(), "projects", project->id, "tag-bindings")));

	json_object_set_new(resource, "links", json_pack("{ss}", "self", self));
	return resource;
}

/* ---- reading ---- */

static const struct inclusion includes[] = {
	{"organization", "projects", "organization", &kind_organizations},
	{"effective-tag-bindings", "projects", "effective-tag-bindings", NULL},
};

static int project_includes(const struct request *req, json_t *projects, json_t **ret_included, struct err *err)
{
	if (includes_follow(req, &kind_projects, projects, ret_included, err) < 0)
		return -1;
	return bindings_include(req, TAGGED_PROJECT, projects, ret_included, err);
}

const struct resource_kind kind_projects = {.type = "projects",
	.ask = projects_read_all,
	.show = project_resource,
	KIND_INCLUDES(includes),
	.include = project_includes};

struct place place_of_project(const struct project_row *project)
{
	return (struct place){.organization = project->organization_id, .project = project->id};
}

int project_in_path(struct request *req, struct rows *ret_rows, struct err *err)
{
	if (project_read(req->store, param(req, "project"), ret_rows, err) < 0)
		return -1;
	return may(req, place_of_project(row_of(project, ret_rows, 0)), "project", err);
}

/* Answers with the project and the resources that the request includes. */
static int project_show(struct request *req, struct response *res, int status, const char *id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (project_read(req->store, id, &rows, err) < 0)
		return -1;
	return respond_row(req, res, status, &(struct resource_rows){&kind_projects, &rows}, err);
}

static int page_of_projects(const struct request *req, const struct scope *scope, const struct page *page,
	struct rows *ret_rows, struct err *err)
{
	_cleanup_(db_array_release) struct db_array keys = DB_ARRAY_INIT, values = DB_ARRAY_INIT;
	const struct project_list list = {.organization_id = scope->organization.text,
		.search = query(req, "q"),
		.names = query(req, "filter[names]"),
		.sort = text_or_null(query(req, "sort")),
		.tag_keys = &keys,
		.tag_values = &values,
		.limit = page->size,
		.offset = page->offset};

	tag_filters_read(req, &keys, &values);
	return projects_list(req->store, &list, ret_rows, err);
}

int projects_index(struct request *req, struct response *res, struct err *err)
{
	return respond_list(
		req, res, &(struct resource_list){&kind_projects, scope_organization, page_of_projects}, err);
}

int projects_read(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (includes_check(req, &kind_projects, err) < 0 || project_in_path(req, &rows, err) < 0)
		return -1;
	return project_show(req, res, 200, param(req, "project"), err);
}

/* ---- input ---- */

static const struct field settings[] = {
	{"auto-destroy-activity-duration", FIELD_TEXT, "null"},
	{"default-execution-mode", FIELD_TEXT, "null"},
};

static int name_check_project(const char *name, struct err *err)
{
	static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_ ";
	static const char pointer[] = "/data/attributes/name";
	size_t len = strlen(text_or_empty(name));

	if (!len)
		return err_at(err, pointer, "Name can't be blank");
	if (name[strspn(name, allowed)])
		return err_at(err, pointer, "Name may only contain letters, numbers, spaces, underscores and hyphens");
	if (name[0] == ' ' || name[len - 1] == ' ')
		return err_at(err, pointer, "Name may not begin or end with a space");
	if (len < NAME_MIN || len > MAX_NAME)
		return err_at(err, pointer, "Name must have %d to %d characters", NAME_MIN, MAX_NAME);
	return 0;
}

/* false makes the project inherit the organization's mode. */
static int overwrites_read(const struct request *req, json_t *set, struct err *err)
{
	static const char pointer[] = "/data/attributes/setting-overwrites";
	const json_t *overwrites = json_at(req->body, "data.attributes.setting-overwrites");
	const json_t *mode = json_object_get(overwrites, "default-execution-mode");
	const json_t *pool = json_object_get(overwrites, "default-agent-pool");

	if (overwrites && !json_is_object(overwrites) && !json_is_null(overwrites))
		return err_at(err, pointer, "Setting overwrites must be an object");
	if (json_is_boolean(mode) && json_is_boolean(pool) && json_is_true(mode) != json_is_true(pool))
		return err_at(err, pointer,
			"If agent-pool and execution-mode are both included in setting-overwrites, their values must "
			"be the same.");
	if (!json_is_false(mode))
		return 0;
	json_object_set_new(set, "default-execution-mode", json_null());
	return 0;
}

/* The project before a change, and what it may use. */
struct project_before {
	const json_t *settings; /* NULL: it is new */
	struct pool_use use;
};

/* The mode in the body, or else the project's present mode. */
static int mode_read(
	const struct request *req, const struct project_before *before, struct project *project, struct err *err)
{
	const json_t *old = before->settings, *set = project->settings;
	struct default_mode mode = {json_string_at(old, "default-execution-mode"), project->pool_id};
	struct default_mode_body body = {.pool_pointer = "/data/attributes/default-agent-pool-id"};
	bool given = json_object_get(set, "default-execution-mode");

	body.mode = json_string_at(given ? set : old, "default-execution-mode");
	if (!body_has(req, "default-agent-pool-id") &&
		body_to_one(req, "default-agent-pool", "agent-pools", &body.pool, err) < 0)
		return -1;
	if (body_text(req, "default-agent-pool-id", &body.pool, err) < 0 ||
		default_mode_change(req, &before->use, &body, &mode, err) < 0)
		return -1;
	project->pool_id = mode.pool;
	return 0;
}

/* Reads a body into *project, and its settings into `set`. Attributes that were not sent stay as they are. */
static int input_read(const struct request *req, const struct project_before *before, struct project *project,
	json_t *set, struct err *err)
{
	project->settings = set;
	if (body_check(req, "projects", err) < 0 || body_text(req, "name", &project->name, err) < 0 ||
		body_text(req, "description", &project->description, err) < 0 ||
		fields_read(req, settings, ARRAY_LEN(settings), set, err) < 0 ||
		duration_check(json_string_at(set, "auto-destroy-activity-duration"), err) < 0 ||
		overwrites_read(req, set, err) < 0 || mode_read(req, before, project, err) < 0)
		return -1;
	project->description = text_or_empty(project->description);
	if (strlen(project->description) > MAX_DESCRIPTION)
		return err_at(err, "/data/attributes/description", "Description is too long (maximum is %d characters)",
			MAX_DESCRIPTION);
	return name_check_project(project->name, err);
}

/* ---- creating and changing ---- */

struct saving {
	const struct request *req;
	const char *organization_id;
	const struct project *project;
	const json_t *bindings; /* NULL: unchanged */
	const char *old;        /* the id of an existing project, or NULL */
	struct id id;
};

static int save(struct saving *s, struct err *err)
{
	struct store *store = s->req->store;
	struct binding_order order = {.kind = TAGGED_PROJECT,
		.organization_id = s->organization_id,
		.bindings = s->bindings,
		.replace = true,
		.pointer = "/data/relationships/tag-bindings"};

	if (s->old)
		text_copy(s->id.text, sizeof(s->id.text), s->old);
	if ((s->old ? project_update(store, s->old, s->project, err)
		    : project_create(store, s->organization_id, s->project, &s->id, err)) < 0)
		return -1;
	order.owner = s->id.text;
	if (s->bindings && bindings_write(store, &order, err) < 0)
		return -1;
	return s->old ? workspaces_inherit_mode(store, s->organization_id, err) : 0;
}

static int project_save(struct saving *s, struct err *err)
{
	const json_t *list = body_relation_list(s->req, "tag-bindings");
	json_auto_t *bindings = NULL;

	if (list && bindings_parse(list, "/data/relationships/tag-bindings", &bindings, err) < 0)
		return -1;
	s->bindings = bindings;
	return save(s, err);
}

int projects_create(struct request *req, struct response *res, struct err *err)
{
	json_auto_t *set = json_object();
	struct project project = {.name = NULL};
	struct saving saving = {.req = req, .project = &project};
	struct project_before before = {
		.use = {.anywhere = true}}; /* no pool can be scoped to a project that does not exist yet */
	struct scope scope;

	saving.organization_id = before.use.organization_id = scope.organization.text;
	if (scope_organization(req, &scope, err) < 0 || input_read(req, &before, &project, set, err) < 0)
		return -1;
	if (project_save(&saving, err) < 0)
		return -1;
	return project_show(req, res, 201, saving.id.text, err);
}

int projects_update(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	json_auto_t *set = json_object(), *old = NULL;
	const struct project_row *row;
	struct project project;
	struct saving saving = {.req = req, .project = &project, .old = param(req, "project")};
	struct project_before before;

	if (project_in_path(req, &rows, err) < 0)
		return -1;
	row = row_of(project, &rows, 0);
	saving.organization_id = row->organization_id;
	old = json_shown(row->settings);
	before = (struct project_before){old, {.organization_id = saving.organization_id, .project_id = saving.old}};
	project.name = row->name;
	project.description = row->description;
	project.pool_id = row->default_pool_id;
	if (input_read(req, &before, &project, set, err) < 0 || project_save(&saving, err) < 0)
		return -1;
	return project_show(req, res, 200, saving.old, err);
}

int projects_delete(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (project_in_path(req, &rows, err) < 0 || project_delete(req->store, row_of(project, &rows, 0)->id, err) < 0)
		return -1;
	return respond_empty(res, 204);
}
