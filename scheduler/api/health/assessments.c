/* SPDX-License-Identifier: MPL-2.0 */
#include <stdio.h>

#include "scheduler/api/api.h"
#include "scheduler/api/resources.h"
#include "scheduler/api/runs/runs.h"
#include "scheduler/api/workspaces/workspaces.h"
#include "scheduler/auth/signed.h"
#include "scheduler/http/columns.h"
#include "scheduler/http/scope.h"
#include "scheduler/runs/assessments/assessments.h"
#include "scheduler/store/assessments/assessment_results.h"
#include "scheduler/store/assessments/assessment_results.sql.h"

/* ---- results ---- */

static const struct cell_shown cells[] = {
	CELL("drifted", assessment_result, drifted),
	CELL("succeeded", assessment_result, succeeded),
	CELL("error-msg", assessment_result, error),
	CELL("resources-drifted", assessment_result, resources_drifted),
	CELL("resources-undrifted", assessment_result, resources_undrifted),
	CELL("checks-passed", assessment_result, checks_passed),
	CELL("checks-failed", assessment_result, checks_failed),
	CELL("checks-errored", assessment_result, checks_errored),
	CELL("checks-unknown", assessment_result, checks_unknown),
	CELL_TIME("created-at", assessment_result, created_at),
};

static json_t *links_of(const char *id)
{
	static const char *const parts[] = {"json-output", "json-schema", "log-output"};
	json_t *links = json_object();

	json_object_set_new(links, "self", json_sprintf("/api/v2/assessment-results/%s", id));
	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		json_object_set_new(links, parts[i], json_sprintf("/api/v2/assessment-results/%s/%s", id, parts[i]));
	return links;
}

static json_t *result_resource(const void *of_row)
{
	const struct assessment_result_row *row = of_row;
	json_t *attributes = cells_shown(cells, ARRAY_LEN(cells), row);
	json_t *resource;

	json_object_set_new(attributes, "all-checks-succeeded",
		json_boolean(row->succeeded && !row->checks_failed && !row->checks_errored));
	resource = resource_new("assessment-results", row->id, attributes,
		json_pack("{so so so}", "workspace", to_one("workspaces", row->workspace_id), "plan",
			to_one("plans", row->run_id ? id_sibling(row->run_id, "plan").text : NULL), "created-by",
			to_one("users", row->created_by)));
	json_object_set_new(resource, "links", links_of(row->id));
	return resource;
}

const struct resource_kind kind_assessment_results = {
	.type = "assessment-results", .ask = assessment_results_ask, .show = result_resource};

static int results_read(const struct request *req, const struct scope *scope, const struct page *page,
	struct rows *ret_rows, struct err *err)
{
	return assessment_results_list(
		req->store, scope->workspace.text, (struct list_range){page->size, page->offset}, ret_rows, err);
}

int assessment_results_index(struct request *req, struct response *res, struct err *err)
{
	static const struct resource_list list = {
		.kind = &kind_assessment_results, .scope = scope_workspace, .read = results_read};

	return respond_list(req, res, &list, err);
}

/* The result of the path, if the requester has the route's permission. */
static int result_find(struct request *req, struct rows *ret_rows, struct err *err)
{
	if (!id_valid(param(req, "assessment"), "asmtres"))
		return err_set(err, ERR_NOT_FOUND, "assessment result not found");
	if (assessment_result_read(req->store, param(req, "assessment"), ret_rows, err) < 0)
		return -1;
	return may(req, place_of(row_of(assessment_result, ret_rows, 0)), "assessment result", err);
}

int assessment_results_show(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (result_find(req, &rows, err) < 0)
		return -1;
	return respond_row(req, res, 200, &(struct resource_rows){&kind_assessment_results, &rows}, err);
}

/* ---- what the plan of an assessment left ---- */

/* Answers 204 if the assessment could not begin. */
static int part_answer(struct request *req, struct response *res, enum plan_part part, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const char *run;

	if (result_find(req, &rows, err) < 0)
		return -1;
	run = row_of(assessment_result, &rows, 0)->run_id;
	return run ? plan_part_respond(req, res, run, part, err) : respond_empty(res, 204);
}

int assessment_results_json(struct request *req, struct response *res, struct err *err)
{
	return part_answer(req, res, PLAN_JSON, err);
}

int assessment_results_schemas(struct request *req, struct response *res, struct err *err)
{
	return part_answer(req, res, PLAN_SCHEMAS, err);
}

/* Redirects to the signed address of the log. */
int assessment_results_log(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(freep) char *path = NULL, *url = NULL;
	const char *run;

	if (result_find(req, &rows, err) < 0)
		return -1;
	run = row_of(assessment_result, &rows, 0)->run_id;
	if (!run)
		return respond_empty(res, 204);
	path = mem_printf("/logs/%s", id_sibling(run, "plan").text);
	url = signed_url(req->store, path);
	res->http->status = 307;
	snprintf(res->http->location, sizeof(res->http->location), "%s", url);
	return 0;
}

/* ---- the health of a workspace ---- */

static json_t *health_resource(const struct workspace_health_row *row)
{
	return resource_new("workspace-health", row->workspace_id,
		json_pack("{sb sb so so sb}", "enabled", row->enabled, "enforced", row->enforced, "refusal",
			json_string_or_null(assessment_refusal_sentence(row->refusal)), "next-at",
			time_shown(row->next_at), "is-underway", row->run_id != NULL),
		json_pack("{so so}", "workspace", to_one("workspaces", row->workspace_id), "current-assessment-result",
			to_one("assessment-results", row->result_id)));
}

int workspace_health_read(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct scope scope;

	if (scope_workspace(req, &scope, err) < 0 || workspace_health(req->store, scope.workspace.text, &rows, err) < 0)
		return -1;
	return respond_resource(res, 200, health_resource(row_of(workspace_health, &rows, 0)));
}

int assessment_results_current(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows health = ROWS_INIT, rows = ROWS_INIT;
	const char *id;
	struct scope scope;

	if (scope_workspace(req, &scope, err) < 0 ||
		workspace_health(req->store, scope.workspace.text, &health, err) < 0)
		return -1;
	id = row_of(workspace_health, &health, 0)->result_id;
	if (!id)
		return err_set(err, ERR_NOT_FOUND, "assessment result not found");
	if (assessment_result_read(req->store, id, &rows, err) < 0)
		return -1;
	return respond_row(req, res, 200, &(struct resource_rows){&kind_assessment_results, &rows}, err);
}

/* Begins an assessment now, and shows the workspace. */
int workspaces_assess(struct request *req, struct response *res, struct err *err)
{
	struct scope scope;

	if (scope_workspace(req, &scope, err) < 0 ||
		assessment_start(req->store, scope.workspace.text, text_or_null(req->actor.user.text), err) < 0)
		return -1;
	return workspace_show(req, res, 200, scope.workspace.text, err);
}

/* The same, and shows the health. */
int workspace_health_assess(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct scope scope;

	if (scope_workspace(req, &scope, err) < 0 ||
		assessment_start(req->store, scope.workspace.text, text_or_null(req->actor.user.text), err) < 0 ||
		workspace_health(req->store, scope.workspace.text, &rows, err) < 0)
		return -1;
	return respond_resource(res, 202, health_resource(row_of(workspace_health, &rows, 0)));
}
