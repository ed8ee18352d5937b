/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/runs/cost_estimates.h"

#include "scheduler/store/runs/cost_estimates.sql.h"

#include <string.h>

#include "proto/states.h"

int cost_estimate_create(
	struct store *store, const char *run_id, bool has_targets, uint32_t *ret_stages, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, cost_estimate_create, .run_id = run_id, .id = id_sibling(run_id, "ce").text,
		    .status = has_targets ? "skipped_due_to_targeting" : "pending") < 0)
		return -1;
	*ret_stages = rows.count && !has_targets ? STAGE_BIT(STAGE_COST) : 0;
	return 0;
}

/* ---- results of a worker ---- */

enum { MAX_DIGITS = 64 };

/* "-12.50": an optional minus, digits, and optionally a point with more digits. */
static bool is_amount(const char *text)
{
	size_t whole, len;

	if (!text)
		return false;
	text += *text == '-';
	len = strlen(text);
	whole = strspn(text, "0123456789");
	if (!whole || len > MAX_DIGITS)
		return false;
	if (!text[whole])
		return true;
	return text[whole] == '.' && text[whole + 1] && !text[whole + 1 + strspn(text + whole + 1, "0123456789")];
}

static int document_wrong(struct err *err, const char *name)
{
	return err_set(err, ERR_INVALID, "the cost estimate's %s is not what it should be", name);
}

static int finished_check(const json_t *document, struct err *err)
{
	static const char *const amounts[] = {"prior-monthly-cost", "proposed-monthly-cost", "delta-monthly-cost"};
	static const char *const counts[] = {"resources-count", "matched-resources-count", "unmatched-resources-count"};
	const char *currency = json_string_at(document, "currency");

	for (size_t i = 0; i < ARRAY_LEN(amounts); i++)
		if (!is_amount(json_string_at(document, amounts[i])))
			return document_wrong(err, amounts[i]);
	for (size_t i = 0; i < ARRAY_LEN(counts); i++)
		if (json_int_at(document, counts[i], -1) < 0 || json_int_at(document, counts[i], -1) > INT32_MAX)
			return document_wrong(err, counts[i]);
	if (!currency || strlen(currency) != 3)
		return document_wrong(err, "currency");
	return json_is_array(json_object_get(document, "resources")) ? 0 : document_wrong(err, "resources");
}

static int document_check(const json_t *document, struct err *err)
{
	const char *status = json_string_at(document, "status");

	if (text_equal(status, "finished"))
		return finished_check(document, err);
	if (!text_equal(status, "errored"))
		return document_wrong(err, "status");
	return json_string_at(document, "error-message") ? 0 : document_wrong(err, "error-message");
}

int cost_estimate_keep(struct store *store, const char *run_id, const json_t *document, struct err *err)
{
	_cleanup_(freep) char *text = NULL;

	if (document_check(document, err) < 0)
		return -1;
	text = json_text(document);
	return db_query(store->db, NULL, err, cost_estimate_keep, .run_id = run_id, .document = text,
		.prior = json_string_at(document, "prior-monthly-cost"),
		.proposed = json_string_at(document, "proposed-monthly-cost"),
		.delta = json_string_at(document, "delta-monthly-cost"),
		.currency = json_string_at(document, "currency"),
		.resources = json_int_at(document, "resources-count", 0),
		.matched = json_int_at(document, "matched-resources-count", 0),
		.unmatched = json_int_at(document, "unmatched-resources-count", 0),
		.error = json_string_at(document, "error-message"));
}

int cost_estimate_view(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, cost_estimate_view, .id = id) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "cost estimate not found");
}

int cost_estimate_views_of(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err)
{
	return db_ask(store->db, ret_rows, err, cost_estimate_views_of, .ids = ids);
}
