/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/cost/infracost.h"

#include "common/err.h"
#include "worker/cost/estimate.h"
#include "worker/cost/exact.h"

/* Amounts are texts or null; a missing amount counts as 0. */
static struct decimal amount_at(const json_t *object, const char *name)
{
	struct decimal amount;

	return decimal_parse(json_string_at(object, name), &amount) == 0 ? amount : decimal_of(0);
}

/* ---- resources ---- */

static json_t *member_or_null(const json_t *object, const char *name)
{
	return json_string_or_null(json_string_at(object, name));
}

static void add_components(json_t *components, const json_t *resource)
{
	const json_t *one;
	size_t i;

	json_array_foreach(json_object_get(resource, "costComponents"), i, one)
	{
		if (json_string_at(one, "monthlyCost"))
			json_array_append_new(components,
				json_pack("{so so so so so}", "name", member_or_null(one, "name"), "unit",
					member_or_null(one, "unit"), "quantity", member_or_null(one, "monthlyQuantity"),
					"price", member_or_null(one, "price"), "monthly-cost",
					member_or_null(one, "monthlyCost")));
	}
	json_array_foreach(json_object_get(resource, "subresources"), i, one)
	{
		add_components(components, one);
	}
}

/* The entry of that address, created if missing. Borrowed. */
static json_t *entry_of(json_t *entries, const json_t *resource)
{
	const char *address = text_or_empty(json_string_at(resource, "name"));
	json_t *entry = json_object_get(entries, address);

	if (entry)
		return entry;
	entry = json_pack("{ss so ss sb ss ss s[]}", "address", address, "type",
		member_or_null(resource, "resourceType"), "provider", "", "matched", 1, "prior", "0.00", "proposed",
		"0.00", "components");
	json_object_set_new(entries, address, entry);
	return entry;
}

static void add_side(json_t *entries, const json_t *project, const char *breakdown, const char *side)
{
	const json_t *resource;
	size_t i;

	json_array_foreach(json_object_get(json_object_get(project, breakdown), "resources"), i, resource)
	{
		json_t *entry = entry_of(entries, resource), *components = json_array();

		add_components(components, resource);
		amount_set(entry, side, amount_at(resource, "monthlyCost"));
		json_object_set_new(entry, "components", components);
	}
}

static json_t *project_resources(const json_t *project)
{
	json_auto_t *entries = json_object();
	json_t *list = json_array(), *entry;
	const char *address;

	add_side(entries, project, "pastBreakdown", "prior");
	add_side(entries, project, "breakdown", "proposed");
	json_object_foreach(entries, address, entry)
	{
		amount_set(entry, "delta", decimal_sub(amount_at(entry, "proposed"), amount_at(entry, "prior")));
		json_array_append(list, entry);
	}
	return list;
}

/* ---- the whole document ---- */

static int count_at(const json_t *summary, const char *name)
{
	long long count = 0;

	text_number(json_string_at(summary, name), 0, INT32_MAX, &count);
	return (int)count;
}

int infracost_read(const char *text, size_t len, json_t **ret_document, struct err *err)
{
	json_auto_t *said = NULL;
	const json_t *project, *summary;
	json_t *document;
	int all, unknown;

	if (exact_parse(text, len, &said, err) < 0)
		return err_context(err, "infracost's answer can't be read");
	project = json_array_get(json_object_get(said, "projects"), 0);
	summary = json_object_get(said, "summary");
	if (!project || !summary)
		return err_set(err, ERR_MALFORMED, "infracost's answer can't be read: it has no project or no summary");
	all = count_at(summary, "totalDetectedResources");
	unknown = count_at(summary, "totalUnsupportedResources");
	document = json_pack("{ss sn ss si si si so}", "status", "finished", "error-message", "currency",
		json_string_at(said, "currency") ? json_string_at(said, "currency") : "USD", "resources-count", all,
		"matched-resources-count", all - unknown, "unmatched-resources-count", unknown, "resources",
		project_resources(project));
	amount_set(document, "prior-monthly-cost", amount_at(said, "pastTotalMonthlyCost"));
	amount_set(document, "proposed-monthly-cost", amount_at(said, "totalMonthlyCost"));
	amount_set(document, "delta-monthly-cost",
		decimal_sub(amount_at(said, "totalMonthlyCost"), amount_at(said, "pastTotalMonthlyCost")));
	*ret_document = document;
	return 0;
}
