/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/api.h"
#include "scheduler/http/scope.h"
#include "scheduler/store/access/audit.h"

/* The audit trail in HCP Terraform's form: not JSON:API, in pages of up to a thousand events, newest first. */

enum { MAX_PAGE = 1000 };

static json_t *event_resource(const struct rows *rows, int row)
{
	bool system = text_equal(row_text(rows, row, "actor_type"), "system");

	return json_pack("{ss ss ss so s{so so ss ss so sn so} s{ss} s{so ss ss s{so so so}}}", "id",
		row_text(rows, row, "id"), "version", "0", "type", "Resource", "timestamp", row_time(rows, row, "at"),
		"auth", "accessor_id", row_string(rows, row, "actor_id"), "description",
		row_string(rows, row, "actor_name"), "type", system ? "System" : "Client", "accessor_type",
		row_text(rows, row, "actor_type"), "token_id", row_string(rows, row, "token_id"), "impersonator_id",
		"organization_id", row_string(rows, row, "organization_id"), "request", "id",
		row_text(rows, row, "request_id"), "resource", "id", row_string(rows, row, "resource_id"), "type",
		row_text(rows, row, "resource_type"), "action", row_text(rows, row, "action"), "meta", "address",
		row_string(rows, row, "address"), "workspace_id", row_string(rows, row, "workspace_id"), "attributes",
		row_json(rows, row, "attributes"));
}

static json_t *page_number(long long number, long long pages)
{
	return number >= 1 && number <= pages ? json_integer(number) : json_null();
}

static json_t *pagination(const struct page *page)
{
	long long pages = page->total ? (page->total + page->size - 1) / page->size : 1;

	return json_pack("{sI so so sI sI}", "current_page", (json_int_t)page->number, "prev_page",
		page_number(page->number - 1, pages), "next_page", page_number(page->number + 1, pages), "total_pages",
		(json_int_t)pages, "total_count", (json_int_t)page->total);
}

static int list_read(const struct request *req, struct audit_list *list, struct page *page, struct err *err)
{
	if (page_read_limited(req, MAX_PAGE, page, err) < 0)
		return -1;
	list->limit = page->size;
	list->offset = page->offset;
	list->since = query(req, "since");
	if (list->since && !time_valid(list->since))
		return err_set(err, ERR_MALFORMED, "since must be a time such as 2026-11-21T01:25:00Z");
	return 0;
}

static int audit_note_answer(struct request *req, struct response *res, const char *organization, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct audit_list list = {.organization = organization};
	struct page page;
	json_t *data;

	if (list_read(req, &list, &page, err) < 0 || audit_read(req->store, &list, &rows, err) < 0)
		return -1;
	page.total = row_int(&rows, 0, "total");
	data = json_array();
	for (int i = 0; i < rows.count && !row_null(&rows, i, "id"); i++)
		json_array_append_new(data, event_resource(&rows, i));
	return respond_json(res, 200, json_pack("{so so}", "data", data, "pagination", pagination(&page)));
}

int audit_trail_index(struct request *req, struct response *res, struct err *err)
{
	struct scope scope;

	if (scope_organization(req, &scope, err) < 0)
		return -1;
	return audit_note_answer(req, res, scope.organization.text, err);
}

/* The path names no organization: it is that of the token. A person must be in exactly one organization. */
int audit_trail_own(struct request *req, struct response *res, struct err *err)
{
	const struct rows *memberships = &req->actor.scope.memberships;
	const char *organization;

	if (memberships->count != 1 || row_null(memberships, 0, "organization_id"))
		return err_set(err, ERR_NOT_FOUND, "an organization's token is needed here");
	organization = row_text(memberships, 0, "organization_id");
	if (may(req, (struct place){.organization = organization}, "audit trail", err) < 0)
		return -1;
	return audit_note_answer(req, res, organization, err);
}

/* All events, including those of no organization: sign-ins, refused tokens, and actions of site admins. */
int audit_trail_site(struct request *req, struct response *res, struct err *err)
{
	return audit_note_answer(req, res, NULL, err);
}
