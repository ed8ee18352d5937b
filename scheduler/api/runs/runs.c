/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/runs/runs.h"

#include "scheduler/api/api.h"

#include "scheduler/api/include_resolver.h"
#include "scheduler/api/kinds.h"
#include "scheduler/http/path/path_object.h"
#include "scheduler/http/scope.h"
#include "scheduler/store/runs/run_views.h"
#include "scheduler/store/workspaces/workspaces.h"

enum { MIN_YEAR = 2000, MAX_YEAR = 9999 };

static const struct inclusion includes[] = {
	{"plan", "runs", "plan", &kind_plans},
	{"apply", "runs", "apply", &kind_applies},
	{"created_by", "runs", "created-by", &kind_users},
	{"confirmed_by", "runs", "confirmed-by", &kind_users},
	{"canceled_by", "runs", "canceled-by", &kind_users},
	{"cost_estimate", "runs", "cost-estimate", &kind_cost_estimates},
	{"configuration_version", "runs", "configuration-version", &kind_configurations},
	{"configuration_version.ingress_attributes", "configuration-versions", "ingress-attributes",
		&kind_ingress_attributes},
	{"workspace", "runs", "workspace", &kind_workspaces},
	{"workspace.project", "workspaces", "project", &kind_projects},
	{"task_stages", "runs", "task-stages", &kind_task_stages},
	{"task_stages.task_results", "task-stages", "task-results", &kind_task_results},
	{"task_stages.policy_evaluations", "task-stages", "policy-evaluations", &kind_policy_evaluations},
	{"policy_checks", "runs", "policy-checks", &kind_policy_checks},
	{"comments", "runs", "comments", &kind_comments},
	{"comments.user", "comments", "user", &kind_users},
	{"run_events", "runs", "run-events", &kind_run_events},
	{"run_events.actor", "run-events", "actor", &kind_users},
	{"waiting", "runs", "waiting", &kind_run_waits},
	{"tf_policy_evaluations", NULL, NULL, NULL},
};

const struct resource_kind kind_runs = {
	.type = "runs", .ask = run_views_ask, .make = run_resource, KIND_INCLUDES(includes)};

int run_in_path(struct request *req, struct rows *ret_rows, struct err *err)
{
	if (!path_object_take(req, PATH_RUN, ret_rows) && run_view(req->store, param(req, "run"), ret_rows, err) < 0)
		return -1;
	if (!ret_rows->count || run_of(ret_rows)->test)
		return err_set(err, ERR_NOT_FOUND, "run not found");
	return may(req, place_of(run_of(ret_rows)), "run", err);
}

/* ---- reading ---- */

/* If a run's log is plain, the included workspace must not announce structured output: clients would expect JSON
 * lines. */
static void structured_output_hide(const struct run_view_row *run, const json_t *included)
{
	json_t *resource;
	size_t i;

	json_array_foreach(included, i, resource)
	{
		if (text_equal(json_string_at(resource, "type"), "workspaces") && !run->json_log)
			json_object_set_new(
				json_object_get(resource, "attributes"), "structured-run-output-enabled", json_false());
	}
}

int run_show(struct request *req, struct response *res, int status, const struct run_view_row *run, struct err *err)
{
	json_auto_t *resource = NULL;
	json_t *included;

	if (run_resource(req->store, run, &resource, err) < 0 ||
		includes_follow(req, &kind_runs, resource, &included, err) < 0)
		return -1;
	structured_output_hide(run, included);
	return respond_including(res, status, json_incref(resource), included);
}

int runs_read(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows run = ROWS_INIT;

	if (includes_check(req, &kind_runs, err) < 0 || run_in_path(req, &run, err) < 0)
		return -1;
	return run_show(req, res, 200, run_of(&run), err);
}

/* ---- lists ---- */

/* "year" is the past year; a number is that year. */
static int timeframe_read(const struct request *req, struct run_filter *filter, struct err *err)
{
	const char *text = query(req, "filter[timeframe]");

	if (!text || !*text)
		return 0;
	filter->past_year = text_equal(text, "year");
	if (filter->past_year || text_number(text, MIN_YEAR, MAX_YEAR, &filter->year) == 0)
		return 0;
	return err_set(err, ERR_MALFORMED, "filter[timeframe] must be a year, or the word year for the past one");
}

static int filter_read(const struct request *req, struct run_filter *filter, struct err *err)
{
	filter->status = query(req, "filter[status]");
	filter->status_group = query(req, "filter[status_group]");
	filter->operation = query(req, "filter[operation]");
	filter->source = query(req, "filter[source]");
	filter->workspace_names = query(req, "filter[workspace_names]");
	filter->pool_names = query(req, "filter[agent_pool_names]");
	filter->user = query(req, "search[user]");
	filter->commit = query(req, "search[commit]");
	if (!filter->user && !filter->commit)
		filter->search = query(req, "search[basic]");
	return timeframe_read(req, filter, err);
}

struct runs_page {
	struct run_filter filter;
	struct page page;
	bool counted;
	struct rows runs, total;
};

static void runs_page_release(struct runs_page *list)
{
	rows_release(&list->runs);
	rows_release(&list->total);
}

/* Queries one row more than the page has: it says whether there is another page. */
static int runs_page_read(const struct request *req, struct runs_page *list, struct err *err)
{
	if (includes_check(req, &kind_runs, err) < 0 || page_read(req, &list->page, err) < 0)
		return -1;
	list->filter.limit = list->page.size + 1;
	list->filter.offset = list->page.offset;
	return filter_read(req, &list->filter, err);
}

/* On the last page the total follows from the offset, so no count is needed. */
static bool runs_page_is_last(const struct runs_page *list)
{
	return !list->page.more && (list->runs.count || !list->page.offset);
}

/* Queries the included resources and, if it is still unknown, the total, in one round trip. */
static int runs_page_follow(
	const struct request *req, struct runs_page *list, const json_t *data, json_t **ret_included, struct err *err)
{
	bool asked = list->counted && !runs_page_is_last(list);
	int result = 0;

	db_gather(req->store->db);
	if (asked)
		result = run_views_ask_count(req->store, &list->filter, &list->total, err);
	if (result == 0)
		result = includes_follow(req, &kind_runs, data, ret_included, err);
	if (db_gathered(req->store->db, result, err) < 0)
		return -1;
	list->page.total = list->counted ? list->page.offset + list->runs.count : -1;
	if (asked)
		list->page.total = row_of(runs_total, &list->total, 0)->total;
	return 0;
}

static int runs_page_show(struct request *req, struct response *res, struct runs_page *list, struct err *err)
{
	json_auto_t *data = json_array();
	json_t *included;

	list->page.more = list->runs.count > list->page.size;
	list->runs.count -= list->page.more;
	if (rows_show(req->store, &kind_runs, &list->runs, data, err) < 0 ||
		runs_page_follow(req, list, data, &included, err) < 0)
		return -1;
	return respond_page(req, res, &list->page, json_incref(data), included);
}

int runs_of_workspace(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(runs_page_release) struct runs_page list = {.counted = true};
	_cleanup_(rows_release) struct rows workspace = ROWS_INIT;
	const char *id = list.filter.workspace_id = param(req, "workspace");
	struct scope scope;
	int result;

	if (runs_page_read(req, &list, err) < 0)
		return -1;
	db_gather(req->store->db);
	result = workspace_lookup_ask(req->store, id, &workspace, err);
	if (result == 0)
		result = run_views_ask_page(req->store, &list.filter, &list.runs, err);
	if (db_gathered(req->store->db, result, err) < 0 || scope_workspace_read(req, &workspace, &scope, err) < 0)
		return -1;
	return runs_page_show(req, res, &list, err);
}

static int runs_of(struct request *req, struct response *res, bool queue, struct err *err)
{
	_cleanup_(runs_page_release) struct runs_page list = {.filter.queue = queue, .counted = queue};
	struct scope scope;

	if (runs_page_read(req, &list, err) < 0 || scope_organization(req, &scope, err) < 0)
		return -1;
	list.filter.organization_id = scope.organization.text;
	db_gather(req->store->db);
	if (db_gathered(req->store->db, run_views_ask_page(req->store, &list.filter, &list.runs, err), err) < 0)
		return -1;
	return runs_page_show(req, res, &list, err);
}

int runs_of_organization(struct request *req, struct response *res, struct err *err)
{
	return runs_of(req, res, false, err);
}

int runs_queue(struct request *req, struct response *res, struct err *err)
{
	return runs_of(req, res, true, err);
}
