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

static json_t *number_or_null(bool is_null, long long number)
{
	return is_null ? json_null() : json_integer(number);
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

/* Adds the attributes, the relation and the links of a plan. */
static void plan_add(json_t *resource, const struct operation_row *plan)
{
	_cleanup_(freep) char *base = mem_printf("/api/v2/plans/%s", plan->id);
	_cleanup_(freep) char *json = mem_printf("%s/json-output", base);
	_cleanup_(freep) char *redacted = mem_printf("%s/json-output-redacted", base);
	_cleanup_(freep) char *schema = mem_printf("%s/json-schema", base);

	json_object_update_new(json_object_get(resource, "attributes"),
		json_pack("{sb sb}", "has-changes", plan->has_changes, "generated-configuration",
			plan->generated_configuration));
	json_object_set_new(
		json_object_get(resource, "relationships"), "exports", many_shown("plan-exports", plan->exports));
	json_object_set_new(resource, "links",
		json_pack("{ss ss ss ss}", "self", base, "json-output", json, "json-output-redacted", redacted,
			"json-schema", schema));
}

static json_t *operation_resource(const struct store *store, const struct operation_row *operation)
{
	bool plan = text_starts(operation->id, "plan-");
	_cleanup_(freep) char *path = mem_printf("/logs/%s", operation->id);
	_cleanup_(freep) char *log = signed_url(store, path);
	json_t *resource = resource_new(plan ? "plans" : "applies", operation->id,
		json_pack("{ss so ss so so so so so sb}", "status", operation->status, "status-timestamps",
			json_shown(operation->status_timestamps), "log-read-url", log, "resource-additions",
			number_or_null(operation->additions_null, operation->additions), "resource-changes",
			number_or_null(operation->changes_null, operation->changes), "resource-destructions",
			number_or_null(operation->destructions_null, operation->destructions), "resource-imports",
			number_or_null(operation->imports_null, operation->imports), "execution-details",
			execution_details(operation), "structured-run-output-enabled", operation->json_log),
		json_pack("{so}", "state-versions", many_shown("state-versions", operation->states)));

	if (plan)
		plan_add(resource, operation);
	else
		json_object_set_new(json_object_get(resource, "relationships"), "kept-state-versions",
			many_shown("state-versions", operation->kept_states));
	return resource;
}

static int operation_make(struct store *store, const void *of_row, json_t **ret_resource, struct err *err)
{
	(void)err;
	*ret_resource = operation_resource(store, of_row);
	return 0;
}

const struct resource_kind kind_plans = {.type = "plans", .ask = operation_views_of, .make = operation_make};
const struct resource_kind kind_applies = {.type = "applies", .ask = operation_views_of, .make = operation_make};

static int operation_show(struct request *req, struct response *res, const char *id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (operation_view(req->store, id, &rows, err) < 0 ||
		may(req, place_of(row_of(operation, &rows, 0)), "operation", err) < 0)
		return -1;
	return respond_resource(res, 200, operation_resource(req->store, row_of(operation, &rows, 0)));
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
		may(req, place_of(row_of(operation, &apply, 0)), "apply", err) < 0 ||
		state_recovered(req->store, row_of(operation, &apply, 0)->run_id, &state, err) < 0)
		return -1;
	res->http->status = 307;
	snprintf(res->http->location, sizeof(res->http->location), "%s/api/v2/state-versions/%s/download",
		req->store->settings->public_url, row_of(state_recovered, &state, 0)->id);
	return 0;
}

/* ---- JSON of a plan ---- */

/* The plan in the path, by its own id or that of its run, if the actor may read it. */
static int plan_in_path(struct request *req, struct rows *ret_plan, struct err *err)
{
	struct id id = id_sibling(*param(req, "plan") ? param(req, "plan") : param(req, "run"), "plan");
	const struct operation_row *plan;

	if (operation_view(req->store, id.text, ret_plan, err) < 0)
		return -1;
	plan = row_of(operation, ret_plan, 0);
	return req->actor.kind == ACTOR_TASK ? actor_may_for_task(req->store, &req->actor, plan->run_id, NULL, err)
					     : may(req, place_of(plan), "plan", err);
}

/* Appends the part of the plan to `out`. *ret_there is false if it was not uploaded yet. */
static int part_read(
	struct request *req, const char *run_id, enum plan_part part, struct buf *out, bool *ret_there, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct artifacts_of_run_row *artifacts;
	const char *blob;

	if (artifacts_of_run(req->store, run_id, &rows, err) < 0)
		return -1;
	artifacts = row_of(artifacts_of_run, &rows, 0);
	if (artifacts->plan_deleted)
		return err_set(err, ERR_NOT_FOUND, "the plan was deleted: it is older than plans are kept here");
	blob = part == PLAN_JSON ? artifacts->json_blob : artifacts->schemas_blob;
	*ret_there = blob;
	return blob ? blob_get(req->store, blob, out, err) : 0;
}

int plan_part_respond(
	struct request *req, struct response *res, const char *run_id, enum plan_part part, struct err *err)
{
	struct buf content = BUF_INIT(JSON_LIMIT);
	bool there = false;

	if (part_read(req, run_id, part, &content, &there, err) < 0) {
		buf_release(&content);
		return -1;
	}
	return there ? respond_bytes(res, "application/json", &content) : respond_empty(res, 204);
}

static int plan_answer(struct request *req, struct response *res, enum plan_part part, struct err *err)
{
	_cleanup_(rows_release) struct rows plan = ROWS_INIT;

	if (plan_in_path(req, &plan, err) < 0)
		return -1;
	return plan_part_respond(req, res, row_of(operation, &plan, 0)->run_id, part, err);
}

int plans_json(struct request *req, struct response *res, struct err *err)
{
	return plan_answer(req, res, PLAN_JSON, err);
}

int plans_schemas(struct request *req, struct response *res, struct err *err)
{
	return plan_answer(req, res, PLAN_SCHEMAS, err);
}

int plans_redacted(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(buf_release) struct buf plan = BUF_INIT(JSON_LIMIT), schemas = BUF_INIT(JSON_LIMIT);
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(json_document_release) struct json_document plan_json = JSON_NO_DOCUMENT;
	_cleanup_(json_document_release) struct json_document schemas_json = JSON_NO_DOCUMENT;
	json_auto_t *secrets = NULL;
	bool plan_there = false, schemas_there = false;
	const char *run;

	if (plan_in_path(req, &rows, err) < 0)
		return -1;
	run = row_of(operation, &rows, 0)->run_id;
	if (part_read(req, run, PLAN_JSON, &plan, &plan_there, err) < 0 ||
		part_read(req, run, PLAN_SCHEMAS, &schemas, &schemas_there, err) < 0)
		return -1;
	if (!plan_there || !schemas_there)
		return respond_empty(res, 204);
	if (json_document_parse(&plan_json, buf_str(&plan), plan.len, err) < 0 ||
		json_document_parse(&schemas_json, buf_str(&schemas), schemas.len, err) < 0 ||
		run_secrets(req->store, run, &secrets, err) < 0)
		return -1;
	return respond_json(res, 200, plan_redact(plan_json.value, schemas_json.value, secrets));
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
