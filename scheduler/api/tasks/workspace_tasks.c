/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/api.h"
#include "scheduler/api/resources.h"
#include "scheduler/store/tasks/workspace_tasks.h"
#include "scheduler/api/tasks/tasks.h"
#include "scheduler/http/scope.h"
#include "scheduler/store/tasks/workspace_tasks.sql.h"

json_t *workspace_task_resource(const void *of_row)
{
	const struct workspace_task_row *task = of_row;
	_cleanup_(freep) char *self = mem_printf("/api/v2/workspaces/%s/tasks/%s", task->workspace_id, task->id);
	json_t *stages = json_shown(task->stages);
	json_t *resource = resource_new("workspace-tasks", task->id,
		json_pack("{ss sO so so}", "enforcement-level", task->enforcement, "stage", json_array_get(stages, 0),
			"stages", stages, "created-at", time_shown(task->created_at)),
		json_pack("{so so}", "task", to_one("tasks", task->task_id), "workspace",
			to_one("workspaces", task->workspace_id)));

	json_object_set_new(resource, "links", json_pack("{ss}", "self", self));
	return resource;
}

static int workspace_task_read_resource(
	struct store *store, const char *workspace_id, const char *id, json_t **ret_resource, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (workspace_task_read(store, workspace_id, id, &rows, err) < 0)
		return -1;
	*ret_resource = workspace_task_resource(row_of(workspace_task, &rows, 0));
	return 0;
}

static const struct resource_kind kind_workspace_tasks = {.type = "workspace-tasks", .show = workspace_task_resource};

static int page_of_workspace_tasks(const struct request *req, const struct scope *scope, const struct page *page,
	struct rows *ret_rows, struct err *err)
{
	return workspace_tasks_list(
		req->store, scope->workspace.text, (struct list_range){page->size, page->offset}, ret_rows, err);
}

int workspace_tasks_index(struct request *req, struct response *res, struct err *err)
{
	return respond_list(req, res,
		&(struct resource_list){&kind_workspace_tasks, scope_workspace, page_of_workspace_tasks}, err);
}

static const struct inclusion includes[] = {{"workspace", "workspace-tasks", "workspace", &kind_workspaces}};

static const struct resource_kind kind_of_task = {
	.type = "workspace-tasks", .show = workspace_task_resource, KIND_INCLUDES(includes)};

static int scope_task(const struct request *req, struct scope *ret_scope, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	(void)ret_scope;
	return task_in_path(req, &rows, err);
}

static int page_of_task(const struct request *req, const struct scope *scope, const struct page *page,
	struct rows *ret_rows, struct err *err)
{
	(void)scope;
	return workspace_tasks_of_task(
		req->store, param(req, "task"), (struct list_range){page->size, page->offset}, ret_rows, err);
}

int tasks_attached(struct request *req, struct response *res, struct err *err)
{
	return respond_list(req, res, &(struct resource_list){&kind_of_task, scope_task, page_of_task}, err);
}

int workspace_tasks_read(struct request *req, struct response *res, struct err *err)
{
	struct scope scope;
	json_t *resource;

	if (scope_workspace(req, &scope, err) < 0)
		return -1;
	if (workspace_task_read_resource(req->store, scope.workspace.text, param(req, "attached"), &resource, err) < 0)
		return -1;
	return respond_resource(res, 200, resource);
}

/* ---- creating and changing ---- */

/* Reads `stages`, or the deprecated `stage`. A new reference that replaces *stages. */
static int stages_read(const struct request *req, json_t **stages, struct err *err)
{
	const json_t *list = NULL;
	const char *stage = NULL;
	json_auto_t *single = NULL;
	json_t *named = NULL;

	if (body_texts(req, "stages", &list, err) < 0 || body_text(req, "stage", &stage, err) < 0)
		return -1;
	if (!json_array_size(list) && stage)
		list = single = json_pack("[s]", stage);
	if (list && !json_array_size(list))
		return err_at(err, "/data/attributes/stages", "Stages can't be empty");
	if (!list)
		return 0;
	if (task_stages_read_names(list, single ? "/data/attributes/stage" : "/data/attributes/stages", &named, err) <
		0)
		return -1;
	json_decref(*stages);
	*stages = named;
	return 0;
}

static int input_read(
	const struct request *req, json_t **stages, struct workspace_task *workspace_task, struct err *err)
{
	if (body_check(req, "workspace-tasks", err) < 0 ||
		body_text(req, "enforcement-level", &workspace_task->enforcement, err) < 0 ||
		task_enforcement_check(workspace_task->enforcement, "/data/attributes/enforcement-level", err) < 0 ||
		stages_read(req, stages, err) < 0)
		return -1;
	workspace_task->stages = *stages;
	return 0;
}

int workspace_tasks_create(struct request *req, struct response *res, struct err *err)
{
	json_auto_t *stages = json_pack("[s]", "post_plan");
	struct workspace_task workspace_task = {.task_id = body_relation(req, "task")};
	struct scope scope;
	struct id id;
	json_t *resource;

	if (scope_workspace(req, &scope, err) < 0 || input_read(req, &stages, &workspace_task, err) < 0)
		return -1;
	if (!workspace_task.task_id)
		return err_at(err, "/data/relationships/task", "Task must exist");
	if (workspace_task_create(req->store, scope.workspace.text, &workspace_task, &id, err) < 0)
		return -1;
	if (workspace_task_read_resource(req->store, scope.workspace.text, id.text, &resource, err) < 0)
		return -1;
	return respond_resource(res, 201, resource);
}

int workspace_tasks_update(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct workspace_task_row *before;
	json_auto_t *stages = NULL;
	struct workspace_task workspace_task;
	struct scope scope;
	json_t *resource;

	if (scope_workspace(req, &scope, err) < 0 ||
		workspace_task_read(req->store, scope.workspace.text, param(req, "attached"), &rows, err) < 0)
		return -1;
	before = row_of(workspace_task, &rows, 0);
	stages = json_shown(before->stages);
	workspace_task.enforcement = before->enforcement;
	if (input_read(req, &stages, &workspace_task, err) < 0 ||
		workspace_task_update(req->store, before->id, &workspace_task, err) < 0 ||
		workspace_task_read_resource(req->store, scope.workspace.text, before->id, &resource, err) < 0)
		return -1;
	return respond_resource(res, 200, resource);
}

int workspace_tasks_delete(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct scope scope;

	if (scope_workspace(req, &scope, err) < 0 ||
		workspace_task_read(req->store, scope.workspace.text, param(req, "attached"), &rows, err) < 0 ||
		workspace_task_delete(req->store, row_of(workspace_task, &rows, 0)->id, err) < 0)
		return -1;
	return respond_empty(res, 204);
}
