/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/runs.h"

#include "scheduler/api/cost_estimates.h"
#include "scheduler/api/scope.h"
#include "scheduler/api/task_stages.h"
#include "scheduler/api/workspaces.h"
#include "scheduler/dispatch/order.h"
#include "scheduler/store/cost_estimates.h"
#include "scheduler/store/run_views.h"

static const char *const includes[] = {"plan", "apply", "created_by", "cost_estimate", "configuration_version",
	"configuration_version.ingress_attributes", "workspace", "task_stages", "tf_policy_evaluations", NULL};

int run_in_path(struct request *req, struct rows *ret_rows, struct err *err)
{
	if (run_view(req->store, param(req, "run"), ret_rows, err) < 0)
		return -1;
	return may(req, row_text(ret_rows, 0, "organization_id"), "run", err);
}

/* ---- included ---- */

static int include_operation(
	struct request *req, const char *run_id, const char *prefix, json_t *included, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (operation_view(req->store, id_sibling(run_id, prefix).text, &rows, err) < 0)
		return -1;
	json_array_append_new(included, operation_resource(req->store, &rows));
	return 0;
}

static int include_task_stages(struct request *req, const char *run_id, json_t *included, struct err *err)
{
	json_t *own = NULL;

	if (task_stages_of_run(req->store, run_id, &own, err) < 0)
		return -1;
	json_array_extend(included, own);
	json_decref(own);
	return 0;
}

/* A client that watches a run whose log is plain must not be told to expect JSON lines (API 2.4). */
static int include_workspace(struct request *req, const struct rows *run, json_t *included, struct err *err)
{
	json_t *workspace = NULL;

	if (workspace_included(req->store, row_text(run, 0, "workspace_id"), &workspace, err) < 0)
		return -1;
	if (!row_bool(run, 0, "json_log"))
		json_object_set_new(
			json_object_get(workspace, "attributes"), "structured-run-output-enabled", json_false());
	json_array_append_new(included, workspace);
	return 0;
}

static int include_cost_estimate(struct request *req, const struct rows *run, json_t *included, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	json_t *estimate;

	if (row_null(run, 0, "cost_estimate_id"))
		return 0;
	if (cost_estimate_view(req->store, row_text(run, 0, "cost_estimate_id"), &rows, err) < 0)
		return -1;
	estimate = cost_estimate_resource(&rows);
	json_object_del(estimate, "relationships"); /* it would lead back to the run */
	json_array_append_new(included, estimate);
	return 0;
}

static int run_included(struct request *req, const struct rows *run, json_t *included, struct err *err)
{
	const char *id = row_text(run, 0, "id");

	if (query_includes(req, "plan") && include_operation(req, id, "plan", included, err) < 0)
		return -1;
	if (query_includes(req, "apply") && include_operation(req, id, "apply", included, err) < 0)
		return -1;
	if (query_includes(req, "task_stages") && include_task_stages(req, id, included, err) < 0)
		return -1;
	if (query_includes(req, "cost_estimate") && include_cost_estimate(req, run, included, err) < 0)
		return -1;
	if (query_includes(req, "workspace") && include_workspace(req, run, included, err) < 0)
		return -1;
	return 0;
}

static int run_show(struct request *req, struct response *res, int status, const struct rows *run, struct err *err)
{
	json_auto_t *included = json_array();
	json_t *resource = NULL;

	if (run_included(req, run, included, err) < 0 || run_resource(req->store, run, 0, &resource, err) < 0)
		return -1;
	if (!json_array_size(included))
		return respond_resource(res, status, resource);
	return respond_including(res, status, resource, json_incref(included));
}

int runs_read(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows run = ROWS_INIT;

	if (query_includes_check(req, includes, err) < 0 || run_in_path(req, &run, err) < 0)
		return -1;
	return run_show(req, res, 200, &run, err);
}

/* ---- lists ---- */

static int runs_list(struct request *req, struct response *res, struct run_filter *filter, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	json_auto_t *data = json_array();
	struct page page;

	if (page_read(req, &page, err) < 0)
		return -1;
	filter->status = query(req, "filter[status]");
	filter->status_group = query(req, "filter[status_group]");
	filter->operation = query(req, "filter[operation]");
	filter->source = query(req, "filter[source]");
	filter->workspace_names = query(req, "filter[workspace_names]");
	filter->search = query(req, "search[basic]");
	filter->limit = page.size;
	filter->offset = page.offset;
	if (run_views(req->store, filter, &rows, &page.total, err) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++) {
		json_t *run = NULL;

		if (run_resource(req->store, &rows, i, &run, err) < 0)
			return -1;
		json_array_append_new(data, run);
	}
	return respond_page(req, res, &page, json_incref(data), NULL);
}

int runs_of_workspace(struct request *req, struct response *res, struct err *err)
{
	struct run_filter filter = {0};
	struct scope scope;

	if (query_includes_check(req, includes, err) < 0 || scope_workspace(req, &scope, err) < 0)
		return -1;
	filter.organization_id = scope.organization.text;
	filter.workspace_id = scope.workspace.text;
	return runs_list(req, res, &filter, err);
}

static int runs_of(struct request *req, struct response *res, bool queue, struct err *err)
{
	struct run_filter filter = {.queue = queue};
	struct scope scope;

	if (query_includes_check(req, includes, err) < 0 || scope_organization(req, &scope, err) < 0)
		return -1;
	filter.organization_id = scope.organization.text;
	return runs_list(req, res, &filter, err);
}

int runs_of_organization(struct request *req, struct response *res, struct err *err)
{
	return runs_of(req, res, false, err);
}

int runs_queue(struct request *req, struct response *res, struct err *err)
{
	return runs_of(req, res, true, err);
}

/* ---- creating ---- */

static int body_choice(const struct request *req, const char *name, enum choice *ret_choice, struct err *err)
{
	bool value = false;

	*ret_choice = CHOICE_UNSET;
	if (!body_has(req, name))
		return 0;
	if (body_bool(req, name, &value, err) < 0)
		return -1;
	*ret_choice = value ? CHOICE_YES : CHOICE_NO;
	return 0;
}

static int body_variables(const struct request *req, const json_t **ret_variables, struct err *err)
{
	const json_t *variables = json_at(req->body, "data.attributes.variables");

	if (variables && !json_is_null(variables) && !json_is_array(variables))
		return err_at(err, "/data/attributes/variables", "Variables must be an array of {key, value}");
	*ret_variables = json_is_array(variables) ? variables : NULL;
	return 0;
}

static int order_flags(const struct request *req, struct run_order *order, struct err *err)
{
	bool refresh = true;

	if (body_bool(req, "refresh", &refresh, err) < 0)
		return -1;
	order->no_refresh = !refresh;
	if (body_choice(req, "plan-only", &order->plan_only, err) < 0 ||
		body_choice(req, "auto-apply", &order->auto_apply, err) < 0 ||
		body_bool(req, "is-destroy", &order->is_destroy, err) < 0 ||
		body_bool(req, "refresh-only", &order->refresh_only, err) < 0 ||
		body_bool(req, "save-plan", &order->save_plan, err) < 0 ||
		body_bool(req, "allow-empty-apply", &order->allow_empty_apply, err) < 0)
		return -1;
	return body_bool(req, "allow-config-generation", &order->allow_config_generation, err);
}

/* Only the cloud integration of the CLI renders JSON lines; its older sibling sends a version but no integration. */
static bool client_is_plain(const struct request *req)
{
	return http_header(req->http, "Terraform-Version") &&
		!text_equal(http_header(req->http, "X-Terraform-Integration"), "cloud");
}

static int order_read(const struct request *req, struct run_order *order, struct err *err)
{
	bool from_cli = http_header(req->http, "Terraform-Version");

	*order = (struct run_order){
		.configuration_version_id = body_relation(req, "configuration-version"),
		.actor = req->actor.user.text,
		.source = from_cli ? "terraform+cloud" : "tfe-api",
		.message = from_cli ? "Queued manually using Terraform" : NULL,
		.plain_log = client_is_plain(req),
	};
	if (order_flags(req, order, err) < 0 || body_text(req, "message", &order->message, err) < 0 ||
		body_text(req, "terraform-version", &order->terraform_version, err) < 0 ||
		body_texts(req, "target-addrs", &order->target_addrs, err) < 0 ||
		body_texts(req, "replace-addrs", &order->replace_addrs, err) < 0)
		return -1;
	return body_variables(req, &order->variables, err);
}

int runs_create(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows run = ROWS_INIT;
	struct run_order order;
	struct scope scope;
	struct id id;

	if (body_check(req, "runs", err) < 0)
		return -1;
	if (!body_relation(req, "workspace"))
		return err_at(err, "/data/relationships/workspace", "Workspace must exist");
	if (scope_workspace_id(req, body_relation(req, "workspace"), &scope, err) < 0 ||
		order_read(req, &order, err) < 0)
		return -1;
	order.workspace_id = scope.workspace.text;
	if (run_create(req->store, &order, &id, err) < 0 || run_view(req->store, id.text, &run, err) < 0)
		return -1;
	return run_show(req, res, 201, &run, err);
}
