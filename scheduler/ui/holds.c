/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/api.h"
#include "scheduler/runs/holds.h"

#include <string.h>

#include "scheduler/api/request_audit.h"
#include "scheduler/store/runs/holds.sql.h"
#include "scheduler/ui/page.h"

/* The page of a held workspace: the apply that it waits for, and the actions that users have. */

enum { MAX_REASON = 512, PATH_LIMIT = 900 };

/* The actions of the page's forms, by the value of `do`. */
static const struct hold_action {
	const char *name;
	enum hold_event event;
	enum permission permission;
	const char *audit_action, *audit_type;
	const char *button;
	const char *text;
} hold_actions[] = {
	{"cancel", HOLD_CANCELED, CAN_APPLY, "cancel", "run", "Cancel the run",
		"The worker, if it is still there, interrupts terraform, delivers its last state, and the hold ends."},
	{"force-cancel", HOLD_FORCE_CANCELED, CAN_MANAGE_WORKSPACE, "force_cancel", "run", "Force-cancel the run",
		"The worker, if it is still there, kills terraform. What terraform was in the middle of may be in no "
		"state."},
	{"release", HOLD_RELEASED, CAN_MANAGE_WORKSPACE, "force_unlock", "workspace", "Release the workspace",
		"The next run starts at once. If the terraform of the lost apply still runs, two of them can change "
		"the "
		"same resources, and the state of one is lost to the other. First see that the worker is gone."},
};

static const struct hold_action *action_named(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(hold_actions); i++)
		if (text_equal(hold_actions[i].name, name))
			return &hold_actions[i];
	return NULL;
}

static char *hold_path(const struct request *req)
{
	return mem_printf("/app/workspaces/%s/hold", param(req, "workspace"));
}

static int not_found_show(const struct request *req, struct response *res)
{
	return page_say(
		req, res, 404, "No such workspace", "There is no such workspace, or you may not do that in it.");
}

static int not_held_show(const struct request *req, struct response *res, int status)
{
	return page_say(req, res, status, "Not held", "The workspace waits for no lost apply.");
}

/* Reads the hold if the actor has the permission for its workspace; ERR_NOT_FOUND. *ret_held is borrowed from the
 * rows. */
static int hold_find(struct request *req, enum permission permission, struct rows *ret_rows,
	const struct hold_of_workspace_row **ret_held, struct err *err)
{
	if (hold_of_workspace(req->store, param(req, "workspace"), ret_rows, err) < 0)
		return -1;
	*ret_held = row_of(hold_of_workspace, ret_rows, 0);
	return may_with(req, permission, place_of(*ret_held), "workspace", err);
}

/* ---- the page ---- */

static void run_fact(struct page_buf *page, const char *run_id)
{
	page_html(page, "<tr><th scope=\"row\">Run whose apply was lost</th><td><a href=\"/app/runs/");
	page_text(page, run_id);
	page_html(page, "\"><code>");
	page_text(page, run_id);
	page_html(page, "</code></a></td></tr>\n");
}

static void facts(struct page_buf *page, const struct hold_of_workspace_row *held)
{
	static const char *const asked[] = {
		[STOP_NONE] = "nothing", [STOP_CANCEL] = "to interrupt it", [STOP_FORCE] = "to kill it"};
	const char *until = held->until;

	page_html(page, "<table><tbody>\n");
	run_fact(page, held->run_id);
	page_fact(page, "Worker", held->worker);
	page_fact(page, "Held since", held->since);
	if (held->hold_settled) {
		page_fact(page, "Ends",
			"when the unrecorded resources of the run are dismissed, or a person releases it");
		page_fact(page, "Terraform of the apply", "has ended");
	} else {
		page_fact(page, "Ends at the latest",
			until ? until : "when its last state arrives, or a person releases it");
		page_fact(page, "Terraform of the apply",
			held->hold_engine_ended ? "has ended; its last state is missing"
						: "may still run on that worker");
	}
	page_fact(page, "The worker is asked", asked[held->hold_stop]);
	page_html(page, "</tbody></table>\n<p><a href=\"/app/runs/");
	page_text(page, held->run_id);
	page_html(page, "/unrecorded-resources\">Resources of the run that no state shows</a></p>\n");
}

/* The form names the run whose hold the page shows: by the time it is sent, the workspace may be held for another run.
 */
static void action_form(struct page_buf *page, const struct request *req, const struct hold_action *action,
	const struct hold_of_workspace_row *held)
{
	_cleanup_(freep) char *path = hold_path(req);

	page_html(page, "<h2>");
	page_text(page, action->button);
	page_html(page, "</h2>\n<p>");
	page_text(page, action->text);
	page_html(page, "</p>\n<form method=\"post\" action=\"");
	page_text(page, path);
	page_html(page, "\">\n");
	page_csrf(page, req);
	page_field(page, "run", held->run_id);
	if (action->event == HOLD_RELEASED)
		page_input(page, "Reason", "reason", "text", "required maxlength=\"512\"");
	buf_printf(&page->html, "<button name=\"do\" value=\"%s\" class=\"%s\">%s</button>\n</form>\n", action->name,
		action->event == HOLD_CANCELED ? "plain" : "danger", action->button);
}

static const char *workspace_path(const struct hold_of_workspace_row *held, struct buf *path)
{
	buf_text(path, "/app/");
	buf_url(path, held->organization);
	buf_text(path, "/workspaces/");
	buf_url(path, held->workspace);
	return buf_str(path);
}

static int hold_show(
	struct request *req, struct response *res, const struct hold_of_workspace_row *held, const char *wrong)
{
	const struct hold hold = HOLD_OF_ROW(held);
	_cleanup_(buf_release) struct buf path = BUF_INIT(PATH_LIMIT);
	const struct page_up up = {workspace_path(held, &path), held->workspace};
	struct page_buf page;
	struct err err = ERR_INIT;

	page_begin_below(&page, req, "Held workspace", &up);
	if (wrong)
		page_note(&page, "alert", wrong);
	facts(&page, held);
	for (size_t i = 0; i < ARRAY_LEN(hold_actions); i++)
		if (hold_accepts(&hold, hold_actions[i].event) &&
			may_with(req, hold_actions[i].permission, place_of(held), "workspace", &err) == 0)
			action_form(&page, req, &hold_actions[i], held);
	return page_send(&page, res, wrong ? 422 : 200);
}

int ui_hold_page(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(freep) char *path = hold_path(req);
	const struct hold_of_workspace_row *held;
	int allowed = page_need_user(req, res, path, err);

	if (allowed <= 0)
		return allowed;
	if (hold_find(req, CAN_READ_RUNS, &rows, &held, err) < 0)
		return err->kind == ERR_NOT_FOUND ? not_found_show(req, res) : -1;
	return HOLD_OF_ROW(held).holds ? hold_show(req, res, held, NULL) : not_held_show(req, res, 200);
}

/* ---- actions ---- */

static int action_run(struct request *req, const struct hold_action *action, const struct hold_of_workspace_row *held,
	struct err *err)
{
	const struct hold_order order = {.event = HOLD_RELEASED,
		.workspace_id = param(req, "workspace"),
		.run_id = held->run_id,
		.actor = req->actor.user.text,
		.reason = page_sent(req, "reason")};
	int result;

	if (request_audit_begin(req, err) < 0)
		return -1;
	if (action->event == HOLD_RELEASED)
		result = hold_release(req->store, &order, NULL, err);
	else
		result = hold_stop(req->store, order.run_id, action->event, order.actor, err);
	if (result < 0)
		return -1;
	return request_audit_write(req, action->audit_action, action->audit_type,
		text_equal(action->audit_type, "run") ? order.run_id : order.workspace_id, err);
}

int ui_hold_do(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(freep) char *path = hold_path(req);
	const struct hold_of_workspace_row *held;
	int allowed = page_form_begin(req, res, path, err);
	const struct hold_action *action = action_named(page_sent(req, "do"));

	if (allowed <= 0)
		return allowed;
	if (hold_find(req, action ? action->permission : CAN_READ_RUNS, &rows, &held, err) < 0)
		return err->kind == ERR_NOT_FOUND ? not_found_show(req, res) : -1;
	if (!HOLD_OF_ROW(held).holds)
		return not_held_show(req, res, 409);
	if (!action)
		return hold_show(req, res, held, "Choose what to do.");
	if (!text_equal(page_sent(req, "run"), held->run_id))
		return hold_show(req, res, held,
			"Nothing was done: the workspace is now held for another run, which this page shows.");
	if (action->event == HOLD_RELEASED &&
		(!*page_sent(req, "reason") || strlen(page_sent(req, "reason")) > MAX_REASON))
		return hold_show(req, res, held, "A reason of at most 512 bytes is needed to release the workspace.");
	if (action_run(req, action, held, err) == 0)
		return page_redirect(res, path);
	return err->kind == ERR_CONFLICT ? hold_show(req, res, held, err->message) : -1;
}
