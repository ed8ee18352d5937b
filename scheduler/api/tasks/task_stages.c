/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/tasks/task_stages.h"

#include "proto/states.h"
#include "scheduler/api/access/permissions.h"
#include "scheduler/api/include_resolver.h"
#include "scheduler/api/kinds.h"
#include "scheduler/api/policies/policy_evaluations.h"
#include "scheduler/api/resources.h"
#include "scheduler/api/runs/runs.h"
#include "scheduler/http/columns.h"
#include "scheduler/http/relations.h"
#include "scheduler/runs/transition.h"
#include "scheduler/store/tasks/task_views.h"
#include "scheduler/store/tasks/task_views.sql.h"

/* Task stages, task results, outcomes and the delivery log. They are read-only here: runs and notifiers write them. */

/* Only policies can await an override. A mandatory run task that failed ends the run. */
static bool awaits_override(const struct task_stage_row *row)
{
	return row->evaluation_status && text_equal(row->run_stage, stages[STAGE_OPA].name) &&
		text_equal(row->run_status, run_statuses[RUN_POLICY_OVERRIDE].name);
}

static json_t *task_stage_resource(const void *of_row)
{
	const struct task_stage_row *stage = of_row;
	bool may = rights_may(stage->rights, CAN_OVERRIDE);

	return resource_new("task-stages", stage->id,
		json_pack("{ss ss so so so s{sb sb sb} s{sb}}", "stage", stage->stage, "status", stage->status,
			"status-timestamps", json_shown(stage->status_timestamps), "created-at",
			time_shown(stage->created_at), "updated-at", time_shown(stage->updated_at), "permissions",
			"can-override-policy", may, "can-override-tasks", may, "can-override", may, "actions",
			"is-overridable", awaits_override(stage) && !stage->override_barred),
		json_pack("{so so so}", "run", to_one("runs", stage->run_id), "task-results",
			many_shown("task-results", stage->results), "policy-evaluations",
			relation_linked(many_shown("policy-evaluations", stage->evaluations), "task-stages", stage->id,
				"policy-evaluations")));
}

static const struct inclusion includes[] = {
	{"run", "task-stages", "run", &kind_runs},
	{"run.workspace", "runs", "workspace", &kind_workspaces},
	{"task_results", "task-stages", "task-results", &kind_task_results},
	{"policy_evaluations", "task-stages", "policy-evaluations", &kind_policy_evaluations},
};

const struct resource_kind kind_task_stages = {
	.type = "task-stages", .ask = task_stage_views_of, .show = task_stage_resource, KIND_INCLUDES(includes)};

static const struct cell_shown result_attributes[] = {
	CELL("status", task_result, status),
	CELL("message", task_result, message),
	CELL("url", task_result, url),
	CELL("stage", task_result, stage),
	CELL_JSON("status-timestamps", task_result, status_timestamps),
	CELL_TIME("created-at", task_result, created_at),
	CELL_TIME("updated-at", task_result, updated_at),
	CELL("task-id", task_result, task_id),
	CELL("task-name", task_result, task_name),
	CELL("task-url", task_result, task_url),
	CELL("workspace-task-id", task_result, workspace_task_id),
	CELL("workspace-task-enforcement-level", task_result, enforcement),
	CELL("is-speculative", task_result, plan_only),
	CELL("agent-pool-id", task_result, pool_id),
	CELL("delivery-error", task_result, delivery_error),
};

json_t *task_result_resource(const void *of_row)
{
	const struct task_result_row *result = of_row;
	json_t *attributes = cells_shown(result_attributes, ARRAY_LEN(result_attributes), result);

	json_object_set_new(
		attributes, "task-result-outcomes-count", json_integer((json_int_t)ids_count(result->outcomes)));
	return resource_new("task-results", result->id, attributes,
		json_pack("{so so so}", "task_stage", to_one("task-stages", result->task_stage_id), "task-stage",
			to_one("task-stages", result->task_stage_id), "task-result-outcomes",
			relation_linked(many_shown("task-result-outcomes", result->outcomes), "task-results",
				result->id, "outcomes")));
}

const struct resource_kind kind_task_results = {
	.type = "task-results", .ask = task_result_views_of, .show = task_result_resource};

static json_t *rows_as(const struct rows *rows, json_t *(*show)(const void *row))
{
	json_t *data = json_array();

	for (int i = 0; i < rows->count; i++)
		json_array_append_new(data, show(row_cells(rows, i)));
	return data;
}

int task_stages_of_run(struct store *store, const char *run_id, json_t **ret_stages, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (task_stages_view(store, run_id, &rows, err) < 0)
		return -1;
	*ret_stages = rows_as(&rows, task_stage_resource);
	return 0;
}

/* ---- stages ---- */

int task_stages_index(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows run = ROWS_INIT;
	json_auto_t *own = NULL;
	json_t *included;
	struct page page;

	if (includes_check(req, &kind_task_stages, err) < 0 || run_in_path(req, &run, err) < 0 ||
		page_read(req, &page, err) < 0 || task_stages_of_run(req->store, run_of(&run)->id, &own, err) < 0 ||
		includes_follow(req, &kind_task_stages, own, &included, err) < 0)
		return -1;
	return respond_slice(req, res, &page, own, included);
}

int task_stage_in_path(struct request *req, struct rows *ret_rows, struct err *err)
{
	if (task_stage_view(req->store, param(req, "stage"), ret_rows, err) < 0)
		return -1;
	return may(req, place_of(row_of(task_stage, ret_rows, 0)), "task stage", err);
}

static int stage_show(struct request *req, struct response *res, const char *id, struct err *err)
{
	_cleanup_(rows_release) struct rows stage = ROWS_INIT;

	if (task_stage_view(req->store, id, &stage, err) < 0)
		return -1;
	return respond_row(req, res, 200, &(struct resource_rows){&kind_task_stages, &stage}, err);
}

int task_stages_read(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows stage = ROWS_INIT;

	if (includes_check(req, &kind_task_stages, err) < 0 || task_stage_in_path(req, &stage, err) < 0)
		return -1;
	return stage_show(req, res, row_of(task_stage, &stage, 0)->id, err);
}

int task_stages_override(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct run_transition item = {.event = {.kind = EV_OVERRIDDEN}, .actor = req->actor.user.text};
	const struct task_stage_row *stage;

	if (task_stage_in_path(req, &rows, err) < 0 || body_comment(req, &item.comment, err) < 0)
		return -1;
	stage = row_of(task_stage, &rows, 0);
	if (!awaits_override(stage))
		return err_set(err, ERR_CONFLICT, "the task stage is not waiting for an override");
	if (stage->override_barred)
		return err_set(err, ERR_CONFLICT, "a policy failed whose policy set can't be overridden");
	text_copy(item.run.text, sizeof(item.run.text), stage->run_id);
	if (run_apply_transition(req->store, &item, err) < 0)
		return -1;
	return stage_show(req, res, stage->id, err);
}

int policy_evaluations_index(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct task_stage_row *stage;
	json_auto_t *data = NULL;
	struct page page;

	if (page_read(req, &page, err) < 0 || task_stage_in_path(req, &rows, err) < 0)
		return -1;
	stage = row_of(task_stage, &rows, 0);
	if (!text_equal(stage->stage, stages[STAGE_POST_PLAN].name))
		data = json_array();
	else if (policy_evaluations_of_run(req->store, stage->run_id, &data, err) < 0)
		return -1;
	return respond_slice(req, res, &page, data, NULL);
}

/* ---- results ---- */

static int result_in_path(struct request *req, struct rows *ret_rows, struct err *err)
{
	if (task_result_view(req->store, param(req, "result"), ret_rows, err) < 0)
		return -1;
	return may(req, place_of(row_of(task_result, ret_rows, 0)), "task result", err);
}

int task_results_read(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (result_in_path(req, &rows, err) < 0)
		return -1;
	return respond_resource(res, 200, task_result_resource(row_of(task_result, &rows, 0)));
}

/* Services send tags as an object. Clients read them as an array. */
static json_t *outcome_tags(const struct task_outcome_row *outcome)
{
	json_auto_t *tags = json_shown(outcome->tags);
	json_t *list = json_array();
	const char *label;
	json_t *value;

	json_object_foreach(tags, label, value)
		json_array_append_new(list, json_pack("{ss sO}", "label", label, "value", value));
	return list;
}

static json_t *outcome_resource(const void *of_row)
{
	const struct task_outcome_row *outcome = of_row;
	_cleanup_(freep) char *body = mem_printf("/api/v2/task-result-outcomes/%s/body", outcome->id);
	json_t *resource = resource_new("task-result-outcomes", outcome->id,
		json_pack("{ss ss so so}", "outcome-id", outcome->outcome_id, "description", outcome->description,
			"url", json_string_or_null(outcome->url), "tags", outcome_tags(outcome)),
		json_pack("{so}", "task-result", to_one("task-results", outcome->task_result_id)));

	json_object_set_new(resource, "links", json_pack("{ss}", "body", body));
	return resource;
}

int task_outcomes_index(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows result = ROWS_INIT, outcomes = ROWS_INIT;

	if (result_in_path(req, &result, err) < 0 ||
		task_outcomes_view(req->store, row_of(task_result, &result, 0)->id, &outcomes, err) < 0)
		return -1;
	return respond_json(res, 200, json_pack("{so}", "data", rows_as(&outcomes, outcome_resource)));
}

static int outcome_in_path(struct request *req, struct rows *ret_rows, struct err *err)
{
	if (task_outcome_view(req->store, param(req, "outcome"), ret_rows, err) < 0)
		return -1;
	return may(req, place_of(row_of(task_outcome, ret_rows, 0)), "task result outcome", err);
}

int task_outcomes_read(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (outcome_in_path(req, &rows, err) < 0)
		return -1;
	return respond_resource(res, 200, outcome_resource(row_of(task_outcome, &rows, 0)));
}

/* The body is Markdown of a third party. It is sent as plain text, so that browsers do not render it as a page. */
int task_outcomes_body(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct buf body = BUF_INIT(SIZE_MAX / 2);

	if (outcome_in_path(req, &rows, err) < 0)
		return -1;
	buf_text(&body, text_or_empty(row_of(task_outcome, &rows, 0)->body));
	return respond_bytes(res, "text/plain; charset=utf-8", &body);
}

/* ---- deliveries ---- */

static json_t *delivery_resource(const void *of_row)
{
	const struct task_deliveries_view_row *delivery = of_row;
	_cleanup_(freep) char *id = mem_printf("%lld", delivery->id);

	return resource_new("task-deliveries", id,
		json_pack("{so sI sf so so}", "sent-at", time_shown(delivery->sent_at), "status",
			(json_int_t)delivery->status, "seconds", delivery->seconds, "answer",
			json_string_or_null(delivery->answer), "error", json_string_or_null(delivery->error)),
		NULL);
}

int task_deliveries_index(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows result = ROWS_INIT, deliveries = ROWS_INIT;

	if (result_in_path(req, &result, err) < 0 ||
		task_deliveries_view(req->store, row_of(task_result, &result, 0)->id, &deliveries, err) < 0)
		return -1;
	return respond_json(res, 200, json_pack("{so}", "data", rows_as(&deliveries, delivery_resource)));
}

int task_results_redeliver(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (result_in_path(req, &rows, err) < 0 ||
		task_result_redeliver(req->store, row_of(task_result, &rows, 0)->id, err) < 0)
		return -1;
	return respond_empty(res, 202);
}
