/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/api.h"
#include "scheduler/api/kinds.h"
#include "scheduler/store/runs/cost_estimates.h"
#include "scheduler/store/runs/cost_estimates.sql.h"

enum { OUTPUT_LIMIT = 64 << 20 };

/* Clients parse amounts as numbers in every status. */
static json_t *amount(const char *amount)
{
	return json_string(amount ? amount : "0.0");
}

static json_t *resources(const json_t *document, bool matched)
{
	json_t *chosen = json_array(), *resource;
	size_t i;

	json_array_foreach(json_object_get(document, "resources"), i, resource)
	{
		if (json_is_true(json_object_get(resource, "matched")) == matched)
			json_array_append(chosen, resource);
	}
	return chosen;
}

static json_t *cost_estimate_resource(const void *of_row)
{
	const struct cost_estimate_row *estimate = of_row;
	json_auto_t *document = json_shown(estimate->document);
	_cleanup_(freep) char *self = mem_printf("/api/v2/cost-estimates/%s", estimate->id);
	json_t *resource = resource_new("cost-estimates", estimate->id,
		json_pack("{ss so so so so so so sI sI sI s{so so}}", "status", estimate->status, "status-timestamps",
			json_shown(estimate->status_timestamps), "error-message",
			json_string_or_null(estimate->error_message), "prior-monthly-cost",
			amount(estimate->prior_monthly_cost), "proposed-monthly-cost",
			amount(estimate->proposed_monthly_cost), "delta-monthly-cost",
			amount(estimate->delta_monthly_cost), "currency", json_string_or_null(estimate->currency),
			"resources-count", (json_int_t)estimate->resources_count, "matched-resources-count",
			(json_int_t)estimate->matched_resources_count, "unmatched-resources-count",
			(json_int_t)estimate->unmatched_resources_count, "resources", "matched",
			resources(document, true), "unmatched", resources(document, false)),
		json_pack("{so}", "run", to_one("runs", estimate->run_id)));

	json_object_set_new(resource, "links", json_pack("{ss}", "self", self));
	return resource;
}

const struct resource_kind kind_cost_estimates = {
	.type = "cost-estimates", .ask = cost_estimate_views_of, .show = cost_estimate_resource};

static int estimate_in_path(struct request *req, struct rows *ret_rows, struct err *err)
{
	if (cost_estimate_view(req->store, param(req, "estimate"), ret_rows, err) < 0)
		return -1;
	return may(req, place_of(row_of(cost_estimate, ret_rows, 0)), "cost estimate", err);
}

int cost_estimates_read(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (estimate_in_path(req, &rows, err) < 0)
		return -1;
	return respond_resource(res, 200, cost_estimate_resource(row_of(cost_estimate, &rows, 0)));
}

/* ---- as readable text ---- */

static const char *text_of(const json_t *object, const char *name)
{
	return text_or_empty(json_string_at(object, name));
}

static void write_components(struct buf *out, const json_t *resource)
{
	const json_t *one;
	size_t i;

	json_array_foreach(json_object_get(resource, "components"), i, one)
	{
		buf_printf(out, "    %s: %s %s at %s: %s\n", text_of(one, "name"), text_of(one, "quantity"),
			text_of(one, "unit"), text_of(one, "price"), text_of(one, "monthly-cost"));
	}
}

static void write_resources(struct buf *out, const json_t *document)
{
	const json_t *resource;
	size_t i;

	json_array_foreach(json_object_get(document, "resources"), i, resource)
	{
		if (json_is_true(json_object_get(resource, "matched"))) {
			buf_printf(out, "  %s: %s, was %s (%s)\n", text_of(resource, "address"),
				text_of(resource, "proposed"), text_of(resource, "prior"), text_of(resource, "delta"));
			write_components(out, resource);
		} else {
			buf_printf(out, "  %s: not estimated, %s\n", text_of(resource, "address"),
				text_of(resource, "reason"));
		}
	}
}

static void write_output(struct buf *out, const struct cost_estimate_row *estimate)
{
	json_auto_t *document = json_shown(estimate->document);

	if (!text_equal(estimate->status, "finished")) {
		buf_printf(out, "The cost estimate is %s.", estimate->status);
		if (estimate->error_message)
			buf_printf(out, " %s", estimate->error_message);
		buf_text(out, "\n");
		return;
	}
	buf_printf(out, "%s a month, %lld of %lld resources estimated:\n\n", estimate->currency,
		estimate->matched_resources_count, estimate->resources_count);
	write_resources(out, document);
	buf_printf(out, "\nTotal: %s, was %s (%s)\n", estimate->proposed_monthly_cost, estimate->prior_monthly_cost,
		estimate->delta_monthly_cost);
}

int cost_estimates_output(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct buf out = BUF_INIT(OUTPUT_LIMIT);

	if (estimate_in_path(req, &rows, err) < 0)
		return -1;
	write_output(&out, row_of(cost_estimate, &rows, 0));
	return respond_bytes(res, "text/plain; charset=utf-8", &out);
}
