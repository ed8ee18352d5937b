/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/policies/policy_evaluations.h"

#include <stdio.h>

#include "scheduler/api/kinds.h"
#include "scheduler/store/policies/policy_views.h"
#include "scheduler/store/policies/policy_views.sql.h"

/* OPA's evaluations in the post_plan task stage, and the outcome of each policy set. */

/* ---- evaluations ---- */

static const char *const counted[] = {"advisory-failed", "mandatory-failed", "passed", "errored"};

static json_t *counts_show(const char *result_count)
{
	json_auto_t *counts = json_shown(result_count);
	json_t *shown = json_object();

	for (size_t i = 0; i < ARRAY_LEN(counted); i++)
		json_object_set_new(shown, counted[i], json_integer(json_int_at(counts, counted[i], 0)));
	return shown;
}

static json_t *evaluation_resource(const void *of_row)
{
	const struct policy_evaluation_row *evaluation = of_row;
	_cleanup_(freep) char *self = mem_printf("/api/v2/policy-evaluations/%s", evaluation->id);
	json_t *resource = resource_new("policy-evaluations", evaluation->id,
		json_pack("{ss ss so so so so}", "status", evaluation->status, "policy-kind", evaluation->kind,
			"status-timestamps", json_shown(evaluation->status_timestamps), "result-count",
			counts_show(evaluation->result_count), "created-at", time_shown(evaluation->created_at),
			"updated-at", time_shown(evaluation->updated_at)),
		json_pack("{so so}", "policy-attachable", to_one("task-stages", evaluation->task_stage_id),
			"policy-set-outcomes",
			relation_linked(many_shown("policy-set-outcomes", evaluation->outcomes), "policy-evaluations",
				evaluation->id, "policy-set-outcomes")));

	json_object_set_new(resource, "links", json_pack("{ss}", "self", self));
	return resource;
}

const struct resource_kind kind_policy_evaluations = {
	.type = "policy-evaluations", .ask = policy_evaluation_views_of, .show = evaluation_resource};

int policy_evaluations_of_run(struct store *store, const char *run_id, json_t **ret_evaluations, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (policy_evaluations_view(store, run_id, "opa", &rows, err) < 0)
		return -1;
	*ret_evaluations = json_array();
	for (int i = 0; i < rows.count; i++)
		json_array_append_new(*ret_evaluations, evaluation_resource(row_of(policy_evaluation, &rows, i)));
	return 0;
}

static int evaluation_in_path(struct request *req, struct rows *ret_rows, struct err *err)
{
	if (policy_evaluation_view(req->store, param(req, "evaluation"), "opa", ret_rows, err) < 0)
		return -1;
	return may(req, place_of(row_of(policy_evaluation, ret_rows, 0)), "policy evaluation", err);
}

int policy_evaluations_read(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (evaluation_in_path(req, &rows, err) < 0)
		return -1;
	return respond_resource(res, 200, evaluation_resource(row_of(policy_evaluation, &rows, 0)));
}

/* ---- outcomes of policy sets ---- */

enum { MAX_FILTERS = 16 };

/* filter[i][status] and filter[i][enforcement_level]: a policy is shown if it matches one of the filters. */
struct filter {
	const char *status, *level; /* or NULL */
};

static size_t filters_read(const struct request *req, struct filter ret_filters[MAX_FILTERS])
{
	size_t count = 0;

	for (int i = 0; i < MAX_FILTERS; i++) {
		struct filter filter;
		char name[64];

		snprintf(name, sizeof(name), "filter[%d][status]", i);
		filter.status = query(req, name);
		snprintf(name, sizeof(name), "filter[%d][enforcement_level]", i);
		filter.level = query(req, name);
		snprintf(name, sizeof(name), "filter[%d][enforcementLevel]", i);
		if (!filter.level)
			filter.level = query(req, name);
		if (filter.status || filter.level)
			ret_filters[count++] = filter;
	}
	return count;
}

static bool filters_fit(const struct filter *filters, size_t count, const json_t *outcome)
{
	for (size_t i = 0; i < count; i++)
		if ((!filters[i].status || text_equal(filters[i].status, json_string_at(outcome, "status"))) &&
			(!filters[i].level ||
				text_equal(filters[i].level, json_string_at(outcome, "enforcement_level"))))
			return true;
	return !count;
}

static json_t *outcomes_show(const struct policy_outcome_row *row, const struct filter *filters, size_t count)
{
	json_auto_t *outcomes = json_shown(row->outcomes);
	json_t *shown = json_array();
	json_t *outcome;
	size_t i;

	json_array_foreach(outcomes, i, outcome)
	{
		if (filters_fit(filters, count, outcome))
			json_array_append(shown, outcome);
	}
	return shown;
}

/* Takes the outcomes. */
static json_t *outcome_resource(const struct policy_outcome_row *outcome, json_t *outcomes)
{
	return resource_new("policy-set-outcomes", outcome->id,
		json_pack("{so so sb ss ss so}", "outcomes", outcomes, "error", json_string_or_null(outcome->error),
			"overridable", outcome->overridable, "policy-set-name", outcome->name, "policy-set-description",
			outcome->description, "result_count", counts_show(outcome->result_count)),
		json_pack("{so}", "policy-evaluation", to_one("policy-evaluations", outcome->policy_evaluation_id)));
}

int policy_outcomes_index(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows evaluation = ROWS_INIT, rows = ROWS_INIT;
	struct filter filters[MAX_FILTERS];
	size_t count = filters_read(req, filters);
	struct page page;
	json_t *data;

	if (page_read(req, &page, err) < 0 || evaluation_in_path(req, &evaluation, err) < 0 ||
		policy_outcomes_view(req->store, row_of(policy_evaluation, &evaluation, 0)->id, &rows, err) < 0)
		return -1;
	data = json_array();
	page.total = 0;
	for (int i = 0; i < rows.count; i++) {
		const struct policy_outcome_row *outcome = row_of(policy_outcome, &rows, i);
		json_t *outcomes = outcomes_show(outcome, filters, count);

		if ((count && !json_array_size(outcomes)) || page.total++ < page.offset ||
			page.total > page.offset + page.size)
			json_decref(outcomes);
		else
			json_array_append_new(data, outcome_resource(outcome, outcomes));
	}
	return respond_page(req, res, &page, data, NULL);
}

int policy_outcomes_read(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct policy_outcome_row *outcome;

	if (policy_outcome_view(req->store, param(req, "outcome"), &rows, err) < 0)
		return -1;
	outcome = row_of(policy_outcome, &rows, 0);
	if (may(req, place_of(outcome), "policy set outcome", err) < 0)
		return -1;
	return respond_resource(res, 200, outcome_resource(outcome, json_shown(outcome->outcomes)));
}
