/* SPDX-License-Identifier: MPL-2.0 */
#include <string.h>

#include "common/clock.h"
#include "common/http/http_clients.h"
#include "scheduler/api/request_audit.h"
#include "scheduler/auth/account/password_reset.h"
#include "scheduler/auth/buckets.h"
#include "scheduler/auth/passwords.h"
#include "scheduler/http/audit_note.h"
#include "scheduler/ui/page.h"

/* The pages for a forgotten password. Their answers are the same for known and unknown names and addresses. */

#define FORGOT_PATH "/app/login/forgot"
#define RESET_PATH  "/app/login/reset"

enum { MAX_NAME = 254 };

/* ---- asking for a mail ---- */

static int forgot_show(struct request *req, struct response *res, int status, const char *wrong)
{
	struct page_buf page;

	page_begin(&page, req, "Forgot password");
	if (wrong)
		page_note(&page, "alert", wrong);
	page_html(&page, "<form method=\"post\" action=\"" FORGOT_PATH "\">\n");
	page_input(&page, "Username or e-mail address", "name", "text",
		"autocomplete=\"username\" autocapitalize=\"none\" required autofocus maxlength=\"254\"");
	page_html(&page,
		"<button class=\"primary\">Send a link</button>\n</form>\n<p><a href=\"" SIGN_IN_PATH
		"\">Sign in</a></p>\n");
	return page_send(&page, res, status);
}

int ui_forgot_page(struct request *req, struct response *res, struct err *err)
{
	(void)err;
	return forgot_show(req, res, 200, NULL);
}

/* By address, and by name: an attacker can't fill a person's mailbox from many addresses. */
static bool mail_allowed(const struct request *req, const char *name)
{
	double now = (double)clock_mono_ms() / 1000;
	char address[HTTP_ADDRESS_SIZE], lower[MAX_NAME + 1];

	http_address_key(req->audit->address, address);
	text_copy_lower(lower, sizeof(lower), name);
	return bucket_take(req->services->buckets, LIMIT_RESET_ADDRESS, address, now).taken &&
		bucket_take(req->services->buckets, LIMIT_RESET_NAME, lower, now).taken;
}

int ui_forgot(struct request *req, struct response *res, struct err *err)
{
	const char *name = page_sent(req, "name");

	if (!page_form_ours(req))
		return page_say(req, res, 403, "Not from here", "The form was sent from another site.");
	if (!*name || strlen(name) > MAX_NAME)
		return forgot_show(req, res, 422, "A username or an e-mail address is needed.");
	if (!mail_allowed(req, name)) {
		text_copy(res->http->retry_after, sizeof(res->http->retry_after), "600");
		return forgot_show(req, res, 429, "There were too many requests. Try again in ten minutes.");
	}
	text_copy(req->actor.username, sizeof(req->actor.username), name);
	if (request_audit_begin(req, err) < 0 || password_reset_ask(req->store, name, err) < 0 ||
		request_audit_write(req, "password_reset_asked", "user", NULL, err) < 0)
		return -1;
	req->actor.username[0] = '\0';
	return page_say(req, res, 200, "Look into your mail",
		"If an account has that name or that confirmed address, a mail with a link is on its way. The link is "
		"valid for an hour.");
}

/* ---- the link ---- */

static int gone_show(struct request *req, struct response *res)
{
	return page_say(
		req, res, 410, "No such link", "The link was used, or it is older than an hour. Ask for another.");
}

static int reset_show(struct request *req, struct response *res, const struct password_reset *reset, const char *code,
	const char *wrong)
{
	struct page_buf page;

	page_begin(&page, req, "New password");
	if (wrong)
		page_note(&page, "alert", wrong);
	page_html(&page, "<form method=\"post\" action=\"" RESET_PATH "\">\n");
	page_field(&page, "code", code);
	page_html(&page, "<input hidden autocomplete=\"username\" value=\""); /* for password managers; not sent */
	page_text(&page, reset->username);
	page_html(&page, "\">\n");
	page_input(&page, "New password", "password", "password",
		"autocomplete=\"new-password\" required autofocus minlength=\"10\" maxlength=\"256\"");
	page_input(&page, "New password, again", "password_confirmation", "password",
		"autocomplete=\"new-password\" required minlength=\"10\" maxlength=\"256\"");
	page_html(&page, "<button class=\"primary\">Set password</button>\n</form>\n");
	return page_send(&page, res, wrong ? 422 : 200);
}

int ui_reset_page(struct request *req, struct response *res, struct err *err)
{
	const char *code = text_or_empty(query(req, "code"));
	struct password_reset reset;

	if (password_reset_read(req->store, code, &reset, err) < 0)
		return err->kind == ERR_NOT_FOUND ? gone_show(req, res) : -1;
	return reset_show(req, res, &reset, code, NULL);
}

int ui_reset(struct request *req, struct response *res, struct err *err)
{
	const char *code = page_sent(req, "code"), *password = page_sent(req, "password");
	struct password_reset reset;

	if (!page_form_ours(req))
		return page_say(req, res, 403, "Not from here", "The form was sent from another site.");
	if (password_reset_read(req->store, code, &reset, err) < 0)
		return err->kind == ERR_NOT_FOUND ? gone_show(req, res) : -1;
	if (password_check(NULL, password, err) < 0)
		return reset_show(req, res, &reset, code, err->message);
	if (!text_equal(password, page_sent(req, "password_confirmation")))
		return reset_show(req, res, &reset, code, "The two passwords differ.");
	if (request_audit_begin(req, err) < 0)
		return -1;
	if (password_reset_use(req->store, &reset, password, err) < 0)
		return err->kind == ERR_NOT_FOUND ? gone_show(req, res) : -1;
	text_copy(req->actor.username, sizeof(req->actor.username), reset.username);
	if (request_audit_write(req, "password_reset", "user", reset.user.text, err) < 0)
		return -1;
	req->actor.username[0] = '\0';
	return page_say(
		req, res, 200, "The password is set", "All browsers are signed out. Sign in with the new password.");
}
