/* SPDX-License-Identifier: MPL-2.0 */
#include <string.h>

#include "scheduler/api/api.h"
#include "scheduler/api/request_audit.h"
#include "scheduler/api/runs/unrecorded.h"
#include "scheduler/http/audit_note.h"
#include "scheduler/runs/holds.h"
#include "scheduler/store/runs/run_views.h"
#include "scheduler/store/runs/run_views.sql.h"
#include "scheduler/store/runs/unrecorded.h"
#include "scheduler/store/runs/unrecorded.sql.h"
#include "scheduler/ui/page.h"

/* The page of a run's unrecorded resources: a list, the import blocks for them, and a form to dismiss them. */

enum { ID_LIMIT = 64 << 10, BLOCKS_LIMIT = 16 << 20, PATH_SIZE = 128 };

static void page_path(const struct request *req, char ret_path[PATH_SIZE])
{
	snprintf(ret_path, PATH_SIZE, "/app/runs/%.64s/unrecorded-resources", param(req, "run"));
}

static int run_find(struct request *req, enum permission permission, struct rows *ret_run, struct err *err)
{
	if (run_view(req->store, param(req, "run"), ret_run, err) < 0)
		return -1;
	return may_with(req, permission, place_of(row_of(run_view, ret_run, 0)), "run", err);
}

static int not_found_show(const struct request *req, struct response *res)
{
	return page_say(req, res, 404, "No such run",
		"The run is not there, or you may not see the resources of its workspace.");
}

/* The form names the resources that the page shows, by their ids: others may have been added when it is sent. */
static void dismiss_form(struct page_buf *page, const struct request *req, const char *ids, const char *label)
{
	char path[PATH_SIZE];

	page_path(req, path);
	page_html(page, "<form class=\"inline\" method=\"post\" action=\"");
	page_text(page, path);
	page_html(page, "\">\n");
	page_csrf(page, req);
	page_field(page, "resources", ids);
	page_html(page, "<button class=\"plain\">");
	page_html(page, label);
	page_html(page, "</button></form>\n");
}

static int resource_row(
	struct page_buf *page, const struct request *req, const struct unrecorded_row *resource, struct err *err)
{
	_cleanup_(buf_release) struct buf id = BUF_INIT(ID_LIMIT);

	if (unrecorded_resource_id(req->store, resource, &id, err) < 0)
		return -1;
	page_html(page, "<tr>");
	page_cell(page, resource->action);
	page_cell(page, resource->address);
	page_cell(page, id.len ? buf_str(&id) : "unknown");
	page_cell(page, resource->provider);
	page_html(page, "<td>");
	if (!resource->dismissed_at)
		dismiss_form(page, req, resource->id, "Dismiss");
	else
		page_html(page, "dismissed");
	page_html(page, "</td></tr>\n");
	return 0;
}

static void dismiss_all_form(struct page_buf *page, const struct request *req, const struct rows *rows)
{
	_cleanup_(buf_release) struct buf ids = BUF_INIT(BODY_LEASE);

	for (int i = 0; i < rows->count; i++) {
		const struct unrecorded_row *resource = row_of(unrecorded, rows, i);

		if (!resource->dismissed_at)
			buf_printf(&ids, "%s%s", ids.len ? " " : "", resource->id);
	}
	if (ids.len)
		dismiss_form(page, req, buf_str(&ids), "Dismiss all");
}

static int resources_table(struct page_buf *page, const struct request *req, const struct rows *rows, struct err *err)
{
	page_html(page,
		"<p>The apply reported these resources, and the last state of the workspace does not show what it "
		"did. The workspace is held until each is dismissed.</p>\n"
		"<table class=\"rows stack\"><thead><tr><th scope=\"col\">Action</th><th scope=\"col\">Address</th><th "
		"scope=\"col\">Id</th>"
		"<th scope=\"col\">Provider</th><td></td></tr></thead>\n<tbody>\n");
	for (int i = 0; i < rows->count; i++)
		if (resource_row(page, req, row_of(unrecorded, rows, i), err) < 0)
			return -1;
	page_html(page, "</tbody></table>\n");
	dismiss_all_form(page, req, rows);
	return 0;
}

static int blocks_show(struct page_buf *page, const struct request *req, const struct rows *rows, struct err *err)
{
	_cleanup_(buf_release) struct buf blocks = BUF_INIT(BLOCKS_LIMIT);

	if (unrecorded_import_blocks(req->store, rows, &blocks, err) < 0)
		return -1;
	if (!blocks.len)
		return 0;
	page_html(page,
		"<h2>Import blocks</h2>\n<p>Add these to the configuration, dismiss the resources, and start a "
		"run.</p>\n<pre>");
	page_text(page, buf_str(&blocks));
	page_html(page, "</pre>\n");
	return 0;
}

static int page_fill(struct page_buf *page, const struct request *req, const struct rows *rows, struct err *err)
{
	if (!rows->count) {
		page_html(page, "<p>Every resource that the apply reported is in a state.</p>\n");
		return 0;
	}
	return resources_table(page, req, rows, err) < 0 ? -1 : blocks_show(page, req, rows, err);
}

int ui_unrecorded_page(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows run = ROWS_INIT, rows = ROWS_INIT;
	_cleanup_(freep) char *run_path = mem_printf("/app/runs/%s", param(req, "run"));
	const struct page_up up = {run_path, param(req, "run")};
	struct page_buf page;
	char path[PATH_SIZE];
	int allowed;

	page_path(req, path);
	allowed = page_need_user(req, res, path, err);
	if (allowed <= 0)
		return allowed;
	if (run_find(req, CAN_READ_STATE, &run, err) < 0)
		return err->kind == ERR_NOT_FOUND ? not_found_show(req, res) : -1;
	if (unrecorded_of_run(req->store, row_of(run_view, &run, 0)->id, &rows, err) < 0)
		return -1;
	page_begin_below(&page, req, "Unrecorded resources", &up);
	if (page_fill(&page, req, &rows, err) < 0) {
		buf_release(&page.html);
		return -1;
	}
	return page_send(&page, res, 200);
}

static int dismiss(struct request *req, const struct run_view_row *run, struct err *err)
{
	const char *ids = page_sent(req, "resources");

	audit_note_place(req->audit, &place_of(run));
	if (hold_dismiss(req->store, run->id, ids, req->actor.user.text, err) < 0)
		return -1;
	return strchr(ids, ' ') ? request_audit_write(req, "dismiss_unrecorded_resources", "run", run->id, err)
				: request_audit_write(req, "dismiss", "unrecorded_resource", ids, err);
}

int ui_unrecorded_dismiss(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows run = ROWS_INIT;
	char path[PATH_SIZE];
	int allowed;

	page_path(req, path);
	allowed = page_form_begin(req, res, path, err);
	if (allowed <= 0)
		return allowed;
	if (run_find(req, CAN_MANAGE_WORKSPACE, &run, err) < 0)
		return err->kind == ERR_NOT_FOUND ? not_found_show(req, res) : -1;
	if (request_audit_begin(req, err) < 0)
		return -1;
	if (dismiss(req, row_of(run_view, &run, 0), err) == 0)
		return page_redirect(res, path);
	return err->kind == ERR_CONFLICT ? page_say(req, res, 409, "Not dismissed", err->message) : -1;
}
