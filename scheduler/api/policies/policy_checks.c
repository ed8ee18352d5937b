/* SPDX-License-Identifier: MPL-2.0 */
#include "proto/states.h"
#include "scheduler/api/access/permissions.h"
#include "scheduler/api/api.h"
#include "scheduler/api/include_resolver.h"
#include "scheduler/api/resources.h"
#include "scheduler/api/runs/runs.h"
#include "scheduler/runs/transition.h"
#include "scheduler/store/policies/policy_views.h"
#include "scheduler/store/policies/policy_views.sql.h"

/* Sentinel's policy checks. */

/* ---- the result ---- */

static bool is_errored(const json_t *outcome)
{
	return text_equal(json_string_at(outcome, "status"), "errored");
}

/* The reason of an errored policy, which its output begins with; otherwise null. */
static json_t *reason_show(const json_t *outcome)
{
	const json_t *first = json_array_get(json_object_get(outcome, "output"), 0);

	return is_errored(outcome) ? json_string(text_or_empty(json_string_at(first, "print"))) : json_null();
}

/* The rest of the output. */
static json_t *trace_show(const json_t *outcome)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(64 << 20);
	const json_t *output = json_object_get(outcome, "output");

	for (size_t i = is_errored(outcome); i < json_array_size(output); i++)
		buf_printf(&text, "%s%s", text.len ? "\n" : "",
			text_or_empty(json_string_at(json_array_get(output, i), "print")));
	return json_pack("{so ss}", "description", json_string_or_null(json_string_at(outcome, "description")), "print",
		buf_str(&text));
}

static json_t *sentinel_policies(const json_t *set)
{
	json_t *policies = json_array();
	const json_t *outcome;
	size_t i;

	json_array_foreach(json_object_get(set, "outcomes"), i, outcome)
	{
		const char *level = json_string_at(outcome, "enforcement_level");
		_cleanup_(freep) char *name = mem_printf(
			"%s/%s", json_string_at(set, "name"), text_or_empty(json_string_at(outcome, "policy_name")));

		json_array_append_new(policies,
			json_pack("{ss sb so sb so so}", "policy", name, "allowed-failure",
				text_equal(level, "advisory"), "enforcement-level", json_string_or_null(level),
				"result", text_equal(json_string_at(outcome, "status"), "passed"), "error",
				reason_show(outcome), "trace", trace_show(outcome)));
	}
	return policies;
}

/* The result by policy set, in the form of `sentinel apply -json`. */
static json_t *sentinel_show(const struct policy_evaluation_row *check)
{
	json_auto_t *sets = json_shown(check->sets);
	json_t *data = json_object();
	json_t *set;
	size_t i;

	json_array_foreach(sets, i, set)
	{
		json_t *policies = sentinel_policies(set);
		bool passed = json_is_null(json_object_get(set, "error"));
		json_t *policy;
		size_t p;

		json_array_foreach(policies, p, policy) passed = passed &&
			(json_bool_at(policy, "result", false) || json_bool_at(policy, "allowed-failure", false));
		json_object_set_new(data, text_or_empty(json_string_at(set, "name")),
			json_pack("{sb sO sb so}", "can-override", 1, "error", json_object_get(set, "error"), "result",
				passed, "policies", policies));
	}
	return json_pack("{si so}", "schema-version", 1, "data", data);
}

static json_t *result_show(const struct policy_evaluation_row *check)
{
	json_auto_t *counts = json_shown(check->result_count);
	long long hard = json_int_at(counts, "hard-failed", 0), soft = json_int_at(counts, "soft-failed", 0);
	long long advisory = json_int_at(counts, "advisory-failed", 0), errored = json_int_at(counts, "errored", 0);

	return json_pack("{sb sI sI sI sI sI sI sI so}", "result",
		text_equal(check->status, "passed") || text_equal(check->status, "overridden"), "passed",
		(json_int_t)json_int_at(counts, "passed", 0), "total-failed",
		(json_int_t)(hard + soft + advisory + errored), "hard-failed", (json_int_t)hard, "soft-failed",
		(json_int_t)soft, "advisory-failed", (json_int_t)advisory, "errored", (json_int_t)errored, "duration",
		(json_int_t)check->took, "sentinel", sentinel_show(check));
}

/* ---- the resource ---- */

static bool awaits_override(const struct policy_evaluation_row *check)
{
	return text_equal(check->run_stage, stages[STAGE_SENTINEL].name) &&
		text_equal(check->run_status, run_statuses[RUN_POLICY_OVERRIDE].name);
}

/* Clients know no status of a check that runs: terraform ends with an error if it reads one. */
static const char *check_status(const struct policy_evaluation_row *check)
{
	return text_equal(check->status, "running") ? "queued" : check->status;
}

static json_t *check_resource(const void *of_row)
{
	const struct policy_evaluation_row *check = of_row;
	_cleanup_(freep) char *self = mem_printf("/api/v2/policy-checks/%s", check->id);
	_cleanup_(freep) char *output = mem_printf("%s/output", self);
	json_t *resource = resource_new("policy-checks", check->id,
		json_pack("{ss ss so s{sb} s{sb} so}", "status", check_status(check), "scope", "organization",
			"status-timestamps", json_shown(check->status_timestamps), "actions", "is-overridable",
			awaits_override(check), "permissions", "can-override", rights_may(check->rights, CAN_OVERRIDE),
			"result", result_show(check)),
		json_pack("{so}", "run", to_one("runs", check->run_id)));

	json_object_set_new(resource, "links", json_pack("{ss ss}", "self", self, "output", output));
	return resource;
}

/* ---- included ---- */

static const struct inclusion includes[] = {
	{"run", "policy-checks", "run", &kind_runs},
	{"run.workspace", "runs", "workspace", &kind_workspaces},
};

const struct resource_kind kind_policy_checks = {
	.type = "policy-checks", .ask = policy_evaluation_views_of, .show = check_resource, KIND_INCLUDES(includes)};

/* ---- reading ---- */

int policy_checks_index(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows run = ROWS_INIT, rows = ROWS_INIT;
	json_auto_t *data = json_array();
	struct page page;
	json_t *included;

	if (includes_check(req, &kind_policy_checks, err) < 0 || page_read(req, &page, err) < 0 ||
		run_in_path(req, &run, err) < 0 ||
		policy_evaluations_view(req->store, run_of(&run)->id, "sentinel", &rows, err) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++)
		json_array_append_new(data, check_resource(row_of(policy_evaluation, &rows, i)));
	if (includes_follow(req, &kind_policy_checks, data, &included, err) < 0)
		return -1;
	return respond_slice(req, res, &page, data, included);
}

static int check_in_path(struct request *req, struct rows *ret_rows, struct err *err)
{
	if (policy_evaluation_view(req->store, param(req, "check"), "sentinel", ret_rows, err) < 0)
		return -1;
	return may(req, place_of(row_of(policy_evaluation, ret_rows, 0)), "policy check", err);
}

int policy_checks_read(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (includes_check(req, &kind_policy_checks, err) < 0 || check_in_path(req, &rows, err) < 0)
		return -1;
	return respond_row(req, res, 200, &(struct resource_rows){&kind_policy_checks, &rows}, err);
}

int policy_checks_output(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct buf output = BUF_INIT(SIZE_MAX / 2);

	if (check_in_path(req, &rows, err) < 0)
		return -1;
	buf_text(&output, row_of(policy_evaluation, &rows, 0)->output);
	return respond_bytes(res, "text/plain; charset=utf-8", &output);
}

/* ---- overriding ---- */

int policy_checks_override(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT, after = ROWS_INIT;
	struct run_transition item = {.event = {.kind = EV_OVERRIDDEN}, .actor = req->actor.user.text};
	const struct policy_evaluation_row *check;

	if (check_in_path(req, &rows, err) < 0 || body_comment(req, &item.comment, err) < 0)
		return -1;
	check = row_of(policy_evaluation, &rows, 0);
	if (!awaits_override(check))
		return err_set(err, ERR_CONFLICT, "the run is not waiting for an override of its policy check");
	text_copy(item.run.text, sizeof(item.run.text), check->run_id);
	if (run_apply_transition(req->store, &item, err) < 0 ||
		policy_evaluation_view(req->store, check->id, "sentinel", &after, err) < 0)
		return -1;
	return respond_resource(res, 200, check_resource(row_of(policy_evaluation, &after, 0)));
}
