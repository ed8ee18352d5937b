/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/include_resolver.h"
#include "scheduler/api/resources.h"
#include "scheduler/api/runs/run_create_params.h"
#include "scheduler/api/runs/runs.h"
#include "scheduler/auth/signed.h"
#include "scheduler/http/columns.h"
#include "scheduler/http/scope.h"
#include "scheduler/runs/transition.h"
#include "scheduler/store/runs/run_views.h"

/*
 * Query runs (terraform query). A query is a plan-only run whose job lists resources. In the API, its id begins with
 * query- in place of run-. No list of runs shows it. Its log is that of its plan, and has a line for each resource.
 */

static const struct inclusion includes[] = {
	{"created_by", "queries", "created-by", &kind_users},
	{"canceled_by", "queries", "canceled-by", &kind_users},
	{"workspace", "queries", "workspace", &kind_workspaces},
	{"plan", "queries", "plan", &kind_plans},
	{"configuration_version", "queries", "configuration-version", &kind_configurations},
	{"configuration_version.ingress_attributes", "configuration-versions", "ingress-attributes",
		&kind_ingress_attributes},
};

/* ---- the resource ---- */

static json_t *query_times(const struct run_view_row *row)
{
	static const char *const names[][2] = {{"queued-at", "plan-queued-at"}, {"queuing-at", "plan-queued-at"},
		{"running-at", "planning-at"}, {"finished-at", "planned-and-finished-at"}, {"errored-at", "errored-at"},
		{"canceled-at", "canceled-at"}, {"force-canceled-at", "force-canceled-at"}};
	json_auto_t *reached = json_shown(row->status_timestamps);
	json_t *times = json_pack("{so}", "pending-at", time_shown(row->created_at));

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		json_t *time = json_object_get(reached, names[i][1]);

		if (time)
			json_object_set(times, names[i][0], time);
	}
	return times;
}

static json_t *query_actions(const struct run_view_row *row)
{
	struct run run = RUN_OF_ROW(row);

	return json_pack("{sb sb}", "is-cancelable", run_accepts(&run, EV_CANCELED), "is-force-cancelable",
		run_is_force_cancelable(row));
}

static const struct cell_shown attributes[] = {
	CELL("source", run_view, source),
	CELL("error", run_view, error),
	CELL("terraform-version", run_view, terraform_version),
	CELL("generate-config-out", run_view, allow_config_generation),
	CELL_TIME("created-at", run_view, created_at),
	CELL_TIME("updated-at", run_view, updated_at),
	CELL_TIME("canceled-at", run_view, canceled_at),
};

static const struct relation relations[] = {
	ONE_CELL("workspace", "workspaces", run_view, workspace_id),
	ONE_CELL("configuration-version", "configuration-versions", run_view, configuration_version_id),
	ONE_CELL("created-by", "users", run_view, created_by),
	ONE_CELL("canceled-by", "users", run_view, canceled_by),
};

static int query_resource(struct store *store, const void *of_row, json_t **ret_resource, struct err *err)
{
	const struct run_view_row *row = of_row;
	const struct id id = id_sibling(row->id, "query"), plan = id_sibling(row->id, "plan");
	_cleanup_(freep) char *path = mem_printf("/logs/%s", plan.text), *log = NULL;
	struct run run = RUN_OF_ROW(row);
	json_t *variables = NULL, *shown, *related;

	if (run_variables(store, row, &variables, err) < 0)
		return -1;
	shown = cells_shown(attributes, ARRAY_LEN(attributes), row);
	json_object_set_new(shown, "variables", variables);
	json_object_set_new(shown, "status", json_string(query_status_name(&run)));
	json_object_set_new(shown, "status-timestamps", query_times(row));
	json_object_set_new(shown, "actions", query_actions(row));
	log = signed_url(store, path);
	json_object_set_new(shown, "log-read-url", json_string(log));
	related = relations_shown(relations, ARRAY_LEN(relations), row);
	json_object_set_new(related, "plan", to_one("plans", plan.text));
	*ret_resource = resource_new("queries", id.text, shown, related);
	json_object_set_new(
		*ret_resource, "links", json_pack("{so}", "self", json_sprintf("/api/v2/queries/%s", id.text)));
	return 0;
}

static const struct resource_kind kind_queries = {.type = "queries", .make = query_resource, KIND_INCLUDES(includes)};

/* ---- reading ---- */

/* The query of the path, if the requester has the route's permission. */
static int query_in_path(struct request *req, struct rows *ret_rows, struct err *err)
{
	const char *id = param(req, "query_run");

	if (!id_valid(id, "query"))
		return err_set(err, ERR_NOT_FOUND, "query run not found");
	if (run_view(req->store, id_sibling(id, "run").text, ret_rows, err) < 0)
		return err->kind == ERR_NOT_FOUND ? err_set(err, ERR_NOT_FOUND, "query run not found") : -1;
	if (!run_of(ret_rows)->query)
		return err_set(err, ERR_NOT_FOUND, "query run not found");
	return may(req, place_of(run_of(ret_rows)), "query run", err);
}

int queries_read(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (includes_check(req, &kind_queries, err) < 0 || query_in_path(req, &rows, err) < 0)
		return -1;
	return respond_row(req, res, 200, &(struct resource_rows){&kind_queries, &rows}, err);
}

static int list_page(const struct request *req, const struct scope *scope, const struct page *page,
	struct rows *ret_rows, struct err *err)
{
	return query_runs_list(
		req->store, scope->workspace.text, (struct list_range){page->size, page->offset}, ret_rows, err);
}

int queries_index(struct request *req, struct response *res, struct err *err)
{
	return respond_list(
		req, res, &(struct resource_list){&kind_queries, .scope = scope_workspace, .read = list_page}, err);
}

/* ---- changes ---- */

int queries_create(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct run_create_params params;
	struct scope scope;
	struct id run;

	if (body_check(req, "queries", err) < 0)
		return -1;
	if (!body_relation(req, "workspace"))
		return err_at(err, "/data/relationships/workspace", "Workspace must exist");
	if (scope_workspace_id(req, body_relation(req, "workspace"), &scope, err) < 0 ||
		query_create_params_read(req, &params, err) < 0)
		return -1;
	params.workspace_id = scope.workspace.text;
	if (run_create(req->store, &params, &run, err) < 0 || run_view(req->store, run.text, &rows, err) < 0)
		return -1;
	return respond_row(req, res, 201, &(struct resource_rows){&kind_queries, &rows}, err);
}

static int act(struct request *req, struct response *res, enum run_event_kind kind, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct run_transition item = {.event = {.kind = kind}, .actor = req->actor.user.text};

	if (query_in_path(req, &rows, err) < 0)
		return -1;
	text_copy(item.run.text, sizeof(item.run.text), run_of(&rows)->id);
	if (run_apply_transition(req->store, &item, err) < 0)
		return -1;
	return respond_empty(res, 202);
}

int queries_cancel(struct request *req, struct response *res, struct err *err)
{
	return act(req, res, EV_CANCELED, err);
}

int queries_force_cancel(struct request *req, struct response *res, struct err *err)
{
	return act(req, res, EV_FORCE_CANCELED, err);
}
