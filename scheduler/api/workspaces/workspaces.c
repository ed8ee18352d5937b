/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/workspaces/workspaces.h"

#include "scheduler/api/api.h"

#include "scheduler/api/access/permissions.h"
#include "scheduler/api/workspaces/auto_destroy.h"
#include "scheduler/api/workspaces/retention.h"
#include "scheduler/api/workspaces/tags.h"
#include "scheduler/api/include_resolver.h"
#include "scheduler/api/resources.h"
#include "scheduler/http/columns.h"
#include "scheduler/http/path/path_object.h"
#include "scheduler/http/scope.h"
#include "scheduler/runs/holds.h"
#include "scheduler/runs/transition.h"
#include "scheduler/store/registry/no_code/no_code.h"
#include "scheduler/store/workspaces/projects.h"
#include "scheduler/store/workspaces/workspaces.h"

static const struct permission_shown permissions[] = {
	{"can-update", CAN_MANAGE_WORKSPACE},
	{"can-destroy", CAN_DELETE_WORKSPACE},
	{"can-queue-run", CAN_QUEUE_RUN},
	{"can-read-run", CAN_READ_RUNS},
	{"can-read-variable", CAN_READ_VARIABLES},
	{"can-update-variable", CAN_WRITE_VARIABLES},
	{"can-read-state-versions", CAN_READ_STATE},
	{"can-read-state-outputs", CAN_READ_OUTPUTS},
	{"can-create-state-versions", CAN_WRITE_STATE},
	{"can-queue-apply", CAN_APPLY},
	{"can-queue-destroy", CAN_APPLY},
	{"can-lock", CAN_LOCK},
	{"can-unlock", CAN_LOCK},
	{"can-force-unlock", CAN_MANAGE_WORKSPACE},
	{"can-read-settings", CAN_READ_WORKSPACE},
	{"can-manage-tags", CAN_MANAGE_WORKSPACE},
	{"can-manage-run-tasks", CAN_ATTACH_TASKS},
};

static json_t *workspace_permissions(const struct workspace_view_row *workspace)
{
	json_t *object = rights_shown(permissions, ARRAY_LEN(permissions), workspace->rights);
	enum permission forces = workspace->admins_delete ? CAN_DELETE_WORKSPACE : CAN_MANAGE_ORGANIZATION;

	json_object_set_new(object, "can-force-delete", json_boolean(rights_may(workspace->rights, forces)));
	return object;
}

/* ---- the resource ---- */

/* While a user's lock delays a pending run, that run is shown, so that terraform can say why it waits. A run that has
 * ended stays the current one for clients until the next run replaces it. */
static const char *run_shown(const struct workspace_view_row *workspace)
{
	if (workspace->current_run_id)
		return workspace->current_run_id;
	return workspace->held_run_id ? workspace->held_run_id : workspace->latest_run_id;
}

static json_t *lock_relation(const struct workspace_view_row *workspace)
{
	if (workspace->locker_team)
		return to_one("teams", workspace->locker_team);
	if (workspace->locked_by)
		return to_one("users", workspace->locked_by);
	return to_one("runs", workspace->hold_run_id ? workspace->hold_run_id : workspace->current_run_id);
}

/* The reason that the lock's owner gave. For a held workspace, why it is held and how the hold ends. */
static json_t *lock_reason(const struct workspace_view_row *workspace)
{
	const char *run = workspace->hold_run_id, *until = workspace->hold_until;
	const char *worker = workspace->hold_worker, *id = workspace->id;
	_cleanup_(freep) char *text = NULL, *deadline = NULL;

	if (!run)
		return json_string(text_or_empty(workspace->locked_reason));
	if (workspace->hold_settled) {
		text = mem_printf("Held after %s: the apply reported resources that are in no state (GET "
				  "/api/v2/runs/%s/unrecorded-resources, or the page "
				  "/app/runs/%s/unrecorded-resources). The hold ends when they are dismissed, or by "
				  "POST /api/v2/workspaces/%s/actions/force-unlock (terraform force-unlock).",
			run, run, run, id);
		return json_string(text);
	}
	deadline = until ? mem_printf(" or at %s, when that worker must have ended terraform", until) : mem_text("");
	if (workspace->hold_engine_ended)
		text = mem_printf("Held after %s: the apply has ended on worker %s, and its last state is missing. The "
				  "hold ends when that state arrives%s, or by POST "
				  "/api/v2/workspaces/%s/actions/force-unlock (terraform force-unlock).",
			run, worker, deadline, id);
	else
		text = mem_printf(
			"Held after %s: contact with worker %s was lost during the apply. Its terraform may still run, "
			"and its last state may still come. The hold ends when that state arrives%s. Cancel %s to stop "
			"its terraform. POST /api/v2/workspaces/%s/actions/force-unlock (terraform force-unlock) "
			"releases the workspace at once; if that terraform still runs then, two of them can change the "
			"same resources. The page /app/workspaces/%s/hold does the same.",
			run, worker, deadline, run, id, id);
	return json_string(text);
}

/* Why the workspace waits for a lost apply; null: it does not. */
static json_t *hold_show(const struct workspace_view_row *workspace)
{
	if (!workspace->hold_run_id)
		return json_null();
	return json_pack("{so so so so sb sb}", "run-id", json_string_or_null(workspace->hold_run_id), "worker",
		json_string_or_null(workspace->hold_worker), "since", time_shown(workspace->hold_since), "until",
		time_shown(workspace->hold_deadline), "engine-ended", workspace->hold_engine_ended, "settled",
		workspace->hold_settled);
}

static const struct relation relations[] = {
	ONE_CELL("organization", "organizations", workspace_view, organization_name),
	ONE_CELL("agent-pool", "agent-pools", workspace_view, pool_id),
	ONE_CELL("current-state-version", "state-versions", workspace_view, current_state_id),
	ONE_CELL("current-configuration-version", "configuration-versions", workspace_view, current_configuration_id),
	ONE_CELL("project", "projects", workspace_view, project_id),
	ONE_CELL("ssh-key", "ssh-keys", workspace_view, ssh_key_id),
	ONE_CELL("current-assessment-result", "assessment-results", workspace_view, assessment_id),
	ONE_CELL("no-code-module", "no-code-modules", workspace_view, no_code_module_id),
};

static json_t *workspace_relations(const struct workspace_view_row *workspace)
{
	const char *run = run_shown(workspace);
	json_t *object = relations_shown(relations, ARRAY_LEN(relations), workspace);

	json_object_set_new(object, "current-run", to_one("runs", run));
	json_object_set_new(object, "latest-run", to_one("runs", run));
	json_object_set_new(object, "locked-by", lock_relation(workspace));
	json_object_set_new(object, "remote-state-consumers",
		relation_linked(json_object(), "workspaces", workspace->id, "relationships/remote-state-consumers"));
	json_object_set_new(
		object, "tags", relation_linked(json_object(), "workspaces", workspace->id, "relationships/tags"));
	json_object_set_new(object, "vars",
		relation_linked(many_shown("vars", workspace->variable_ids), "workspaces", workspace->id, "vars"));
	json_object_set_new(
		object, "data-retention-policy", retention_to_one(workspace->retention_id, workspace->retains_all));
	return object;
}

static const struct cell_shown attributes[] = {
	CELL("name", workspace_view, name),
	CELL("description", workspace_view, description),
	CELL("auto-apply", workspace_view, auto_apply),
	CELL("execution-mode", workspace_view, execution_mode),
	CELL("working-directory", workspace_view, working_directory),
	CELL("structured-run-output-enabled", workspace_view, structured_run_output),
	CELL_TIME("created-at", workspace_view, created_at),
	CELL_TIME("updated-at", workspace_view, updated_at),
	CELL_TIME("latest-change-at", workspace_view, latest_change_at),
	CELL_JSON("tag-names", workspace_view, tag_names),
	/* counts and averages */
	CELL("apply-duration-average", workspace_view, apply_milliseconds),
	CELL("plan-duration-average", workspace_view, plan_milliseconds),
	CELL("policy-check-failures", workspace_view, policy_failures),
	CELL("run-failures", workspace_view, run_failures),
	CELL("resource-count", workspace_view, resource_count),
	CELL("kept-state-versions-count", workspace_view, kept_states),
	CELL("workspace-kpis-runs-count", workspace_view, run_count),
	/* constants for features that do not exist */
	CELL_ALWAYS("environment", "\"default\""),
	/* of no-code modules */
	CELL("source-module-id", workspace_view, source_module),
	CELL("no-code-upgrade-available", workspace_view, can_upgrade),
};

static bool workspace_locked(const struct workspace_view_row *workspace)
{
	return workspace->locked_by || workspace->current_run_id || workspace->hold_run_id;
}

static json_t *workspace_attributes(
	const struct store *store, const struct workspace_view_row *workspace, const json_t *settings)
{
	const char *version = workspace->terraform_version;
	bool local = text_equal(workspace->execution_mode, "local");
	bool undestroyable = json_is_false(json_object_get(settings, "allow-destroy-plan"));
	json_t *overwrites = json_object_get(settings, "setting-overwrites");
	json_t *shown = cells_shown(attributes, ARRAY_LEN(attributes), workspace);
	json_t *repository = vcs_repo_shown(store, workspace->repository);
	json_t *identifier = json_object_get(repository, "identifier");

	json_object_set_new(shown, "vcs-repo", repository);
	json_object_set_new(shown, "vcs-repo-identifier", identifier ? json_incref(identifier) : json_null());
	json_object_set_new(shown, "operations", json_boolean(!local));
	json_object_set_new(shown, "terraform-version", json_string(*version ? version : "latest"));
	json_object_set_new(shown, "source", json_string(workspace->source_module ? "tfe-module" : "tfe-api"));
	json_object_set_new(shown, "locked", json_boolean(workspace_locked(workspace)));
	json_object_set_new(shown, "locked-reason", lock_reason(workspace));
	json_object_set_new(shown, "locked-at", workspace->locked_by ? time_shown(workspace->locked_at) : json_null());
	json_object_set_new(shown, "hold", hold_show(workspace));
	json_object_set_new(shown, "actions", json_pack("{sb}", "is-destroyable", true));
	json_object_set_new(shown, "can-queue-destroy-plan", json_boolean(!undestroyable));
	json_object_set_new(shown, "permissions", workspace_permissions(workspace));
	workspace_settings_show(settings, shown);
	auto_destroy_show(workspace, shown);
	json_object_set_new(shown, "setting-overwrites",
		overwrites ? json_incref(overwrites) : json_pack("{s:b, s:b}", "execution-mode", 0, "agent-pool", 0));
	return shown;
}

/* Links the states that could not become the current one, if there are any. */
static void kept_link(const struct workspace_view_row *workspace, json_t *links)
{
	_cleanup_(freep) char *kept = NULL;

	if (!workspace->kept_states)
		return;
	kept = mem_printf("/api/v2/state-versions?filter[organization][name]=%s&filter[workspace][name]=%s"
			  "&filter[status]=detached",
		workspace->organization_name, workspace->name);
	json_object_set_new(links, "kept-state-versions", json_string(kept));
}

json_t *workspace_resource(const struct store *store, const struct workspace_view_row *workspace)
{
	json_auto_t *settings = json_shown(workspace->settings);
	const char *organization = workspace->organization_name, *name = workspace->name;
	_cleanup_(freep) char *self = mem_printf("/api/v2/organizations/%s/workspaces/%s", organization, name);
	_cleanup_(freep) char *html = mem_printf("/app/%s/workspaces/%s", organization, name);
	json_t *resource = resource_new("workspaces", workspace->id, workspace_attributes(store, workspace, settings),
		workspace_relations(workspace));

	json_object_set_new(resource, "links", json_pack("{s:s, s:s}", "self", self, "self-html", html));
	kept_link(workspace, json_object_get(resource, "links"));
	return resource;
}

int workspace_make(struct store *store, const void *of_row, json_t **ret_resource, struct err *err)
{
	(void)err;
	*ret_resource = workspace_resource(store, of_row);
	return 0;
}

static json_t *resource_without_runs(const struct store *store, const struct workspace_view_row *workspace)
{
	static const char *const back[] = {"current-run", "latest-run", "locked-by"};
	json_t *resource = workspace_resource(store, workspace);

	for (size_t i = 0; i < ARRAY_LEN(back); i++)
		json_object_del(json_object_get(resource, "relationships"), back[i]);
	return resource;
}

static bool included_holds(const json_t *included, const char *id)
{
	const json_t *item;
	size_t i;

	json_array_foreach(included, i, item) if (text_equal(json_string_at(item, "id"), id)) return true;
	return false;
}

void workspaces_include(const struct store *store, const struct rows *rows, json_t *included)
{
	for (int i = 0; i < rows->count; i++) {
		const struct workspace_view_row *workspace = row_of(workspace_view, rows, i);

		if (!included_holds(included, workspace->id))
			json_array_append_new(included, resource_without_runs(store, workspace));
	}
}

/* ---- reading ---- */

int workspace_show(struct request *req, struct response *res, int status, const char *id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (workspace_read(req->store, id, &rows, err) < 0)
		return -1;
	return respond_row(req, res, status, &(struct resource_rows){&kind_single_workspace, &rows}, err);
}

static int in_path_read(const struct request *req, struct rows *ret_rows, struct err *err)
{
	const char *id = param(req, "workspace");

	if (path_object_take(req, PATH_WORKSPACE, ret_rows))
		return 0;
	return *id ? workspace_read(req->store, id, ret_rows, err)
		   : workspace_read_named(req->store, param(req, "organization"), param(req, "name"), ret_rows, err);
}

/* The workspace's row also gives its place, so one query is enough. */
int workspaces_read(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct workspace_view_row *workspace;

	if (includes_check(req, &kind_single_workspace, err) < 0 || in_path_read(req, &rows, err) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_NOT_FOUND, "workspace not found");
	workspace = row_of(workspace_view, &rows, 0);
	if (may(req, (struct place){.organization = workspace->organization_id, .workspace = workspace->id},
		    "workspace", err) < 0)
		return -1;
	return respond_row(req, res, 200, &(struct resource_rows){&kind_single_workspace, &rows}, err);
}

static int page_of_workspaces(const struct request *req, const struct scope *scope, const struct page *page,
	struct rows *ret_rows, struct err *err)
{
	_cleanup_(db_array_release) struct db_array keys = DB_ARRAY_INIT, values = DB_ARRAY_INIT;
	const struct workspace_list list = {.organization_id = scope->organization.text,
		.name = text_or_null(query(req, "search[name]")),
		.wildcard = text_or_null(query(req, "search[wildcard-name]")),
		.run_status = text_or_null(query(req, "filter[current-run][status]")),
		.health = text_or_null(query(req, "filter[health]")),
		.project_ids = text_or_null(query(req, "filter[project][id]")),
		.without_tags = text_or_null(query(req, "search[exclude-tags]")),
		.tag_keys = &keys,
		.tag_values = &values,
		.sort = text_or_null(query(req, "sort")),
		.limit = page->size,
		.offset = page->offset};

	tag_filters_read(req, &keys, &values);
	return workspaces_list(req->store, &list, ret_rows, err);
}

int workspaces_index(struct request *req, struct response *res, struct err *err)
{
	return respond_list(
		req, res, &(struct resource_list){&kind_workspaces, scope_organization, page_of_workspaces}, err);
}

/* ---- creating and changing ---- */

/* A create needs the permission in the project of the body, or else in the default project. */
int workspace_may_create(const struct request *req, const struct scope *scope, const json_t *fields, struct err *err)
{
	struct place place = {
		.organization = scope->organization.text, .project = json_string_at(fields, "project-id")};
	struct id fallback;

	if (!place.project) {
		if (project_default(req->store, place.organization, &fallback, err) < 0)
			return -1;
		place.project = fallback.text;
	}
	return may(req, place, "project", err);
}

/* A move to another project needs CAN_MOVE_WORKSPACE for the workspace and for the new project. */
static int may_move(const struct request *req, const struct scope *scope, const json_t *fields, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct place from = {.organization = scope->organization.text, .workspace = scope->workspace.text};
	struct place to = {.organization = from.organization, .project = json_string_at(fields, "project-id")};

	if (!to.project)
		return 0;
	if (workspace_lookup(req->store, from.workspace, &rows, err) < 0)
		return -1;
	if (rows.count && text_equal(row_of(workspace_lookup, &rows, 0)->project_id, to.project))
		return 0;
	if (may_with(req, CAN_MOVE_WORKSPACE, from, "project", err) < 0)
		return -1;
	return may_with(req, CAN_MOVE_WORKSPACE, to, "project", err);
}

/* The scope has the workspace's id. */
static int tags_save(
	struct store *store, const struct scope *scope, const struct workspace_input *input, struct err *err)
{
	const char *organization = scope->organization.text, *id = scope->workspace.text;
	struct tag_choice choice = {organization, id, input->tag_ids, input->tag_names};
	struct binding_order order = {
		TAGGED_WORKSPACE, id, organization, input->bindings, true, "/data/relationships/tag-bindings"};

	if (input->bindings && bindings_write(store, &order, err) < 0)
		return -1;
	return input->tag_names ? tags_add(store, &choice, err) : 0;
}

/* Sets the scope's workspace. */
static int create_from(struct store *store, struct scope *scope, const struct workspace_input *input, struct err *err)
{
	const struct workspace_attributes initial = {input->fields, input->settings};

	if (workspace_create(store, scope->organization.text, initial, &scope->workspace, err) < 0)
		return -1;
	return tags_save(store, scope, input, err);
}

static int update_from(
	struct store *store, const struct scope *scope, const struct workspace_input *input, struct err *err)
{
	const struct workspace_attributes changes = {input->fields, input->settings};

	if (workspace_update(store, scope->workspace.text, changes, err) < 0 || tags_save(store, scope, input, err) < 0)
		return -1;
	if (!json_object_get(input->fields, "project-id") && !json_object_get(input->settings, "setting-overwrites"))
		return 0;
	return workspaces_inherit_mode(store, scope->organization.text, err);
}

/* Pushes start runs by the names of tags, or by branch and changed files. */
static int tags_check(const json_t *settings, struct err *err)
{
	static const struct {
		const char *name, *what;
	} lists[] = {{"trigger-patterns", "trigger patterns"}, {"trigger-prefixes", "trigger prefixes"}};
	static const char pointer[] = "/data/attributes/vcs-repo/tags-regex";

	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		if (json_array_size(json_object_get(settings, lists[i].name)))
			return err_at(err, pointer, "Tags regex can't be combined with %s", lists[i].what);
	if (json_is_true(json_object_get(settings, "file-triggers-enabled")))
		return err_at(err, pointer,
			"Tags regex can't be combined with file triggers: set file-triggers-enabled to false");
	return 0;
}

/* Checks the workspace's triggers as they are now. With a tags regex, file triggers are off unless they were set. */
static int triggers_settle(struct store *store, const char *id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	json_auto_t *settings = NULL, *used = NULL, *off = NULL, *none = NULL;

	if (vcs_used_read(store, (struct vcs_user){VCS_USER_WORKSPACE, id}, &rows, err) < 0)
		return -1;
	settings = json_shown(row_of(vcs_used, &rows, 0)->settings);
	used = json_shown(row_of(vcs_used, &rows, 0)->repository);
	if (!*text_or_empty(json_string_at(used, "tags-regex")))
		return 0;
	if (tags_check(settings, err) < 0)
		return -1;
	if (json_object_get(settings, "file-triggers-enabled"))
		return 0;
	off = json_pack("{sb}", "file-triggers-enabled", 0);
	none = json_object();
	return workspace_update(store, id, (struct workspace_attributes){none, off}, err);
}

/* The configuration of a workspace from a no-code module comes from that module. */
static int no_repository_check(struct store *store, const char *workspace_id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (no_code_workspace_find(store, workspace_id, &rows, err) < 0)
		return -1;
	return rows.count
		? err_at(err, "/data/attributes/vcs-repo", "A workspace from a no-code module can't have a repository")
		: 0;
}

/* A workspace that moves takes its repository along, if the other project may use it. */
static int repository_save(
	struct request *req, const struct scope *scope, const struct workspace_input *input, struct err *err)
{
	const char *id = scope->workspace.text, *project = json_string_at(input->fields, "project-id");
	const struct vcs_user user = {VCS_USER_WORKSPACE, id};
	json_auto_t *ids = json_pack("[s]", id);

	if (input->repository.sent && !input->repository.disconnect && no_repository_check(req->store, id, err) < 0)
		return -1;
	if (vcs_repo_save(req, user, &input->repository, NULL, err) < 0)
		return -1;
	if (project && vcs_available_check(req->store, ids, "/data/relationships/project", err) < 0)
		return -1;
	return triggers_settle(req->store, id, err);
}

int workspaces_create(struct request *req, struct response *res, struct err *err)
{
	struct workspace_input input;
	struct scope scope;
	int result;

	if (scope_organization(req, &scope, err) < 0)
		return -1;
	result = workspace_input_read(req, &scope, &input, err);
	if (result == 0)
		result = workspace_may_create(req, &scope, input.fields, err);
	if (result == 0)
		result = create_from(req->store, &scope, &input, err);
	if (result == 0)
		result = repository_save(req, &scope, &input, err);
	workspace_input_release(&input);
	return result == 0 ? workspace_show(req, res, 201, scope.workspace.text, err) : -1;
}

int workspaces_update(struct request *req, struct response *res, struct err *err)
{
	struct workspace_input input;
	struct scope scope;
	int result;

	if (scope_workspace(req, &scope, err) < 0)
		return -1;
	result = workspace_input_read(req, &scope, &input, err);
	if (result == 0)
		result = may_move(req, &scope, input.fields, err);
	if (result == 0)
		result = update_from(req->store, &scope, &input, err);
	if (result == 0)
		result = repository_save(req, &scope, &input, err);
	workspace_input_release(&input);
	return result == 0 ? workspace_show(req, res, 200, scope.workspace.text, err) : -1;
}

/* A force delete loses track of the resources that the workspace manages. It needs an owner, or an organization that
 * allows force deletes. */
static int may_force(const struct request *req, const struct scope *scope, struct err *err)
{
	bool guarded;

	if (workspace_guarded(req->store, scope->workspace.text, &guarded, err) < 0)
		return -1;
	if (!guarded ||
		may_with(req, CAN_MANAGE_ORGANIZATION, (struct place){.organization = scope->organization.text},
			"organization", err) == 0)
		return 0;
	if (err->kind != ERR_NOT_FOUND)
		return -1;
	return err_set(err, ERR_FORBIDDEN, "not authorized to perform a force delete on the workspace");
}

int workspaces_delete(struct request *req, struct response *res, struct err *err)
{
	struct scope scope;

	if (scope_workspace(req, &scope, err) < 0 || may_force(req, &scope, err) < 0 ||
		workspace_delete(req->store, scope.workspace.text, false, err) < 0)
		return -1;
	return respond_empty(res, 204);
}

int workspaces_safe_delete(struct request *req, struct response *res, struct err *err)
{
	struct scope scope;

	if (scope_workspace(req, &scope, err) < 0 || workspace_delete(req->store, scope.workspace.text, true, err) < 0)
		return -1;
	return respond_empty(res, 204);
}

/* ---- the lock ---- */

/* Reads the reason. Clients send it as an attribute of a document, or as {"reason": ...}. */
static int reason_read(const struct request *req, const char **ret_reason, struct err *err)
{
	if (body_text(req, "reason", ret_reason, err) < 0)
		return -1;
	if (!*ret_reason)
		*ret_reason = json_string_at(req->body, "reason");
	return 0;
}

int workspaces_lock(struct request *req, struct response *res, struct err *err)
{
	const char *reason = NULL;
	struct scope scope;

	if (reason_read(req, &reason, err) < 0 || scope_workspace(req, &scope, err) < 0 ||
		workspace_lock(req->store, scope.workspace.text, req->actor.user.text, reason, err) < 0)
		return -1;
	return workspace_show(req, res, 200, scope.workspace.text, err);
}

static int unlock(struct request *req, struct response *res, const struct scope *scope, bool force, struct err *err)
{
	if (workspace_unlock(req->store, scope->workspace.text, req->actor.user.text, force, err) < 0 ||
		workspace_kick(req->store, scope->workspace.text, err) < 0)
		return -1;
	return workspace_show(req, res, 200, scope->workspace.text, err);
}

int workspaces_unlock(struct request *req, struct response *res, struct err *err)
{
	struct scope scope;

	if (scope_workspace(req, &scope, err) < 0)
		return -1;
	return unlock(req, res, &scope, false, err);
}

/* For a held workspace, this ends the hold. */
int workspaces_force_unlock(struct request *req, struct response *res, struct err *err)
{
	struct hold_order order = {.event = HOLD_RELEASED, .actor = req->actor.user.text};
	struct scope scope;
	bool ended;

	if (reason_read(req, &order.reason, err) < 0 || scope_workspace(req, &scope, err) < 0)
		return -1;
	order.workspace_id = scope.workspace.text;
	if (hold_release(req->store, &order, &ended, err) < 0)
		return -1;
	if (ended)
		return workspace_show(req, res, 200, scope.workspace.text, err);
	return unlock(req, res, &scope, true, err);
}
