/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/ui/account/confirm.h"

#include "scheduler/api/access/password.h"
#include "scheduler/api/request_audit.h"
#include "scheduler/auth/account/account_sessions.h"
#include "scheduler/auth/sessions.h"
#include "scheduler/ui/page.h"
#include "scheduler/ui/return_path.h"

#define CONFIRM_PATH "/app/settings/confirm"

int confirm_check(struct request *req, struct err *err)
{
	bool confirmed = false;

	if (req->actor.impersonator.text[0])
		return err_set(err, ERR_FORBIDDEN, "a factor can't be added while you act as another user");
	if (session_confirmed(req->store, http_cookie(req->http, SESSION_COOKIE), &confirmed, err) < 0)
		return -1;
	return confirmed ? 0 : err_set(err, ERR_FORBIDDEN, "the password has to be given again");
}

int confirm_need(struct request *req, struct response *res, const char *back, struct err *err)
{
	_cleanup_(buf_release) struct buf location = BUF_INIT(sizeof(res->http->location) - 1);
	bool confirmed = false;
	int allowed = page_user_self(req, res);

	if (allowed <= 0)
		return allowed;
	if (session_confirmed(req->store, http_cookie(req->http, SESSION_COOKIE), &confirmed, err) < 0)
		return -1;
	if (confirmed)
		return 1;
	buf_text(&location, CONFIRM_PATH "?return=");
	buf_url(&location, back);
	return page_redirect(res, buf_str(&location));
}

/* ---- the page ---- */

static int confirm_show(struct request *req, struct response *res, int status, const char *back, const char *wrong)
{
	struct page_buf page;

	page_begin(&page, req, "Confirm it is you");
	if (wrong)
		page_note(&page, "alert", wrong);
	page_html(&page,
		"<p>The next page changes how your account signs in.</p>\n<form method=\"post\" action=\"" CONFIRM_PATH
		"\">\n");
	page_csrf(&page, req);
	page_field(&page, "return", back);
	page_html(&page, "<input hidden autocomplete=\"username\" value=\""); /* for password managers; not sent */
	page_text(&page, req->actor.username);
	page_html(&page, "\">\n");
	page_input(&page, "Password", "password", "password",
		"autocomplete=\"current-password\" required autofocus maxlength=\"256\"");
	page_html(&page, "<button class=\"primary\">Continue</button>\n</form>\n");
	return page_send(&page, res, status);
}

int ui_confirm_page(struct request *req, struct response *res, struct err *err)
{
	int allowed = page_need_user(req, res, CONFIRM_PATH, err);

	return allowed > 0 ? confirm_show(req, res, 200, return_path(query(req, "return")), NULL) : allowed;
}

int ui_confirm(struct request *req, struct response *res, struct err *err)
{
	const char *back = return_path(page_sent(req, "return"));
	int allowed = page_form_begin(req, res, CONFIRM_PATH, err);

	if (allowed <= 0)
		return allowed;
	if (password_current_check(req, page_sent(req, "password"), err) < 0)
		return err->kind == ERR_INVALID || err->kind == ERR_BUSY
			? confirm_show(req, res, err_http_status(err->kind), back, err->message)
			: -1;
	if (session_confirm(req->store, http_cookie(req->http, SESSION_COOKIE), err) < 0)
		return -1;
	return page_redirect(res, back);
}
