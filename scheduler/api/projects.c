/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/projects.h"

#include <string.h>

#include "scheduler/api/fields.h"
#include "scheduler/api/scope.h"
#include "scheduler/store/projects.h"
#include "scheduler/store/workspaces.h"

enum { NAME_LEAST = 3, NAME_MOST = 40, DESCRIPTION_MOST = 256 };

/* ---- the resource ---- */

static const char *const permissions[] = {"can-read", "can-update", "can-destroy", "can-create-workspace",
	"can-move-workspace", "can-deploy-no-code-modules", "can-read-teams", "can-manage-teams", "can-manage-tags",
	"can-manage-in-hcp"};

static json_t *project_permissions(const struct rows *rows, int row)
{
	json_t *object = json_object();

	for (size_t i = 0; i < ARRAY_LEN(permissions); i++)
		json_object_set_new(object, permissions[i], json_true());
	json_object_set_new(object, "can-destroy", json_boolean(!row_bool(rows, row, "is_default")));
	json_object_set_new(object, "can-manage-in-hcp", json_false());
	return object;
}

json_t *project_resource(const struct rows *rows, int row)
{
	const char *id = row_text(rows, row, "id");
	_cleanup_(freep) char *self = mem_printf("/api/v2/projects/%s", id);
	json_auto_t *settings = row_json(rows, row, "settings");
	bool own = json_object_get(settings, "default-execution-mode") != NULL;
	json_t *resource = resource_new("projects", id,
		json_pack("{so so sb so so s{sb sb} so sI so}", "name", row_string(rows, row, "name"), "description",
			row_string(rows, row, "description"), "is-unified", 0, "default-execution-mode",
			row_string(rows, row, "mode"), "auto-destroy-activity-duration",
			json_string_or_null(json_string_at(settings, "auto-destroy-activity-duration")),
			"setting-overwrites", "default-execution-mode", own, "default-agent-pool", own, "created-at",
			row_time(rows, row, "created_at"), "workspace-count",
			(json_int_t)row_int(rows, row, "workspace_count"), "permissions",
			project_permissions(rows, row)),
		json_pack("{so so}", "organization", to_one("organizations", row_text(rows, row, "organization_name")),
			"default-agent-pool",
			to_one("agent-pools", json_string_at(settings, "default-agent-pool-id"))));

	json_object_set_new(resource, "links", json_pack("{ss}", "self", self));
	return resource;
}

int project_included(struct store *store, const char *project_id, json_t **ret_resource, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (project_read(store, project_id, &rows, err) < 0)
		return -1;
	*ret_resource = project_resource(&rows, 0);
	return 0;
}

/* ---- reading ---- */

static const char *const includes[] = {"organization", "effective_tag_bindings", NULL};

static int project_in_path(struct request *req, struct rows *ret_rows, struct err *err)
{
	if (project_read(req->store, param(req, "project"), ret_rows, err) < 0)
		return -1;
	return may(req, row_text(ret_rows, 0, "organization_id"), "project", err);
}

static int project_show(struct request *req, struct response *res, int status, const char *id, struct err *err)
{
	json_t *resource;

	if (project_included(req->store, id, &resource, err) < 0)
		return -1;
	return respond_resource(res, status, resource);
}

int projects_index(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct project_list list = {.search = query(req, "q"), .names = query(req, "filter[names]")};
	struct scope scope;
	struct page page;
	json_t *data;

	if (query_includes_check(req, includes, err) < 0 || page_read(req, &page, err) < 0 ||
		scope_organization(req, &scope, err) < 0)
		return -1;
	list.organization_id = scope.organization.text;
	list.limit = page.size;
	list.offset = page.offset;
	if (projects_list(req->store, &list, &rows, err) < 0)
		return -1;
	page.total = row_int(&rows, 0, "total");
	data = json_array();
	for (int i = 0; i < rows.count && !row_null(&rows, i, "id"); i++)
		json_array_append_new(data, project_resource(&rows, i));
	return respond_page(req, res, &page, data, NULL);
}

int projects_read(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (query_includes_check(req, includes, err) < 0 || project_in_path(req, &rows, err) < 0)
		return -1;
	return respond_resource(res, 200, project_resource(&rows, 0));
}

/* ---- what clients send ---- */

static const struct field settings[] = {
	{"auto-destroy-activity-duration", FIELD_TEXT, "null"},
	{"default-agent-pool-id", FIELD_TEXT, "null"},
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
	if (len < NAME_LEAST || len > NAME_MOST)
		return err_at(err, pointer, "Name must have %d to %d characters", NAME_LEAST, NAME_MOST);
	return 0;
}

/* "14d", "9999h". */
static int duration_check(const json_t *set, struct err *err)
{
	const char *text = json_string_at(set, "auto-destroy-activity-duration");
	size_t digits = text ? strspn(text, "0123456789") : 0;

	if (!text || (digits >= 1 && digits <= 4 && strchr("dh", text[digits]) && text[digits] && !text[digits + 1]))
		return 0;
	return err_at(err, "/data/attributes/auto-destroy-activity-duration",
		"Auto destroy activity duration has an incorrect format, we expect up to 4 numeric digits and 1 unit "
		"('d' or 'h')");
}

static int pool_check(const struct request *req, const char *organization_id, const char *pool, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(req->store->db, &rows, err,
		    "select 1 from agent_pools where id = $1 and (organization_id is null or organization_id = $2)",
		    P_TEXT(pool), P_TEXT(organization_id)) < 0)
		return -1;
	return rows.count ? 0
			  : err_at(err, "/data/attributes/default-agent-pool-id", "Default agent pool does not exist");
}

/* What is set now, or else stands already. */
static const char *setting(const json_t *set, const json_t *old, const char *name)
{
	return json_string_at(json_object_get(set, name) ? set : old, name);
}

static int mode_check(
	const struct request *req, const char *organization_id, const json_t *old, json_t *set, struct err *err)
{
	const char *mode = setting(set, old, "default-execution-mode");
	const char *pool = setting(set, mode ? old : NULL, "default-agent-pool-id");
	bool agent = text_equal(mode, "agent");

	if (mode && !agent && !text_equal(mode, "remote") && !text_equal(mode, "local"))
		return err_at(err, "/data/attributes/default-execution-mode",
			"Default execution mode must be remote, local or agent");
	if (!agent && json_string_at(set, "default-agent-pool-id"))
		return err_at(err, "/data/attributes/default-agent-pool-id",
			"Default agent pool must not be specified unless using 'agent' execution mode");
	if (agent && !pool)
		return err_at(err, "/data/attributes/default-agent-pool-id",
			"Default agent pool must be specified when using 'agent' execution mode");
	if (!agent)
		json_object_set_new(set, "default-agent-pool-id", json_null());
	return agent ? pool_check(req, organization_id, pool, err) : 0;
}

/* false gives the mode back to the organization. */
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
			"be "
			"the same.");
	if (!json_is_false(mode))
		return 0;
	json_object_set_new(set, "default-execution-mode", json_null());
	json_object_set_new(set, "default-agent-pool-id", json_null());
	return 0;
}

/* What was sent replaces what is in *project; `set` gets the settings. */
static int input_read(const struct request *req, const char *organization_id, const json_t *old,
	struct project *project, json_t *set, struct err *err)
{
	if (body_check(req, "projects", err) < 0 || body_text(req, "name", &project->name, err) < 0 ||
		body_text(req, "description", &project->description, err) < 0 ||
		fields_read(req, settings, ARRAY_LEN(settings), set, err) < 0 || duration_check(set, err) < 0 ||
		overwrites_read(req, set, err) < 0 || mode_check(req, organization_id, old, set, err) < 0)
		return -1;
	project->description = text_or_empty(project->description);
	project->settings = set;
	if (strlen(project->description) > DESCRIPTION_MOST)
		return err_at(err, "/data/attributes/description", "Description is too long (maximum is %d characters)",
			DESCRIPTION_MOST);
	return name_check_project(project->name, err);
}

/* ---- creating and changing ---- */

int projects_create(struct request *req, struct response *res, struct err *err)
{
	json_auto_t *set = json_object();
	struct project project = {.name = NULL};
	struct scope scope;
	struct id id;

	if (scope_organization(req, &scope, err) < 0 ||
		input_read(req, scope.organization.text, NULL, &project, set, err) < 0 ||
		project_create(req->store, scope.organization.text, &project, &id, err) < 0)
		return -1;
	return project_show(req, res, 201, id.text, err);
}

int projects_update(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	json_auto_t *set = json_object(), *old = NULL;
	struct project project;
	const char *id, *organization;

	if (project_in_path(req, &rows, err) < 0)
		return -1;
	id = row_text(&rows, 0, "id");
	organization = row_text(&rows, 0, "organization_id");
	old = row_json(&rows, 0, "settings");
	project.name = row_text(&rows, 0, "name");
	project.description = row_text(&rows, 0, "description");
	if (input_read(req, organization, old, &project, set, err) < 0 ||
		project_update(req->store, id, &project, err) < 0)
		return -1;
	if (json_object_get(set, "default-execution-mode") &&
		workspaces_inherit_mode(req->store, organization, err) < 0)
		return -1;
	return project_show(req, res, 200, id, err);
}

int projects_delete(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (project_in_path(req, &rows, err) < 0 || project_delete(req->store, row_text(&rows, 0, "id"), err) < 0)
		return -1;
	return respond_empty(res, 204);
}
