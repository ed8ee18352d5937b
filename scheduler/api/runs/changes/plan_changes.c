/* SPDX-License-Identifier: MPL-2.0 */
#include <string.h>

#include "scheduler/api/api.h"
#include "scheduler/api/runs/changes/change_search.h"
#include "scheduler/api/runs/changes/risk_hints.h"
#include "scheduler/runs/plans/plan_changes_make.h"
#include "scheduler/store/runs/plans/plan_changes.sql.h"

/* The changes of a plan, for pages. */

#define JSON_API "application/vnd.api+json"

enum { MAX_HINTS = 64 << 10 };

/* ---- making ---- */

static int changes_make(struct request *req, const struct plan_changes_lookup_row *plan, struct err *err)
{
	_cleanup_(plan_changes_draft_release) struct plan_changes_draft draft = PLAN_CHANGES_DRAFT_INIT;

	return plan_changes_make(req->store, param(req, "plan"), plan, &draft, err);
}

static int plan_find(struct request *req, struct rows *ret_plan, struct err *err)
{
	const struct plan_changes_lookup_row *plan;

	if (!id_valid(param(req, "plan"), "plan"))
		return err_set(err, ERR_NOT_FOUND, "plan not found");
	if (plan_changes_lookup(req->store, param(req, "plan"), ret_plan, err) < 0)
		return -1;
	plan = row_of(plan_changes_lookup, ret_plan, 0);
	if (may(req, place_of(plan), "plan", err) < 0)
		return -1;
	return plan->plan_deleted
		? err_set(err, ERR_NOT_FOUND, "the plan was deleted: it is older than plans are kept here")
		: 0;
}

struct opened {
	struct plan_changes changes;
	bool there; /* false until the plan has its JSON */
	struct rows plan;
};

static void opened_release(struct opened *opened)
{
	rows_release(&opened->plan);
}

/* Opens the changes, and makes them first if they are not stored. */
static int changes_open(struct request *req, struct opened *opened, struct err *err)
{
	_cleanup_(rows_release) struct rows made = ROWS_INIT;
	const struct plan_changes_lookup_row *plan;

	if (plan_find(req, &opened->plan, err) < 0)
		return -1;
	plan = row_of(plan_changes_lookup, &opened->plan, 0);
	if (plan_changes_open(req->store, plan, &opened->changes, &opened->there, err) < 0)
		return -1;
	if (opened->there || !plan->json_blob)
		return 0;
	if (changes_make(req, plan, err) < 0 || plan_find(req, &made, err) < 0)
		return -1;
	return plan_changes_open(
		req->store, row_of(plan_changes_lookup, &made, 0), &opened->changes, &opened->there, err);
}

/* ---- answers ---- */

/* {"data": {"id", "type", "attributes"}}, with attributes as text. */
static int text_respond(struct response *res, const char *type, const char *id, const struct buf *attributes)
{
	struct buf body = BUF_INIT(attributes->len + 512);

	buf_printf(&body, "{\"data\":{\"id\":\"%s\",\"type\":\"%s\",\"attributes\":", id, type);
	buf_append(&body, buf_str(attributes), attributes->len);
	buf_text(&body, "}}");
	return respond_bytes(res, JSON_API, &body);
}

/* Hints count all changes, also those that a search leaves out. The summary is parsed only if there are types. */
static int hints_make(const struct opened *opened, const struct buf *text, json_t **ret_hints, struct err *err)
{
	json_auto_t *types = json_shown(row_of(plan_changes_lookup, &opened->plan, 0)->risk_types), *summary = NULL;

	if (json_array_size(types) && json_parse(buf_str(text), text->len, &summary, err) < 0)
		return -1;
	*ret_hints = risk_hints(types, json_object_get(summary, "resource-changes"));
	return 0;
}

static int matching_respond(
	struct request *req, struct response *res, const struct opened *opened, struct buf *text, struct err *err)
{
	_cleanup_(plan_changes_draft_release) struct plan_changes_draft stored = PLAN_CHANGES_DRAFT_INIT;
	json_t *summary = NULL, *hints = NULL, *found;

	if (plan_changes_all(req->store, &opened->changes, &stored, err) < 0 ||
		hints_make(opened, text, &hints, err) < 0)
		return -1;
	if (json_parse(buf_str(text), text->len, &summary, err) < 0) {
		json_decref(hints);
		return -1;
	}
	found = changes_filter(summary, &stored, query(req, "filter[value]"));
	json_object_set_new(found, "risk-hints", hints);
	return respond_resource(res, 200, resource_new("plan-changes", param(req, "plan"), found, NULL));
}

/* Adds the hints to the summary, which is a JSON object as text. */
static int summary_respond(
	struct request *req, struct response *res, const struct opened *opened, struct buf *text, struct err *err)
{
	_cleanup_(freep) char *hints_text = NULL;
	json_t *hints = NULL;

	if (hints_make(opened, text, &hints, err) < 0)
		return -1;
	hints_text = json_text(hints);
	json_decref(hints);
	buf_cut(text, text->len - 1);
	buf_printf(text, ",\"risk-hints\":%s}", hints_text);
	return text_respond(res, "plan-changes", param(req, "plan"), text);
}

int plans_changes(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(buf_release) struct buf summary = BUF_INIT(MAX_CHANGES_SUMMARY + MAX_HINTS);
	_cleanup_(opened_release) struct opened opened = {.plan = ROWS_INIT};
	const char *searched = query(req, "filter[value]");

	if (searched && strlen(searched) > MAX_SEARCHED)
		return err_set(err, ERR_MALFORMED, "filter[value] must have at most %d bytes", MAX_SEARCHED);
	if (changes_open(req, &opened, err) < 0)
		return -1;
	if (!opened.there)
		return respond_empty(res, 204);
	if (plan_changes_summary(req->store, &opened.changes, &summary, err) < 0)
		return -1;
	return (searched && *searched ? matching_respond : summary_respond)(req, res, &opened, &summary, err);
}

int plans_change(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(buf_release) struct buf change = BUF_INIT(MAX_CHANGES_BYTES);
	_cleanup_(freep) char *id = mem_printf("%s-%s", param(req, "plan"), param(req, "index"));
	_cleanup_(opened_release) struct opened opened = {.plan = ROWS_INIT};
	long long index;

	if (text_number(param(req, "index"), 0, MAX_CHANGES_COUNT, &index) < 0)
		return err_set(err, ERR_NOT_FOUND, "change not found");
	if (changes_open(req, &opened, err) < 0)
		return -1;
	if (!opened.there)
		return respond_empty(res, 204);
	if (plan_changes_one(req->store, &opened.changes, index, &change, err) < 0)
		return -1;
	return text_respond(res, "plan-resource-changes", id, &change);
}
