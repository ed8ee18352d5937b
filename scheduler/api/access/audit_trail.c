/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/api.h"
#include "scheduler/http/scope.h"
#include "scheduler/store/access/audit.h"
#include "scheduler/store/access/audit.sql.h"
#include "scheduler/store/access/response_scope.sql.h"

/* The audit trail in HCP Terraform's form: not JSON:API, in pages of up to a thousand events, newest first. */

enum { MAX_PAGE = 1000 };

static json_t *event_resource(const struct audit_event_row *event)
{
	json_auto_t *details = json_shown(event->details);
	bool system = text_equal(event->actor_type, "system");

	return json_pack("{ss ss ss so s{so so ss ss so so so} s{ss} s{so ss ss s{so so so so}}}", "id", event->id,
		"version", "0", "type", "Resource", "timestamp", time_shown(event->at), "auth", "accessor_id",
		json_string_or_null(event->actor_id), "description", json_string_or_null(event->actor_name), "type",
		system ? "System" : "Client", "accessor_type", event->actor_type, "token_id",
		json_string_or_null(event->token_id), "impersonator_id",
		json_string_or_null(json_string_at(details, "impersonator-id")), "organization_id",
		json_string_or_null(event->organization_id), "request", "id", event->request_id, "resource", "id",
		json_string_or_null(event->resource_id), "type", event->resource_type, "action", event->action, "meta",
		"address", json_string_or_null(event->address), "workspace_id",
		json_string_or_null(event->workspace_id), "attributes", json_shown(event->attributes), "details",
		json_shown(event->details));
}

static json_t *page_number(long long number, long long pages)
{
	return number >= 1 && number <= pages ? json_integer(number) : json_null();
}

static json_t *pagination(const struct page *page)
{
	long long pages = page->total ? (page->total + page->size - 1) / page->size : 1;

	if (page->total < 0)
		return json_pack("{sI so so sn sn}", "current_page", (json_int_t)page->number, "prev_page",
			page_number(page->number - 1, page->number), "next_page",
			page->more ? json_integer(page->number + 1) : json_null(), "total_pages", "total_count");
	return json_pack("{sI so so sI sI}", "current_page", (json_int_t)page->number, "prev_page",
		page_number(page->number - 1, pages), "next_page", page_number(page->number + 1, pages), "total_pages",
		(json_int_t)pages, "total_count", (json_int_t)page->total);
}

static int time_query(const struct request *req, const char *name, const char **ret_time, struct err *err)
{
	*ret_time = text_or_null(query(req, name));
	if (*ret_time && !time_valid(*ret_time))
		return err_set(err, ERR_MALFORMED, "%s must be a time such as 2026-11-21T01:25:00Z", name);
	return 0;
}

static int list_read(const struct request *req, struct audit_list *list, struct page *page, struct err *err)
{
	if (page_read_limited(req, MAX_PAGE, page, err) < 0)
		return -1;
	list->limit = page->size;
	list->offset = page->offset;
	return time_query(req, "since", &list->since, err);
}

/* *ret_any is false if the query has no filter. */
static int filter_read(const struct request *req, struct audit_filter *filter, bool *ret_any, struct err *err)
{
	*filter = (struct audit_filter){.actor = text_or_null(query(req, "filter[actor]")),
		.action = text_or_null(query(req, "filter[action]")),
		.resource_type = text_or_null(query(req, "filter[resource-type]")),
		.resource = text_or_null(query(req, "filter[resource]"))};
	if (time_query(req, "until", &filter->until, err) < 0)
		return -1;
	*ret_any = filter->actor || filter->action || filter->resource_type || filter->resource || filter->until;
	return 0;
}

static int audit_note_answer(struct request *req, struct response *res, const char *organization, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct audit_list list = {.organization = organization};
	struct audit_filter filter;
	struct page page;
	bool filtered;
	json_t *data;

	if (list_read(req, &list, &page, err) < 0 || filter_read(req, &filter, &filtered, err) < 0)
		return -1;
	list.limit += filtered; /* one more says whether there is another page */
	if ((filtered ? audit_search(req->store, &list, &filter, &rows, err)
		      : audit_read(req->store, &list, &rows, err)) < 0)
		return -1;
	page.total = filtered ? -1 : row_of(audit_event, &rows, 0)->total;
	page.more = filtered && rows.count > page.size;
	rows.count -= page.more;
	data = json_array();
	for (int i = 0; i < rows.count && row_of(audit_event, &rows, i)->id; i++)
		json_array_append_new(data, event_resource(row_of(audit_event, &rows, i)));
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
	const char *organization = NULL;

	if (memberships->count == 1)
		organization = row_of(requester, memberships, 0)->organization_id;
	if (!organization)
		return err_set(err, ERR_NOT_FOUND, "an organization's token is needed here");
	if (may(req, (struct place){.organization = organization}, "audit trail", err) < 0)
		return -1;
	return audit_note_answer(req, res, organization, err);
}

/* All events, including those of no organization: sign-ins, refused tokens, and actions of site admins. */
int audit_trail_site(struct request *req, struct response *res, struct err *err)
{
	return audit_note_answer(req, res, NULL, err);
}
