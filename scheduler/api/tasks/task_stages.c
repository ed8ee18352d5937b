/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/tasks/task_stages.h"

#include "proto/states.h"
#include "scheduler/api/access/permissions.h"
#include "scheduler/api/kinds.h"
#include "scheduler/api/policies/policy_evaluations.h"
#include "scheduler/api/runs/runs.h"
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

static json_t *task_stage_resource(const struct rows *rows, int row)
{
	bool may = rights_may(row_of(task_stage, rows, row)->rights, CAN_OVERRIDE);

	return resource_new("task-stages", row_of(task_stage, rows, row)->id,
		json_pack("{so so so so so s{sb sb sb} s{sb}}", "stage",
			json_string_or_null(row_of(task_stage, rows, row)->stage), "status",
			json_string_or_null(row_of(task_stage, rows, row)->status), "status-timestamps",
			json_shown(row_of(task_stage, rows, row)->status_timestamps), "created-at",
			time_shown(row_of(task_stage, rows, row)->created_at), "updated-at",
			time_shown(row_of(task_stage, rows, row)->updated_at), "permissions", "can-override-policy",
			may, "can-override-tasks", may, "can-override", may, "actions", "is-overridable",
			awaits_override(row_of(task_stage, rows, row)) &&
				!row_of(task_stage, rows, row)->override_barred),
		json_pack("{so so so}", "run", to_one("runs", row_of(task_stage, rows, row)->run_id), "task-results",
			many_shown("task-results", row_of(task_stage, rows, row)->results), "policy-evaluations",
			relation_linked(many_shown("policy-evaluations", row_of(task_stage, rows, row)->evaluations),
				"task-stages", row_of(task_stage, rows, row)->id, "policy-evaluations")));
}

const struct resource_kind kind_task_stages = {
	.type = "task-stages", .ask = task_stage_views_of, .resource = task_stage_resource};

json_t *task_result_resource(const struct rows *rows, int row)
{
	json_auto_t *outcomes = json_shown(row_of(task_results, rows, row)->outcomes);
	json_t *attributes = json_pack("{so so so so so so so so so so so so sb sI sn}", "status",
		json_string_or_null(row_of(task_results, rows, row)->status), "message",
		json_string_or_null(row_of(task_results, rows, row)->message), "url",
		json_string_or_null(row_of(task_results, rows, row)->url), "stage",
		json_string_or_null(row_of(task_results, rows, row)->stage), "status-timestamps",
		json_shown(row_of(task_results, rows, row)->status_timestamps), "created-at",
		time_shown(row_of(task_results, rows, row)->created_at), "updated-at",
		time_shown(row_of(task_results, rows, row)->updated_at), "task-id",
		json_string_or_null(row_of(task_results, rows, row)->task_id), "task-name",
		json_string_or_null(row_of(task_results, rows, row)->task_name), "task-url",
		json_string_or_null(row_of(task_results, rows, row)->task_url), "workspace-task-id",
		json_string_or_null(row_of(task_results, rows, row)->workspace_task_id),
		"workspace-task-enforcement-level", json_string_or_null(row_of(task_results, rows, row)->enforcement),
		"is-speculative", row_of(task_results, rows, row)->plan_only, "task-result-outcomes-count",
		(json_int_t)json_array_size(outcomes), "agent-pool-id");

	return resource_new("task-results", row_of(task_results, rows, row)->id, attributes,
		json_pack("{so so}", "task_stage",
			to_one("task-stages", row_of(task_results, rows, row)->task_stage_id), "task-result-outcomes",
			relation_linked(many_shown("task-result-outcomes", row_of(task_results, rows, row)->outcomes),
				"task-results", row_of(task_results, rows, row)->id, "outcomes")));
}

const struct resource_kind kind_task_results = {
	.type = "task-results", .ask = task_result_views_of, .resource = task_result_resource};

static json_t *rows_as(const struct rows *rows, json_t *(*resource)(const struct rows *rows, int row))
{
	json_t *data = json_array();

	for (int i = 0; i < rows->count; i++)
		json_array_append_new(data, resource(rows, i));
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

static const char *const includes[] = {"task_results", "policy_evaluations", NULL};

int task_stages_index(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows run = ROWS_INIT;
	json_auto_t *own = NULL;
	struct page page;

	if (query_includes_check(req, includes, err) < 0 || run_in_path(req, &run, err) < 0 ||
		page_read(req, &page, err) < 0 ||
		task_stages_of_run(req->store, row_text(&run, 0, "id"), &own, err) < 0)
		return -1;
	return respond_slice(req, res, &page, own, NULL);
}

int task_stage_in_path(struct request *req, struct rows *ret_rows, struct err *err)
{
	if (task_stage_view(req->store, param(req, "stage"), ret_rows, err) < 0)
		return -1;
	return may(req, place_of(ret_rows), "task stage", err);
}

static int evaluations_include(struct request *req, const struct rows *stage, json_t *included, struct err *err)
{
	json_t *evaluations = NULL;

	if (!query_includes(req, "policy_evaluations") || !row_of(task_stage, stage, 0)->evaluation_status)
		return 0;
	if (policy_evaluations_of_run(req->store, row_of(task_stage, stage, 0)->run_id, &evaluations, err) < 0)
		return -1;
	json_array_extend(included, evaluations);
	json_decref(evaluations);
	return 0;
}

static int stage_show(struct request *req, struct response *res, const char *id, struct err *err)
{
	_cleanup_(rows_release) struct rows stage = ROWS_INIT, results = ROWS_INIT;
	json_auto_t *included = json_array();

	if (task_stage_view(req->store, id, &stage, err) < 0)
		return -1;
	if (query_includes(req, "task_results") && task_results_view(req->store, NULL, id, &results, err) < 0)
		return -1;
	for (int i = 0; i < results.count; i++)
		json_array_append_new(included, task_result_resource(&results, i));
	if (evaluations_include(req, &stage, included, err) < 0)
		return -1;
	return respond_including(
		res, 200, task_stage_resource(&stage, 0), query(req, "include") ? json_incref(included) : NULL);
}

int task_stages_read(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows stage = ROWS_INIT;

	if (query_includes_check(req, includes, err) < 0 || task_stage_in_path(req, &stage, err) < 0)
		return -1;
	return stage_show(req, res, row_of(task_stage, &stage, 0)->id, err);
}

int task_stages_override(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows stage = ROWS_INIT;
	struct run_transition item = {.event = {.kind = EV_OVERRIDDEN}, .actor = req->actor.user.text};

	if (task_stage_in_path(req, &stage, err) < 0 || body_comment(req, &item.comment, err) < 0)
		return -1;
	if (!awaits_override(row_of(task_stage, &stage, 0)))
		return err_set(err, ERR_CONFLICT, "the task stage is not waiting for an override");
	if (row_of(task_stage, &stage, 0)->override_barred)
		return err_set(err, ERR_CONFLICT, "a policy failed whose policy set can't be overridden");
	text_copy(item.run.text, sizeof(item.run.text), row_of(task_stage, &stage, 0)->run_id);
	if (run_apply_transition(req->store, &item, err) < 0)
		return -1;
	return stage_show(req, res, row_of(task_stage, &stage, 0)->id, err);
}

int policy_evaluations_index(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows stage = ROWS_INIT;
	json_auto_t *data = NULL;
	struct page page;

	if (page_read(req, &page, err) < 0 || task_stage_in_path(req, &stage, err) < 0)
		return -1;
	if (!text_equal(row_of(task_stage, &stage, 0)->stage, stages[STAGE_POST_PLAN].name))
		data = json_array();
	else if (policy_evaluations_of_run(req->store, row_of(task_stage, &stage, 0)->run_id, &data, err) < 0)
		return -1;
	return respond_slice(req, res, &page, data, NULL);
}

/* ---- results ---- */

static int result_in_path(struct request *req, struct rows *ret_rows, struct err *err)
{
	if (task_result_view(req->store, param(req, "result"), ret_rows, err) < 0)
		return -1;
	return may(req, place_of(ret_rows), "task result", err);
}

int task_results_read(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (result_in_path(req, &rows, err) < 0)
		return -1;
	return respond_resource(res, 200, task_result_resource(&rows, 0));
}

/* Services send tags as an object. Clients read them as an array. */
static json_t *outcome_tags(const struct task_outcome_view_row *row)
{
	json_auto_t *tags = json_shown(row->tags);
	json_t *list = json_array();
	const char *label;
	json_t *value;

	json_object_foreach(tags, label, value)
		json_array_append_new(list, json_pack("{ss sO}", "label", label, "value", value));
	return list;
}

static json_t *outcome_resource(const struct rows *rows, int row)
{
	_cleanup_(freep) char *body =
		mem_printf("/api/v2/task-result-outcomes/%s/body", row_of(task_outcome_view, rows, row)->id);
	json_t *resource = resource_new("task-result-outcomes", row_of(task_outcome_view, rows, row)->id,
		json_pack("{so so so so}", "outcome-id",
			json_string_or_null(row_of(task_outcome_view, rows, row)->outcome_id), "description",
			json_string_or_null(row_of(task_outcome_view, rows, row)->description), "url",
			json_string_or_null(row_of(task_outcome_view, rows, row)->url), "tags",
			outcome_tags(row_of(task_outcome_view, rows, row))),
		json_pack("{so}", "task-result",
			to_one("task-results", row_of(task_outcome_view, rows, row)->task_result_id)));

	json_object_set_new(resource, "links", json_pack("{ss}", "body", body));
	return resource;
}

int task_outcomes_index(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows result = ROWS_INIT, outcomes = ROWS_INIT;

	if (result_in_path(req, &result, err) < 0 ||
		task_outcomes_view(req->store, row_of(task_results, &result, 0)->id, &outcomes, err) < 0)
		return -1;
	return respond_json(res, 200, json_pack("{so}", "data", rows_as(&outcomes, outcome_resource)));
}

static int outcome_in_path(struct request *req, struct rows *ret_rows, struct err *err)
{
	if (task_outcome_view(req->store, param(req, "outcome"), ret_rows, err) < 0)
		return -1;
	return may(req, place_of(ret_rows), "task result outcome", err);
}

int task_outcomes_read(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (outcome_in_path(req, &rows, err) < 0)
		return -1;
	return respond_resource(res, 200, outcome_resource(&rows, 0));
}

/* The body is Markdown of a third party. It is sent as plain text, so that browsers do not render it as a page. */
int task_outcomes_body(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct buf body = BUF_INIT(SIZE_MAX / 2);

	if (outcome_in_path(req, &rows, err) < 0)
		return -1;
	buf_text(&body, text_or_empty(row_of(task_outcome_view, &rows, 0)->body));
	return respond_bytes(res, "text/plain; charset=utf-8", &body);
}

/* ---- deliveries ---- */

static json_t *delivery_resource(const struct rows *rows, int row)
{
	return resource_new("task-deliveries", row_text(rows, row, "id"),
		json_pack("{so sI sf so so}", "sent-at", row_time(rows, row, "sent_at"), "status",
			(json_int_t)row_int(rows, row, "status"), "seconds",
			strtod(row_text(rows, row, "seconds"), NULL), "answer", row_string(rows, row, "answer"),
			"error", row_string(rows, row, "error")),
		NULL);
}

int task_deliveries_index(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows result = ROWS_INIT, deliveries = ROWS_INIT;

	if (result_in_path(req, &result, err) < 0 ||
		task_deliveries_view(req->store, row_of(task_results, &result, 0)->id, &deliveries, err) < 0)
		return -1;
	return respond_json(res, 200, json_pack("{so}", "data", rows_as(&deliveries, delivery_resource)));
}

int task_results_redeliver(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (result_in_path(req, &rows, err) < 0 ||
		task_result_redeliver(req->store, row_of(task_results, &rows, 0)->id, err) < 0)
		return -1;
	return respond_empty(res, 202);
}
