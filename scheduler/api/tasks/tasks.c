/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/tasks/tasks.h"

#include "scheduler/api/api.h"

#include <string.h>

#include "scheduler/api/kinds.h"
#include "scheduler/api/tasks/task_verify.h"
#include "scheduler/api/tasks/test_request.h"
#include "scheduler/api/workers/pools.h"
#include "scheduler/api/workspaces/workspaces.h"
#include "scheduler/api/request_audit.h"
#include "scheduler/http/scope.h"
#include "scheduler/store/names.h"
#include "scheduler/store/tasks/task_payload.h"
#include "scheduler/store/tasks/tasks.h"
#include "scheduler/store/tasks/task_payload.sql.h"
#include "scheduler/store/tasks/tasks.sql.h"
#include "scheduler/store/tasks/workspace_tasks.h"
#include "scheduler/store/tasks/workspace_tasks.sql.h"
#include "scheduler/store/workers/pools.h"
#include "scheduler/store/workspaces/workspaces.h"

/* An organization's run tasks. A task's URL is tested before it is stored, unless an update leaves the task
 * disabled. */

enum { MAX_DESCRIPTION = 1000, MAX_KEY = 1000 };

/* ---- the resource ---- */

static json_t *task_resource(const struct task_row *task)
{
	_cleanup_(freep) char *self = mem_printf("/api/v2/tasks/%s", task->id);
	json_t *resource = resource_new("tasks", task->id,
		json_pack("{ss ss ss ss sn sb s{sb so ss} so so}", "category", "task", "name", task->name, "url",
			task->url, "description", task->description, "hmac-key", "enabled", task->enabled,
			"global-configuration", "enabled", task->global_enabled, "stages", json_shown(task->stages),
			"enforcement-level", task->global_enforcement, "created-at", time_shown(task->created_at),
			"updated-at", time_shown(task->updated_at)),
		json_pack("{so so so}", "organization", to_one("organizations", task->organization_name),
			"workspace-tasks", many_shown("workspace-tasks", task->workspace_tasks), "agent-pool",
			to_one("agent-pools", task->pool_id)));

	json_object_set_new(resource, "links", json_pack("{ss}", "self", self));
	return resource;
}

/* ---- included ---- */

static const char *const includes[] = {"workspace_tasks", "workspace_tasks.workspace", NULL};

static int include_workspaces(struct request *req, const struct rows *attached, json_t *included, struct err *err)
{
	_cleanup_(db_array_release) struct db_array ids = DB_ARRAY_INIT;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	for (int i = 0; i < attached->count; i++)
		db_array_add(&ids, row_of(workspace_task, attached, i)->workspace_id);
	if (kind_read(req->store, &kind_workspaces, &ids, &rows, err) < 0)
		return -1;
	workspaces_include(req->store, &rows, included);
	return 0;
}

/* The workspace tasks and workspaces to which the tasks of `rows` are attached, as far as the request includes them.
 * NULL if it does not. */
static int tasks_include(struct request *req, const struct rows *rows, json_t **ret_included, struct err *err)
{
	_cleanup_(db_array_release) struct db_array ids = DB_ARRAY_INIT;
	_cleanup_(rows_release) struct rows attached = ROWS_INIT;
	bool workspaces = query_includes(req, includes[1]);
	json_auto_t *included = json_array();

	*ret_included = NULL;
	if (!workspaces && !query_includes(req, includes[0]))
		return 0;
	for (int i = 0; i < rows->count; i++)
		db_array_add(&ids, row_of(task, rows, i)->id);
	if (workspace_tasks_of(req->store, &ids, &attached, err) < 0)
		return -1;
	for (int i = 0; i < attached.count; i++)
		json_array_append_new(included, workspace_task_resource(row_of(workspace_task, &attached, i)));
	if (workspaces && include_workspaces(req, &attached, included, err) < 0)
		return -1;
	*ret_included = json_incref(included);
	return 0;
}

/* ---- reading ---- */

int task_in_path(const struct request *req, struct rows *ret_rows, struct err *err)
{
	if (task_read(req->store, param(req, "task"), ret_rows, err) < 0)
		return -1;
	return may(req, (struct place){.organization = row_of(task, ret_rows, 0)->organization_id}, "run task", err);
}

static int task_show(struct request *req, struct response *res, int status, const char *id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	json_t *included;

	if (task_read(req->store, id, &rows, err) < 0 || tasks_include(req, &rows, &included, err) < 0)
		return -1;
	return respond_including(res, status, task_resource(row_of(task, &rows, 0)), included);
}

int tasks_index(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	json_t *data, *included;
	struct scope scope;
	struct page page;

	if (query_includes_check(req, includes, err) < 0 || page_read(req, &page, err) < 0 ||
		scope_organization(req, &scope, err) < 0 ||
		tasks_list(req->store, scope.organization.text, (struct list_range){page.size, page.offset}, &rows,
			err) < 0 ||
		tasks_include(req, &rows, &included, err) < 0)
		return -1;
	page.total = row_of(task, &rows, 0)->total;
	data = json_array();
	for (int i = 0; i < rows.count && row_of(task, &rows, i)->id; i++)
		json_array_append_new(data, task_resource(row_of(task, &rows, i)));
	return respond_page(req, res, &page, data, included);
}

int tasks_read(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (query_includes_check(req, includes, err) < 0 || task_in_path(req, &rows, err) < 0)
		return -1;
	return task_show(req, res, 200, row_of(task, &rows, 0)->id, err);
}

/* ---- input ---- */

static const char *const stage_names[] = {"pre_plan", "post_plan", "pre_apply", "post_apply"};
static const char *const levels[] = {"advisory", "mandatory"};

static bool one_of(const char *text, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (text_equal(text, words[i]))
			return true;
	return false;
}

int task_stages_read_names(const json_t *list, const char *pointer, json_t **ret_stages, struct err *err)
{
	json_auto_t *seen = json_object(), *named = json_array();
	json_t *item;
	size_t i;

	if (!json_is_array(list))
		return err_at(err, pointer, "Stages must be a list of stages");
	json_array_foreach((json_t *)list, i, item)
	{
		const char *name = json_string_value(item);

		if (!one_of(name, stage_names, ARRAY_LEN(stage_names)))
			return err_at(
				err, pointer, "Stages may only hold pre_plan, post_plan, pre_apply and post_apply");
		if (!json_object_get(seen, name))
			json_array_append(named, item);
		json_object_set(seen, name, item);
	}
	*ret_stages = json_incref(named);
	return 0;
}

int task_enforcement_check(const char *level, const char *pointer, struct err *err)
{
	if (one_of(level, levels, ARRAY_LEN(levels)))
		return 0;
	return err_at(err, pointer, "Enforcement level must be advisory or mandatory");
}

/* A task from a body, with the stages as a new reference. */
struct task_input {
	struct task task;
	json_t *stages;
};

static void task_input_release(struct task_input *input)
{
	json_decref(input->stages);
}

#define GLOBAL "/data/attributes/global-configuration"

static int global_read(const struct request *req, struct task_input *input, struct err *err)
{
	const json_t *global = json_at(req->body, "data.attributes.global-configuration");
	const json_t *enabled = json_object_get(global, "enabled"), *stages = json_object_get(global, "stages");
	const json_t *level = json_object_get(global, "enforcement-level");
	json_t *named = NULL;

	if (!global || json_is_null(global))
		return 0;
	if (!json_is_object(global) || (enabled && !json_is_boolean(enabled)))
		return err_at(err, GLOBAL, "Global configuration must be {enabled, stages, enforcement-level}");
	if (enabled)
		input->task.global = json_is_true(enabled);
	if (stages && task_stages_read_names(stages, GLOBAL "/stages", &named, err) < 0)
		return -1;
	if (named) {
		json_decref(input->stages);
		input->stages = named;
	}
	if (level && task_enforcement_check(json_string_value(level), GLOBAL "/enforcement-level", err) < 0)
		return -1;
	if (level)
		input->task.global_enforcement = json_string_value(level);
	if (input->task.global && !json_array_size(input->stages))
		return err_at(err, GLOBAL "/stages", "Stages can't be empty in a global configuration that is enabled");
	return 0;
}

static int task_check(const struct task *task, struct err *err)
{
	if (name_check("Name", "/data/attributes/name", task->name, err) < 0 ||
		test_request_url_check(task->url, err) < 0)
		return -1;
	if (strlen(task->description) > MAX_DESCRIPTION)
		return err_at(err, "/data/attributes/description", "Description is too long (maximum is %d characters)",
			MAX_DESCRIPTION);
	if (strlen(text_or_empty(task->hmac_key)) > MAX_KEY)
		return err_at(
			err, "/data/attributes/hmac-key", "HMAC key is too long (maximum is %d characters)", MAX_KEY);
	return 0;
}

/* Reads a body into *input. Attributes that were not sent stay as they are. */
static int input_read(const struct request *req, const char *organization_id, struct task_input *input, struct err *err)
{
	const struct pool_use use = {.organization_id = organization_id, .anywhere = true};
	static const char refusal[] = "The provided agent pool does not exist or you are not authorized to use it";
	struct task *task = &input->task;
	const char *category = "task";

	if (body_check(req, "tasks", err) < 0 || body_text(req, "name", &task->name, err) < 0 ||
		body_text(req, "url", &task->url, err) < 0 ||
		body_text(req, "description", &task->description, err) < 0 ||
		body_text(req, "hmac-key", &task->hmac_key, err) < 0 ||
		body_text(req, "category", &category, err) < 0 || body_bool(req, "enabled", &task->enabled, err) < 0 ||
		global_read(req, input, err) < 0 ||
		body_pool(req, "agent-pool", &use, refusal, &task->pool_id, err) < 0)
		return -1;
	if (category && !text_equal(category, "task"))
		return err_at(err, "/data/attributes/category", "Category must be task");
	task->description = text_or_empty(task->description);
	task->global_stages = input->stages;
	return task_check(task, err);
}

/* ---- creating and changing ---- */

int tasks_create(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(task_input_release) struct task_input input = {
		.task = {.enabled = true, .global_enforcement = "advisory"}, .stages = json_array()};
	struct scope scope;
	struct id id;

	if (scope_organization(req, &scope, err) < 0 || input_read(req, scope.organization.text, &input, err) < 0 ||
		task_verify(req->store, scope.organization_name, &input.task, text_or_empty(input.task.hmac_key), err) <
			0 ||
		request_audit_begin(req, err) < 0 ||
		task_create(req->store, scope.organization.text, &input.task, &id, err) < 0)
		return -1;
	return task_show(req, res, 201, id.text, err);
}

/* A disabled task is not tested: its URL may be unreachable. */
static bool must_verify(const struct task_row *old, const struct task *task)
{
	if (!task->enabled)
		return false;
	return task->hmac_key || !old->enabled || !text_equal(task->url, old->url) ||
		!text_equal(text_or_empty(task->pool_id), text_or_empty(old->pool_id));
}

static int update_verify(struct request *req, const struct task_row *old, const struct task *task, struct err *err)
{
	_cleanup_(buf_release) struct buf key = BUF_INIT(TASK_KEY_LIMIT);

	if (!must_verify(old, task))
		return 0;
	if (!task->hmac_key && task_key_open(req->store, old, &key, err) < 0)
		return -1;
	return task_verify(
		req->store, old->organization_name, task, task->hmac_key ? task->hmac_key : buf_str(&key), err);
}

int tasks_update(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(task_input_release) struct task_input input = {.stages = NULL};
	const struct task_row *old;

	if (task_in_path(req, &rows, err) < 0)
		return -1;
	old = row_of(task, &rows, 0);
	input.stages = json_shown(old->stages);
	input.task = (struct task){.name = old->name,
		.url = old->url,
		.description = old->description,
		.pool_id = old->pool_id,
		.updated_at = old->updated_at,
		.enabled = old->enabled,
		.global = old->global_enabled,
		.global_enforcement = old->global_enforcement};
	if (input_read(req, old->organization_id, &input, err) < 0 || update_verify(req, old, &input.task, err) < 0 ||
		request_audit_begin(req, err) < 0 || task_update(req->store, old->id, &input.task, err) < 0)
		return -1;
	return task_show(req, res, 200, old->id, err);
}

int tasks_delete(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (task_in_path(req, &rows, err) < 0 || task_delete(req->store, row_of(task, &rows, 0)->id, err) < 0)
		return -1;
	return respond_empty(res, 204);
}

/* ---- an example ---- */

static json_t *example_resource(const struct task_row *task, const struct task_request *request)
{
	return resource_new("task-examples", task->id,
		json_pack("{ss ss s{ss ss ss} ss so}", "method", "POST", "url", task->url, "headers", "Content-Type",
			"application/json", "User-Agent", request->user_agent, "X-TFC-Task-Signature",
			request->signature, "body", request->body, "payload", json_loads(request->body, 0, NULL)),
		json_pack("{so}", "task", to_one("tasks", task->id)));
}

/* An example of a request to the task, signed with its key: that for the organization's last run, or the test request
 * if there is no run yet. */
int tasks_example(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT, run = ROWS_INIT;
	_cleanup_(buf_release) struct buf key = BUF_INIT(TASK_KEY_LIMIT);
	_cleanup_(task_request_release) struct task_request request = {.body = NULL};
	const struct task_address address = {.public_url = req->store->settings->public_url,
		.callback_url = req->store->settings->public_url,
		.token = TASK_TEST_TOKEN};
	const struct task_row *task;

	if (task_in_path(req, &rows, err) < 0)
		return -1;
	task = row_of(task, &rows, 0);
	if (task_key_open(req->store, task, &key, err) < 0 || task_example(req->store, task->id, &run, err) < 0)
		return -1;
	if (run.count)
		task_request_sign(
			req->store, task_payload(row_of(task_call, &run, 0), &address), buf_str(&key), &request);
	else
		task_request_test(req->store, task->organization_name, buf_str(&key), &request);
	return respond_resource(res, 200, example_resource(task, &request));
}
