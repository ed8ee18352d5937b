/* SPDX-License-Identifier: MPL-2.0 */
#include <stdio.h>

#include "scheduler/api/api.h"
#include "scheduler/api/kinds.h"
#include "scheduler/api/runs/plan_redact.h"
#include "scheduler/api/runs/runs.h"
#include "scheduler/auth/signed.h"
#include "scheduler/store/runs/artifacts.h"
#include "scheduler/store/runs/artifacts.sql.h"
#include "scheduler/store/runs/logs.h"
#include "scheduler/store/runs/run_views.h"
#include "scheduler/store/runs/run_views.sql.h"
#include "scheduler/store/states/states.h"
#include "scheduler/store/content/blobs.h"
#include "scheduler/store/states/states.sql.h"

enum { JSON_LIMIT = 1 << 30, LOG_LIMIT = 1 << 20, LOG_DEFAULT = 64 << 10 };

/* ---- plans and applies ---- */

static json_t *number_or_null(const struct rows *rows, int row, const char *column)
{
	return row_null(rows, row, column) ? json_null() : json_integer(row_int(rows, row, column));
}

/* The agent of a run is always shown. Its pool is shown only for runs on agents, because the pool for remote execution
 * is internal. */
static json_t *execution_details(const struct operation_row *row)
{
	bool agents = row->by_agents;
	json_t *details = json_pack("{ss so so}", "mode", agents ? "agent" : "remote", "agent-id",
		json_string_or_null(row->worker_id), "agent-name", json_string_or_null(row->worker_name));

	if (agents)
		json_object_update_new(details,
			json_pack("{so so}", "agent-pool-id", json_string_or_null(row->pool_id), "agent-pool-name",
				json_string_or_null(row->pool_name)));
	return details;
}

static json_t *operation_resource(const struct store *store, const struct rows *rows, int row)
{
	const char *id = row_of(operation, rows, row)->id;
	bool plan = text_starts(id, "plan-");
	_cleanup_(freep) char *path = mem_printf("/logs/%s", id);
	_cleanup_(freep) char *log = signed_url(store, path);
	json_t *resource, *attributes;

	attributes = json_pack("{so so ss so so so so so sb}", "status",
		json_string_or_null(row_of(operation, rows, row)->status), "status-timestamps",
		json_shown(row_of(operation, rows, row)->status_timestamps), "log-read-url", log, "resource-additions",
		number_or_null(rows, row, "additions"), "resource-changes", number_or_null(rows, row, "changes"),
		"resource-destructions", number_or_null(rows, row, "destructions"), "resource-imports",
		number_or_null(rows, row, "imports"), "execution-details",
		execution_details(row_of(operation, rows, row)), "structured-run-output-enabled",
		row_of(operation, rows, row)->json_log);
	if (plan)
		json_object_update_new(attributes,
			json_pack("{sb sb}", "has-changes", row_of(operation, rows, row)->has_changes,
				"generated-configuration", row_of(operation, rows, row)->generated_configuration));
	resource = resource_new(plan ? "plans" : "applies", id, attributes,
		json_pack(
			"{so}", "state-versions", many_shown("state-versions", row_of(operation, rows, row)->states)));
	if (!plan)
		json_object_set_new(json_object_get(resource, "relationships"), "kept-state-versions",
			many_shown("state-versions", row_of(operation, rows, row)->kept_states));
	if (plan) {
		_cleanup_(freep) char *base = mem_printf("/api/v2/plans/%s", id);
		_cleanup_(freep) char *json = mem_printf("%s/json-output", base);
		_cleanup_(freep) char *redacted = mem_printf("%s/json-output-redacted", base);
		_cleanup_(freep) char *schema = mem_printf("%s/json-schema", base);

		json_object_set_new(json_object_get(resource, "relationships"), "exports",
			many_shown("plan-exports", row_of(operation, rows, row)->exports));
		json_object_set_new(resource, "links",
			json_pack("{ss ss ss ss}", "self", base, "json-output", json, "json-output-redacted", redacted,
				"json-schema", schema));
	}
	return resource;
}

static int operation_make(struct store *store, const struct rows *rows, int row, json_t **ret_resource, struct err *err)
{
	(void)err;
	*ret_resource = operation_resource(store, rows, row);
	return 0;
}

const struct resource_kind kind_plans = {.type = "plans", .ask = operation_views_of, .make = operation_make};
const struct resource_kind kind_applies = {.type = "applies", .ask = operation_views_of, .make = operation_make};

static int operation_show(struct request *req, struct response *res, const char *id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (operation_view(req->store, id, &rows, err) < 0 || may(req, place_of(&rows), "operation", err) < 0)
		return -1;
	return respond_resource(res, 200, operation_resource(req->store, &rows, 0));
}

int plans_read(struct request *req, struct response *res, struct err *err)
{
	if (!id_valid(param(req, "plan"), "plan"))
		return err_set(err, ERR_NOT_FOUND, "plan not found");
	return operation_show(req, res, param(req, "plan"), err);
}

int applies_read(struct request *req, struct response *res, struct err *err)
{
	if (!id_valid(param(req, "apply"), "apply"))
		return err_set(err, ERR_NOT_FOUND, "apply not found");
	return operation_show(req, res, param(req, "apply"), err);
}

/* Redirects to the state that the worker delivered after an apply failed. It is stored as a state version. */
int applies_errored_state(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows apply = ROWS_INIT, state = ROWS_INIT;

	if (!id_valid(param(req, "apply"), "apply"))
		return err_set(err, ERR_NOT_FOUND, "apply not found");
	if (operation_view(req->store, param(req, "apply"), &apply, err) < 0 ||
		may(req, place_of(&apply), "apply", err) < 0 ||
		state_recovered(req->store, row_of(operation, &apply, 0)->run_id, &state, err) < 0)
		return -1;
	res->http->status = 307;
	snprintf(res->http->location, sizeof(res->http->location), "%s/api/v2/state-versions/%s/download",
		req->store->settings->public_url, row_of(state_recovered, &state, 0)->id);
	return 0;
}

/* ---- JSON of a plan ---- */

/* Appends the content of one of the plan's artifacts to `out`. *ret_there is false if it was not uploaded yet. */
static int plan_content(struct request *req, const char *column, struct buf *out, bool *ret_there, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT, plan = ROWS_INIT;
	struct id id = id_sibling(*param(req, "plan") ? param(req, "plan") : param(req, "run"), "plan");

	if (operation_view(req->store, id.text, &plan, err) < 0)
		return -1;
	if (req->actor.kind == ACTOR_TASK ? actor_may_for_task(req->store, &req->actor,
						    row_of(operation, &plan, 0)->run_id, NULL, err) < 0
					  : may(req, place_of(&plan), "plan", err) < 0)
		return -1;
	if (artifacts_of_run(req->store, row_of(operation, &plan, 0)->run_id, &rows, err) < 0)
		return -1;
	if (row_of(artifacts_of_run, &rows, 0)->plan_deleted)
		return err_set(err, ERR_NOT_FOUND, "the plan was deleted: it is older than plans are kept here");
	*ret_there = !row_null(&rows, 0, column);
	return *ret_there ? blob_get(req->store, row_text(&rows, 0, column), out, err) : 0;
}

static int plan_answer(struct request *req, struct response *res, const char *column, struct err *err)
{
	struct buf content = BUF_INIT(JSON_LIMIT);
	bool there = false;

	if (plan_content(req, column, &content, &there, err) < 0) {
		buf_release(&content);
		return -1;
	}
	return there ? respond_bytes(res, "application/json", &content) : respond_empty(res, 204);
}

int plans_json(struct request *req, struct response *res, struct err *err)
{
	return plan_answer(req, res, "json_blob", err);
}

int plans_schemas(struct request *req, struct response *res, struct err *err)
{
	return plan_answer(req, res, "schemas_blob", err);
}

int plans_redacted(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(buf_release) struct buf plan = BUF_INIT(JSON_LIMIT), schemas = BUF_INIT(JSON_LIMIT);
	json_auto_t *plan_json = NULL, *schemas_json = NULL, *secrets = NULL;
	struct id run = id_sibling(param(req, "plan"), "run");
	bool plan_there = false, schemas_there = false;

	if (plan_content(req, "json_blob", &plan, &plan_there, err) < 0 ||
		plan_content(req, "schemas_blob", &schemas, &schemas_there, err) < 0)
		return -1;
	if (!plan_there || !schemas_there)
		return respond_empty(res, 204);
	if (json_parse(buf_str(&plan), plan.len, &plan_json, err) < 0 ||
		json_parse(buf_str(&schemas), schemas.len, &schemas_json, err) < 0 ||
		run_secrets(req->store, run.text, &secrets, err) < 0)
		return -1;
	return respond_json(res, 200, plan_redact(plan_json, schemas_json, secrets));
}

/* ---- logs ---- */

int operations_log(struct request *req, struct response *res, struct err *err)
{
	struct buf bytes = BUF_INIT(LOG_LIMIT + 2);
	struct log_range range = {.operation_id = param(req, "operation"), .limit = LOG_DEFAULT};

	if (query(req, "offset") && text_number(query(req, "offset"), 0, INT64_MAX / 4, &range.offset) < 0)
		return err_set(err, ERR_MALFORMED, "offset must be a whole number");
	if (query(req, "limit") && text_number(query(req, "limit"), 1, INT64_MAX / 4, &range.limit) < 0)
		return err_set(err, ERR_MALFORMED, "limit must be a whole number");
	if (range.limit > LOG_LIMIT)
		range.limit = LOG_LIMIT;
	if (log_read(req->store, &range, &bytes, err) < 0) {
		buf_release(&bytes);
		return -1;
	}
	return respond_bytes(res, "text/plain; charset=utf-8", &bytes);
}
