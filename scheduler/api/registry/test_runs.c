/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/registry/test_runs.h"

#include "scheduler/api/registry/registry.h"
#include "scheduler/api/resources.h"
#include "scheduler/api/runs/run_create_params.h"
#include "scheduler/api/runs/runs.h"
#include "scheduler/auth/signed.h"
#include "scheduler/http/audit_note.h"
#include "scheduler/http/columns.h"
#include "scheduler/runs/transition.h"
#include "scheduler/store/registry/test_beds.h"
#include "scheduler/store/registry/test_runs.sql.h"
#include "scheduler/store/runs/run_views.h"

/* Test runs of modules (terraform test). Their log is that of the run's plan: JSON lines. */

/* ---- the resource ---- */

static json_t *times_shown(const struct test_run_row *row)
{
	static const char *const names[][2] = {{"queued-at", "plan-queued-at"}, {"started-at", "planning-at"},
		{"finished-at", "planned-and-finished-at"}, {"errored-at", "errored-at"},
		{"canceled-at", "canceled-at"}, {"force-canceled-at", "force-canceled-at"}};
	json_auto_t *reached = json_shown(row->status_timestamps);
	json_t *times = json_object();

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		json_t *time = json_object_get(reached, names[i][1]);

		if (time)
			json_object_set(times, names[i][0], time);
	}
	return times;
}

/* What the tests of a finished run came to. */
static const char *verdict_of(const struct test_run_row *row)
{
	if (row->errored > 0)
		return "error";
	if (row->failed > 0)
		return "fail";
	return row->skipped > 0 && row->passed == 0 ? "skip" : "pass";
}

static void results_add(const struct test_run_row *row, json_t *shown)
{
	const struct {
		const char *name;
		bool is_null;
		long long number;
	} counts[] = {
		{"tests-passed", row->passed_null, row->passed},
		{"tests-failed", row->failed_null, row->failed},
		{"tests-errored", row->errored_null, row->errored},
		{"tests-skipped", row->skipped_null, row->skipped},
	};

	json_object_set_new(shown, "test-status", json_string_or_null(row->finished ? verdict_of(row) : NULL));
	for (size_t i = 0; i < ARRAY_LEN(counts); i++)
		json_object_set_new(
			shown, counts[i].name, counts[i].is_null ? json_null() : json_integer(counts[i].number));
}

static json_t *actions_of(const struct test_run_row *row)
{
	struct run run = RUN_OF_ROW(row);

	return json_pack("{sb sb}", "is-cancelable", run_accepts(&run, EV_CANCELED), "is-force-cancelable",
		run_situation(&run) == AT_STOPPING && row->cooled_off);
}

static const struct cell_shown attributes[] = {
	CELL("source", test_run, source),
	CELL("message", test_run, message),
	CELL("error", test_run, error),
	CELL("terraform-version", test_run, terraform_version),
	CELL("test-configurable-id", test_run, module_id),
	CELL_ALWAYS("test-configurable-type", "\"RegistryModule\""),
	CELL_TIME("created-at", test_run, created_at),
	CELL_TIME("updated-at", test_run, updated_at),
};

static const struct relation relations[] = {
	ONE_CELL("configuration-version", "configuration-versions", test_run, configuration_version_id),
	ONE_CELL("registry-module", "registry-modules", test_run, module_id),
	ONE_CELL("created-by", "users", test_run, created_by),
};

static int test_run_resource(struct store *store, const void *of_row, json_t **ret_resource, struct err *err)
{
	const struct test_run_row *row = of_row;
	const struct run_view_row sealed = {.id = row->id, .variables_sealed = row->variables_sealed};
	const struct id id = id_sibling(row->id, "trun"), plan = id_sibling(row->id, "plan");
	_cleanup_(freep) char *path = mem_printf("/logs/%s", plan.text), *log = NULL;
	json_auto_t *options = json_shown(row->options);
	struct run run = RUN_OF_ROW(row);
	json_t *variables = NULL, *shown;

	if (run_variables(store, &sealed, &variables, err) < 0)
		return -1;
	shown = cells_shown(attributes, ARRAY_LEN(attributes), row);
	json_object_update(shown, options);
	log = signed_url(store, path);
	json_object_update_new(shown,
		json_pack("{so ss so ss so}", "variables", variables, "status", query_status_name(&run),
			"status-timestamps", times_shown(row), "log-read-url", log, "actions", actions_of(row)));
	results_add(row, shown);
	*ret_resource =
		resource_new("test-runs", id.text, shown, relations_shown(relations, ARRAY_LEN(relations), row));
	return 0;
}

static const struct resource_kind kind_test_runs = {.type = "test-runs", .make = test_run_resource};

/* ---- reading ---- */

/* The test run of the path, of the module of the path. */
static int test_run_in_path(struct request *req, struct rows *ret_rows, struct err *err)
{
	const char *id = param(req, "test_run");
	struct id module;

	if (registry_tested_module(req, &module, err) < 0)
		return -1;
	if (!id_valid(id, "trun"))
		return err_set(err, ERR_NOT_FOUND, "test run not found");
	return test_run_read(req->store, module.text, id_sibling(id, "run").text, ret_rows, err);
}

int test_runs_read(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (test_run_in_path(req, &rows, err) < 0)
		return -1;
	return respond_row(req, res, 200, &(struct resource_rows){&kind_test_runs, &rows}, err);
}

int test_runs_index(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct page page;
	struct id module;

	if (registry_tested_module(req, &module, err) < 0 || page_read(req, &page, err) < 0 ||
		test_runs_list(req->store, module.text, text_or_null(text_or_empty(query(req, "filter[source]"))),
			(struct list_range){page.size, page.offset}, &rows, err) < 0)
		return -1;
	return respond_rows(req, res, &page, &(struct resource_rows){&kind_test_runs, &rows}, err);
}

/* ---- changes ---- */

static int module_check(const struct request *req, const char *module_id, struct err *err)
{
	const char *named = NULL;

	if (body_to_one(req, "registry-module", "registry-modules", &named, err) < 0)
		return -1;
	return !named || text_equal(named, module_id)
		? 0
		: err_at(err, "/data/relationships/registry-module", "Registry module must be that of the path");
}

int test_runs_create(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct run_create_params params;
	json_auto_t *options = NULL;
	struct id module, bed, run;

	if (registry_tested_module(req, &module, err) < 0 || body_check(req, "test-runs", err) < 0 ||
		module_check(req, module.text, err) < 0 ||
		test_run_create_params_read(req, &params, &options, err) < 0 ||
		test_bed_open(req->store, module.text, &bed, err) < 0)
		return -1;
	params.workspace_id = bed.text;
	if (run_create(req->store, &params, &run, err) < 0) {
		if (text_equal(err->pointer, "/data/relationships/workspace"))
			text_copy(err->pointer, sizeof(err->pointer), "/data");
		return -1;
	}
	if (test_run_read(req->store, module.text, run.text, &rows, err) < 0)
		return -1;
	return respond_row(req, res, 201, &(struct resource_rows){&kind_test_runs, &rows}, err);
}

static int act(struct request *req, struct response *res, enum run_event_kind kind, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct run_transition item = {.event = {.kind = kind}, .actor = req->actor.user.text};

	if (test_run_in_path(req, &rows, err) < 0)
		return -1;
	text_copy(item.run.text, sizeof(item.run.text), row_of(test_run, &rows, 0)->id);
	if (run_apply_transition(req->store, &item, err) < 0)
		return -1;
	return respond_empty(res, 202);
}

int test_runs_cancel(struct request *req, struct response *res, struct err *err)
{
	return act(req, res, EV_CANCELED, err);
}

int test_runs_force_cancel(struct request *req, struct response *res, struct err *err)
{
	return act(req, res, EV_FORCE_CANCELED, err);
}
