/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/api.h"
#include "scheduler/store/access/invitations.h"

#include "scheduler/api/request_audit.h"
#include "scheduler/http/audit_note.h"
#include "scheduler/store/access/invitations.sql.h"
#include "scheduler/ui/page.h"

/* Pages for invitations: those to the user's own address, and the one in an e-mail's link. */

static void answer_form(struct page_buf *page, const struct request *req, const char *membership_id, const char *code)
{
	buf_printf(&page->html, "<form class=\"inline\" method=\"post\" action=\"" INVITATIONS_PATH "/%s\">\n",
		membership_id);
	page_csrf(page, req);
	if (*code)
		page_field(page, "code", code);
	page_html(page,
		"<button name=\"answer\" value=\"accept\" class=\"primary\">Accept</button>\n"
		"<button name=\"answer\" value=\"decline\" class=\"plain\">Decline</button>\n</form>\n");
}

static void invitation_show(struct page_buf *page, const struct request *req, const struct invitation_row *invitation)
{
	page_html(page, "<tr>");
	page_cell(page, invitation->organization_name);
	page_html(page, "<td><span class=\"narrow\">Expires: </span>");
	page_date(page, invitation->expires_at, "");
	page_html(page, "</td><td>");
	answer_form(page, req, invitation->id, "");
	page_html(page, "</td></tr>\n");
}

int ui_invitations_page(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct page_buf page;
	int allowed = page_need_user(req, res, INVITATIONS_PATH, err);

	if (allowed <= 0)
		return allowed;
	if (invitations_of_user(req->store, req->actor.user.text, &rows, err) < 0)
		return -1;
	page_begin_settings(&page, req, "invitations");
	if (!rows.count)
		page_html(&page,
			"<p>No organization invites your address. If you have changed your address, only the link in "
			"an invitation's mail leads to the invitation.</p>\n");
	else
		page_html(&page,
			"<table class=\"rows stack\"><thead><tr><th scope=\"col\">Organization</th><th "
			"scope=\"col\">Expires</th>"
			"<td></td></tr></thead>\n<tbody>\n");
	for (int i = 0; i < rows.count; i++)
		invitation_show(&page, req, row_of(invitation, &rows, i));
	if (rows.count)
		page_html(&page, "</tbody></table>\n");
	return page_send(&page, res, 200);
}

static int not_found_show(const struct request *req, struct response *res)
{
	return page_say(req, res, 404, "No such invitation",
		"It was answered or withdrawn, it has expired, or it is not yours.");
}

static struct invited invited_of(const struct request *req, const char *code)
{
	const char *id = param(req, "membership");

	return (struct invited){.membership_id = id,
		.user_id = req->actor.user.text,
		.with_code = *code && invitation_code_valid(req->store, id, code)};
}

/* The page that the e-mail's link opens. */
int ui_invitation_page(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const char *code = text_or_empty(query(req, "code"));
	struct buf back = BUF_INIT(1024);
	const struct page_up up = {INVITATIONS_PATH, "Invitations"};
	struct invited invited;
	struct page_buf page;
	int allowed;
	const struct invitation_row *invitation;

	buf_printf(&back, "/app/invitations/%s?code=", param(req, "membership"));
	buf_url(&back, code);
	allowed = page_need_user(req, res, buf_str(&back), err);
	buf_release(&back);
	if (allowed <= 0)
		return allowed;
	invited = invited_of(req, code);
	if (invitation_read(req->store, &invited, &rows, err) < 0)
		return err->kind == ERR_NOT_FOUND ? not_found_show(req, res) : -1;
	page_begin_below(&page, req, "Invitation", &up);
	page_html(&page, "<p>The organization <strong>");
	invitation = row_of(invitation, &rows, 0);
	page_text(&page, invitation->organization_name);
	page_html(&page, "</strong> invites <strong>");
	page_text(&page, invitation->email);
	page_html(&page, "</strong>. Who accepts as <strong>");
	page_text(&page, req->actor.username);
	page_html(&page, "</strong> becomes a member.</p>\n");
	answer_form(&page, req, invited.membership_id, code);
	return page_send(&page, res, 200);
}

/* The organization's audit trail records a user who accepts. It does not record one who declines. */
static int answer(struct request *req, const struct invited *invited, bool accept, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (invitation_read(req->store, invited, &rows, err) < 0)
		return -1;
	if (!accept)
		return invitation_decline(req->store, invited, err) < 0
			? -1
			: request_audit_write(req, "destroy", "invitation", invited->membership_id, err);
	if (invitation_accept(req->store, invited, err) < 0)
		return -1;
	audit_note_place(req->audit, &(struct place){.organization = row_of(invitation, &rows, 0)->organization_id});
	return request_audit_write(req, "accept", "invitation", invited->membership_id, err);
}

int ui_invitations_answer(struct request *req, struct response *res, struct err *err)
{
	int allowed = page_form_begin(req, res, INVITATIONS_PATH, err);
	const char *said = page_sent(req, "answer");
	struct invited invited;

	if (allowed <= 0)
		return allowed;
	if (!text_equal(said, "accept") && !text_equal(said, "decline"))
		return page_say(req, res, 422, "No answer", "An invitation is accepted or declined.");
	invited = invited_of(req, page_sent(req, "code"));
	if (request_audit_begin(req, err) < 0)
		return -1;
	if (answer(req, &invited, text_equal(said, "accept"), err) == 0)
		return page_redirect(res, INVITATIONS_PATH);
	if (err->kind == ERR_NOT_FOUND)
		return not_found_show(req, res);
	return err->kind == ERR_INVALID ? page_say(req, res, 422, "Not accepted", err->message) : -1;
}
