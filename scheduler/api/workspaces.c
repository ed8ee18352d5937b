/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/workspaces.h"

#include "scheduler/api/includes.h"
#include "scheduler/api/scope.h"
#include "scheduler/dispatch/happen.h"
#include "scheduler/store/workspaces.h"

static const char *const permissions[] = {"can-update", "can-destroy", "can-queue-run", "can-read-run",
	"can-read-variable", "can-update-variable", "can-read-state-versions", "can-read-state-outputs",
	"can-create-state-versions", "can-queue-apply", "can-queue-destroy", "can-lock", "can-unlock",
	"can-force-unlock", "can-read-settings", "can-manage-tags", "can-manage-run-tasks", "can-force-delete"};

/* ---- the resource ---- */

static const char *run_shown(const struct rows *rows, int row)
{
	/* A run stays the current one for clients after it ended, until the next takes its place. */
	const char *current = row_text(rows, row, "current_run_id");

	return current ? current : row_text(rows, row, "latest_run_id");
}

static json_t *lock_relation(const struct rows *rows, int row)
{
	if (!row_null(rows, row, "locked_by"))
		return to_one("users", row_text(rows, row, "locked_by"));
	return to_one("runs", row_text(rows, row, "current_run_id"));
}

static json_t *workspace_relations(const struct rows *rows, int row)
{
	const char *run = run_shown(rows, row);
	json_auto_t *variable_ids = row_json(rows, row, "variable_ids");
	json_t *relations = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "organization",
		to_one("organizations", row_text(rows, row, "organization_name")), "agent-pool",
		to_one("agent-pools", row_text(rows, row, "pool_id")), "current-run", to_one("runs", run), "latest-run",
		to_one("runs", run), "current-state-version",
		to_one("state-versions", row_text(rows, row, "current_state_id")), "current-configuration-version",
		to_one("configuration-versions", row_text(rows, row, "current_configuration_id")), "locked-by",
		lock_relation(rows, row));

	json_object_set_new(relations, "vars", to_many("vars", variable_ids));
	json_object_set_new(relations, "project", to_one("projects", row_text(rows, row, "project_id")));
	json_object_set_new(relations, "ssh-key", to_one("ssh-keys", NULL));
	return relations;
}

static json_t *workspace_permissions(void)
{
	json_t *object = json_object();

	for (size_t i = 0; i < ARRAY_LEN(permissions); i++)
		json_object_set_new(object, permissions[i], json_true());
	return object;
}

/* What follows from other things, or is not there yet and has a value that says so. */
static json_t *workspace_facts(const struct rows *rows, int row, const json_t *settings)
{
	bool locked = !row_null(rows, row, "locked_by") || !row_null(rows, row, "current_run_id");
	const json_t *destroy = json_object_get(settings, "allow-destroy-plan");

	return json_pack("{s:b, s:b, s:o, s:s, s:[], s:i, s:i, s:i, s:I, s:I, s:I, s:n, s:s, s:n, s:b, s:{s:b}}",
		"locked", locked, "can-queue-destroy-plan", !json_is_false(destroy), "locked-reason",
		json_string(text_or_empty(row_text(rows, row, "locked_reason"))), "environment", "default", "tag-names",
		"apply-duration-average", 0, "plan-duration-average", 0, "policy-check-failures", 0, "run-failures",
		(json_int_t)row_int(rows, row, "run_failures"), "resource-count",
		(json_int_t)row_int(rows, row, "resource_count"), "workspace-kpis-runs-count",
		(json_int_t)row_int(rows, row, "run_count"), "vcs-repo", "source", "tfe-api", "source-module-id",
		"no-code-upgrade-available", 0, "actions", "is-destroyable", 1);
}

static json_t *workspace_attributes(const struct rows *rows, int row, const json_t *settings)
{
	const char *version = row_text(rows, row, "terraform_version");
	json_t *overwrites = json_object_get(settings, "setting-overwrites");
	json_t *facts = workspace_facts(rows, row, settings);
	json_t *attributes = json_pack("{s:o, s:o, s:b, s:o, s:b, s:s, s:o, s:b, s:o, s:o, s:o, s:o}", "name",
		row_string(rows, row, "name"), "description", row_string(rows, row, "description"), "auto-apply",
		row_bool(rows, row, "auto_apply"), "execution-mode", row_string(rows, row, "execution_mode"),
		"operations", !text_equal(row_text(rows, row, "execution_mode"), "local"), "terraform-version",
		*version ? version : "latest", "working-directory", row_string(rows, row, "working_directory"),
		"structured-run-output-enabled", row_bool(rows, row, "structured_run_output"), "created-at",
		row_time(rows, row, "created_at"), "updated-at", row_time(rows, row, "updated_at"), "latest-change-at",
		row_time(rows, row, "latest_change_at"), "permissions", workspace_permissions());

	json_object_update(attributes, facts);
	json_decref(facts);
	workspace_settings_show(settings, attributes);
	json_object_set_new(attributes, "setting-overwrites",
		overwrites ? json_incref(overwrites) : json_pack("{s:b, s:b}", "execution-mode", 0, "agent-pool", 0));
	return attributes;
}

json_t *workspace_resource(const struct rows *rows, int row)
{
	json_auto_t *settings = row_json(rows, row, "settings");
	const char *organization = row_text(rows, row, "organization_name"), *name = row_text(rows, row, "name");
	_cleanup_(freep) char *self = mem_printf("/api/v2/organizations/%s/workspaces/%s", organization, name);
	_cleanup_(freep) char *html = mem_printf("/app/%s/workspaces/%s", organization, name);
	json_t *resource = resource_new("workspaces", row_text(rows, row, "id"),
		workspace_attributes(rows, row, settings), workspace_relations(rows, row));

	json_object_set_new(resource, "links", json_pack("{s:s, s:s}", "self", self, "self-html", html));
	return resource;
}

static json_t *resource_without_way_back(const struct rows *rows, int row)
{
	static const char *const back[] = {"current-run", "latest-run", "locked-by"};
	json_t *resource = workspace_resource(rows, row);

	for (size_t i = 0; i < ARRAY_LEN(back); i++)
		json_object_del(json_object_get(resource, "relationships"), back[i]);
	return resource;
}

int workspace_included(struct store *store, const char *workspace_id, json_t **ret_resource, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (workspace_read(store, workspace_id, &rows, err) < 0)
		return -1;
	*ret_resource = resource_without_way_back(&rows, 0);
	return 0;
}

static bool included_holds(const json_t *included, const char *id)
{
	const json_t *item;
	size_t i;

	json_array_foreach(included, i, item) if (text_equal(json_string_at(item, "id"), id)) return true;
	return false;
}

void workspaces_include(const struct rows *rows, json_t *included)
{
	for (int i = 0; i < rows->count; i++)
		if (!included_holds(included, row_text(rows, i, "id")))
			json_array_append_new(included, resource_without_way_back(rows, i));
}

/* ---- reading ---- */

static int workspace_show(struct request *req, struct response *res, int status, const char *id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	json_t *data;
	json_t *included;

	if (workspace_read(req->store, id, &rows, err) < 0)
		return -1;
	data = json_pack("[o]", workspace_resource(&rows, 0));
	if (workspace_includes(req, data, &included, err) < 0) {
		json_decref(data);
		return -1;
	}
	respond_including(res, status, json_incref(json_array_get(data, 0)), included);
	json_decref(data);
	return 0;
}

int workspaces_read(struct request *req, struct response *res, struct err *err)
{
	struct scope scope;

	if (query_includes_check(req, workspace_includes_known, err) < 0 || scope_workspace(req, &scope, err) < 0)
		return -1;
	return workspace_show(req, res, 200, scope.workspace.text, err);
}

/* No workspace has tags: one that is searched by a tag is not there. */
static bool searched_by_tag(const struct request *req)
{
	return *text_or_empty(query(req, "search[tags]")) || query(req, "filter[tagged][0][key]");
}

static const char *query_or_null(const struct request *req, const char *name)
{
	const char *text = query(req, name);

	return text && *text ? text : NULL;
}

int workspaces_index(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct workspace_list list = {.name = query_or_null(req, "search[name]")};
	struct scope scope;
	struct page page;
	json_t *data, *included;

	if (query_includes_check(req, workspace_includes_known, err) < 0 || page_read(req, &page, err) < 0 ||
		scope_organization(req, &scope, err) < 0)
		return -1;
	list.organization_id = scope.organization.text;
	list.wildcard = query_or_null(req, "search[wildcard-name]");
	list.run_status = query_or_null(req, "filter[current-run][status]");
	list.sort = query_or_null(req, "sort");
	list.project_ids = query_or_null(req, "filter[project][id]");
	list.limit = page.size;
	list.offset = page.offset;
	if (searched_by_tag(req))
		list.organization_id = "";
	if (workspaces_list(req->store, &list, &rows, err) < 0)
		return -1;
	page.total = row_int(&rows, 0, "total");
	data = json_array();
	for (int i = 0; i < rows.count && !row_null(&rows, i, "id"); i++)
		json_array_append_new(data, workspace_resource(&rows, i));
	if (workspace_includes(req, data, &included, err) < 0) {
		json_decref(data);
		return -1;
	}
	return respond_page(req, res, &page, data, included);
}

/* ---- creating and changing ---- */

int workspaces_create(struct request *req, struct response *res, struct err *err)
{
	struct workspace_input input;
	struct scope scope;
	struct id id;
	int result;

	if (scope_organization(req, &scope, err) < 0)
		return -1;
	result = workspace_input_read(req, scope.organization.text, true, &input, err);
	if (result == 0)
		result = workspace_create(req->store, scope.organization.text, input.fields, input.settings, &id, err);
	workspace_input_release(&input);
	return result == 0 ? workspace_show(req, res, 201, id.text, err) : -1;
}

int workspaces_update(struct request *req, struct response *res, struct err *err)
{
	struct workspace_input input;
	struct scope scope;
	int result;

	if (scope_workspace(req, &scope, err) < 0)
		return -1;
	result = workspace_input_read(req, scope.organization.text, false, &input, err);
	if (result == 0)
		result = workspace_update(req->store, scope.workspace.text, input.fields, input.settings, err);
	if (result == 0 &&
		(json_object_get(input.fields, "project-id") || json_object_get(input.settings, "setting-overwrites")))
		result = workspaces_inherit_mode(req->store, scope.organization.text, err);
	workspace_input_release(&input);
	return result == 0 ? workspace_show(req, res, 200, scope.workspace.text, err) : -1;
}

static int delete_scoped(struct request *req, struct response *res, bool safe, struct err *err)
{
	struct scope scope;

	if (scope_workspace(req, &scope, err) < 0 || workspace_delete(req->store, scope.workspace.text, safe, err) < 0)
		return -1;
	return respond_empty(res, 204);
}

int workspaces_delete(struct request *req, struct response *res, struct err *err)
{
	return delete_scoped(req, res, false, err);
}

int workspaces_safe_delete(struct request *req, struct response *res, struct err *err)
{
	return delete_scoped(req, res, true, err);
}

/* ---- the lock ---- */

int workspaces_lock(struct request *req, struct response *res, struct err *err)
{
	const char *reason = NULL;
	struct scope scope;

	/* Clients send a document, or {"reason": ...} as it is. */
	if (body_text(req, "reason", &reason, err) < 0 || scope_workspace(req, &scope, err) < 0)
		return -1;
	if (!reason)
		reason = json_string_at(req->body, "reason");
	if (workspace_lock(req->store, scope.workspace.text, req->actor.user.text, reason, err) < 0)
		return -1;
	return workspace_show(req, res, 200, scope.workspace.text, err);
}

static int unlock_scoped(struct request *req, struct response *res, bool force, struct err *err)
{
	struct scope scope;

	if (scope_workspace(req, &scope, err) < 0 ||
		workspace_unlock(req->store, scope.workspace.text, req->actor.user.text, force, err) < 0 ||
		workspace_kick(req->store, scope.workspace.text, err) < 0)
		return -1;
	return workspace_show(req, res, 200, scope.workspace.text, err);
}

int workspaces_unlock(struct request *req, struct response *res, struct err *err)
{
	return unlock_scoped(req, res, false, err);
}

int workspaces_force_unlock(struct request *req, struct response *res, struct err *err)
{
	return unlock_scoped(req, res, true, err);
}
