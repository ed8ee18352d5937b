/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/api.h"
#include "scheduler/api/runs/runs.h"
#include "scheduler/store/runs/run_events.h"
#include "scheduler/store/runs/run_views.h"
#include "scheduler/ui/page.h"

/* The page of a run: its state, why it waits, and its events. */

enum { PATH_SIZE = 128 };

static void facts_show(struct page_buf *page, const struct rows *rows, const struct run_wait *wait)
{
	const struct run run = run_of_view(rows, 0);

	page_html(page, "<table><tbody>\n");
	page_fact(page, "Run", row_text(rows, 0, "id"));
	page_fact(page, "Message", row_text(rows, 0, "message"));
	page_fact(page, "State", run_label(&run));
	if (wait->kind != WAIT_NONE)
		page_fact(page, "Waits", wait->text);
	if (*wait->since)
		page_fact(page, "Waits since", wait->since);
	page_html(page, "</tbody></table>\n");
}

static void events_show(struct page_buf *page, const struct rows *rows)
{
	page_html(page,
		"<h2>Events</h2>\n<table><thead><tr><th scope=\"col\">Time</th><th scope=\"col\">Event</th>"
		"<th scope=\"col\">Description</th></tr></thead>\n<tbody>\n");
	for (int i = 0; i < rows->count; i++) {
		page_html(page, "<tr>");
		page_cell(page, row_text(rows, i, "created_at"));
		page_cell(page, row_text(rows, i, "action"));
		page_cell(page, row_text(rows, i, "description"));
		page_html(page, "</tr>\n");
	}
	page_html(page, "</tbody></table>\n");
}

int ui_run_page(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows run = ROWS_INIT, events = ROWS_INIT;
	struct run_wait wait;
	struct page_buf page;
	char path[PATH_SIZE];
	int allowed;

	snprintf(path, sizeof(path), "/app/runs/%.64s", param(req, "run"));
	allowed = page_need_user(req, res, path, err);
	if (allowed <= 0)
		return allowed;
	if (run_view(req->store, param(req, "run"), &run, err) < 0 ||
		may_with(req, CAN_READ_RUNS, place_of(&run), "run", err) < 0 ||
		run_wait_read(req, row_text(&run, 0, "id"), &wait, err) < 0)
		return err->kind == ERR_NOT_FOUND
			? page_say(req, res, 404, "No such run", "The run is not there, or you may not see it.")
			: -1;
	if (events_of_run(req->store, row_text(&run, 0, "id"), &events, err) < 0)
		return -1;
	page_begin(&page, req, "Run");
	facts_show(&page, &run, &wait);
	events_show(&page, &events);
	return page_send(&page, res, 200);
}
