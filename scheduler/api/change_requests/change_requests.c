/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/change_requests/change_requests.h"

#include "scheduler/api/api.h"
#include "scheduler/api/include_resolver.h"
#include "scheduler/api/resources.h"
#include "scheduler/http/audit_note.h"
#include "scheduler/http/scope.h"
#include "scheduler/store/change_requests/change_requests.sql.h"

/* Change requests of a workspace. api/change_requests/bulk_actions.c creates them. */

static const struct inclusion includes[] = {
	{"created_by", "workspace_change_requests", "created-by", &kind_users},
	{"archived_by_user", "workspace_change_requests", "archived-by-user", &kind_users},
};

static json_t *change_request_resource(const void *of_row)
{
	const struct change_request_row *r = of_row;
	_cleanup_(freep) char *self = mem_printf("/api/v2/workspaces/change-requests/%s", r->id);
	json_t *resource = resource_new("workspace_change_requests", r->id,
		json_pack("{ss ss so so so so}", "subject", r->subject, "message", r->message, "archived-by",
			json_string_or_null(r->archived_by), "archived-at", time_shown(r->archived_at), "created-at",
			time_shown(r->created_at), "updated-at", time_shown(r->updated_at)),
		json_pack("{so so so}", "workspace", to_one("workspaces", r->workspace_id), "created-by",
			to_one("users", r->created_by), "archived-by-user", to_one("users", r->archived_by)));

	json_object_set_new(resource, "links", json_pack("{ss}", "self", self));
	return resource;
}

static const struct resource_kind kind_change_requests = {
	.type = "workspace_change_requests", .show = change_request_resource, KIND_INCLUDES(includes)};

/* ---- reading ---- */

static int filter_read(const struct request *req, enum change_request_filter *ret_filter, struct err *err)
{
	const char *archived = text_or_null(query(req, "filter[archived]"));

	if (!archived)
		archived = text_or_null(query(req, "archive"));
	if (archived && !text_equal(archived, "true") && !text_equal(archived, "false"))
		return err_set(err, ERR_MALFORMED, "filter[archived] must be true or false");
	*ret_filter = !archived                ? CHANGE_REQUESTS_ALL
		: text_equal(archived, "true") ? CHANGE_REQUESTS_ARCHIVED
					       : CHANGE_REQUESTS_OPEN;
	return 0;
}

static int list_page(const struct request *req, const struct scope *scope, const struct page *page,
	struct rows *ret_rows, struct err *err)
{
	struct change_request_list list = {.workspace_id = scope->workspace.text, .range = {page->size, page->offset}};

	return filter_read(req, &list.filter, err) < 0 ? -1 : change_requests_list(req->store, &list, ret_rows, err);
}

int change_requests_index(struct request *req, struct response *res, struct err *err)
{
	return respond_list(req, res,
		&(struct resource_list){&kind_change_requests, .scope = scope_workspace, .read = list_page}, err);
}

static int request_in_path(const struct request *req, struct rows *ret_rows, struct err *err)
{
	if (change_request_read(req->store, param(req, "change_request"), ret_rows, err) < 0)
		return -1;
	return may(req, place_of(row_of(change_request, ret_rows, 0)), "change request", err);
}

int change_requests_read(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (includes_check(req, &kind_change_requests, err) < 0 || request_in_path(req, &rows, err) < 0)
		return -1;
	return respond_row(req, res, 200, &(struct resource_rows){&kind_change_requests, &rows}, err);
}

/* ---- archiving ---- */

/* One that is archived already is answered as it is. */
int change_requests_archive(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT, archived = ROWS_INIT;
	const char *id = param(req, "change_request");

	if (request_in_path(req, &rows, err) < 0 ||
		change_request_archive(req->store, id, text_or_null(req->actor.user.text), err) < 0 ||
		change_request_read(req->store, id, &archived, err) < 0)
		return -1;
	req->audit->action = "archive";
	return respond_row(req, res, 200, &(struct resource_rows){&kind_change_requests, &archived}, err);
}
