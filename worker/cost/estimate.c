/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/cost/estimate.h"

#include "common/err.h"
#include "worker/cost/plan.h"

struct estimate {
	const struct books *books;
	const json_t *env;
	struct decimal prior, proposed;
	json_t *resources;
	int matched, unmatched;
};

void amount_set(json_t *object, const char *name, struct decimal amount)
{
	char text[DECIMAL_TEXT_SIZE];

	decimal_text(amount, 2, text);
	json_object_set_new(object, name, json_string(text));
}

static void set_amounts(json_t *object, const char *const names[3], struct decimal prior, struct decimal proposed)
{
	amount_set(object, names[0], prior);
	amount_set(object, names[1], proposed);
	amount_set(object, names[2], decimal_sub(proposed, prior));
}

/* The price of one side; a missing object costs nothing. */
static void price_side(
	const struct estimate *estimate, const char *type, struct values values, struct pricing *ret_pricing)
{
	values.env.values = estimate->env;
	if (values.planned.values)
		price_resource(estimate->books, type, &values, ret_pricing);
	else
		*ret_pricing = (struct pricing){.matched = true, .components = json_array()};
}

/* Adds a resource that is priced on both sides. If only one side were known, its difference would be wrong. */
static void add_matched(
	struct estimate *estimate, json_t *resource, const struct pricing *before, const struct pricing *after)
{
	static const char *const names[] = {"prior", "proposed", "delta"};
	const struct pricing *shown = json_array_size(after->components) ? after : before;

	set_amounts(resource, names, before->monthly, after->monthly);
	json_object_set(resource, "components", shown->components);
	estimate->prior = decimal_add(estimate->prior, before->monthly);
	estimate->proposed = decimal_add(estimate->proposed, after->monthly);
	estimate->matched++;
}

static void add_resource(void *data, const struct planned *planned)
{
	struct estimate *estimate = data;
	_cleanup_(pricing_release) struct pricing before = {0}, after = {0};
	json_t *resource;

	price_side(estimate, planned->type, planned->before, &before);
	price_side(estimate, planned->type, planned->after, &after);
	resource = json_pack("{ss so ss ss sb}", "address", planned->address, "deposed",
		json_string_or_null(planned->deposed), "type", planned->type, "provider",
		text_or_empty(planned->provider), "matched", before.matched && after.matched);
	json_array_append_new(estimate->resources, resource);
	if (before.matched && after.matched) {
		add_matched(estimate, resource, &before, &after);
		return;
	}
	json_object_set_new(resource, "reason", json_string(after.matched ? before.reason : after.reason));
	estimate->unmatched++;
}

int estimate_plan(
	const struct books *books, const json_t *env, struct bytes plan, json_t **ret_document, struct err *err)
{
	static const char *const names[] = {"prior-monthly-cost", "proposed-monthly-cost", "delta-monthly-cost"};
	struct estimate estimate = {.books = books, .env = env};
	_cleanup_(plan_release) struct plan read = {.source = NULL};
	json_t *document;

	if (plan_read(plan.data, plan.len, &read, err) < 0)
		return -1;
	estimate.resources = json_array();
	plan_each(&read, add_resource, &estimate);
	document = json_pack("{ss sn ss si si si so}", "status", "finished", "error-message", "currency",
		*books->currency ? books->currency : "USD", "resources-count", estimate.matched + estimate.unmatched,
		"matched-resources-count", estimate.matched, "unmatched-resources-count", estimate.unmatched,
		"resources", estimate.resources);
	set_amounts(document, names, estimate.prior, estimate.proposed);
	if (decimal_sub(estimate.proposed, estimate.prior).broken) {
		json_decref(document);
		return err_set(err, ERR_TOO_LARGE, "the plan's costs have too many digits to be added up");
	}
	*ret_document = document;
	return 0;
}

json_t *estimate_errored(const char *why)
{
	return json_pack("{ss ss}", "status", "errored", "error-message", why);
}
