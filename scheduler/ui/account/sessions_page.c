/* SPDX-License-Identifier: MPL-2.0 */
#include <string.h>

#include "scheduler/api/request_audit.h"
#include "scheduler/auth/account/account_sessions.h"
#include "scheduler/auth/account/account_sessions.sql.h"
#include "scheduler/auth/account/impersonation.h"
#include "scheduler/auth/sessions.h"
#include "scheduler/ui/page.h"

/* The sessions of the signed-in user, and the end of one in which a site admin acts as a user. */

#define SESSIONS_PATH "/app/settings/sessions"

/* ---- the list ---- */

static bool is_present(const struct request *req, const struct account_session_row *session)
{
	char hash[SHA256_HEX_SIZE];

	session_hash(text_or_empty(http_cookie(req->http, SESSION_COOKIE)), hash);
	return text_equal(hash, session->hash);
}

/* "Password and totp", "oidc (Keycloak)". */
static void method_show(struct page_buf *page, const struct account_session_row *session)
{
	json_auto_t *factors = json_shown(session->factors);
	const json_t *factor;
	size_t i;

	page_text(page, session->method);
	json_array_foreach(factors, i, factor)
	{
		page_html(page, ", ");
		page_text(page, json_string_value(factor));
	}
	if (session->provider) {
		page_html(page, " (");
		page_text(page, session->provider);
		page_html(page, ")");
	}
	if (session->impersonator) {
		page_html(page, "<br>The site admin ");
		page_text(page, session->impersonator);
		page_html(page, " acts as you");
	}
}

/* The minute of a timestamptz column, in UTC. */
static void minute_show(struct page_buf *page, const char *time)
{
	char minute[17];

	text_copy(minute, sizeof(minute), time);
	page_html(page, "<td>");
	page_text(page, minute);
	page_html(page, " UTC</td>");
}

static void session_show(struct page_buf *page, const struct request *req, const struct account_session_row *session)
{
	page_html(page, "<tr><td>");
	page_text(page, text_or_empty(session->agent));
	if (is_present(req, session))
		page_html(page, " <strong>This browser</strong>");
	page_html(page, "</td>");
	page_cell(page, session->address);
	page_html(page, "<td>");
	method_show(page, session);
	page_html(page, "</td>");
	minute_show(page, session->created_at);
	minute_show(page, session->last_seen_at);
	buf_printf(&page->html, "<td><form class=\"inline\" method=\"post\" action=\"" SESSIONS_PATH "/%s/end\">",
		session->id);
	page_csrf(page, req);
	page_html(page, "<button class=\"plain\" aria-label=\"End the session of ");
	page_text(page, session->address);
	page_html(page, "\">End</button></form></td></tr>\n");
}

int ui_sessions_page(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct page_buf page;
	int allowed = page_need_user(req, res, SESSIONS_PATH, err);

	if (allowed <= 0)
		return allowed;
	if (account_sessions(req->store, req->actor.user.text, &rows, err) < 0)
		return -1;
	page_begin_settings(&page, req, "sessions");
	page_html(&page,
		"<p>Browsers that are signed in as you.</p>\n"
		"<table class=\"rows stack\"><thead><tr><th scope=\"col\">Browser</th><th scope=\"col\">Address</th>"
		"<th scope=\"col\">Signed in by</th><th scope=\"col\">Since</th><th scope=\"col\">Last used</th>"
		"<td></td></tr></thead>\n<tbody>\n");
	for (int i = 0; i < rows.count; i++)
		session_show(&page, req, row_of(account_session, &rows, i));
	page_html(&page, "</tbody></table>\n<form method=\"post\" action=\"" SESSIONS_PATH "/end-others\">\n");
	page_csrf(&page, req);
	page_html(&page, "<button>End all other sessions</button>\n</form>\n");
	return page_send(&page, res, 200);
}

int ui_sessions_end(struct request *req, struct response *res, struct err *err)
{
	const char *id = param(req, "session");
	int allowed = page_form_begin(req, res, SESSIONS_PATH, err);

	if (allowed <= 0)
		return allowed;
	if (request_audit_begin(req, err) < 0)
		return -1;
	if (account_session_end(req->store, req->actor.user.text, id, err) < 0)
		return err->kind == ERR_NOT_FOUND
			? page_say(req, res, 404, "No such session", "It has ended already, or it is not yours.")
			: -1;
	return request_audit_write(req, "destroy", "session", id, err) < 0 ? -1 : page_redirect(res, SESSIONS_PATH);
}

int ui_sessions_end_others(struct request *req, struct response *res, struct err *err)
{
	int allowed = page_form_begin(req, res, SESSIONS_PATH, err);

	if (allowed <= 0)
		return allowed;
	if (request_audit_begin(req, err) < 0 ||
		account_sessions_end_others(
			req->store, req->actor.user.text, http_cookie(req->http, SESSION_COOKIE), err) < 0 ||
		request_audit_write(req, "end_others", "session", req->actor.user.text, err) < 0)
		return -1;
	return page_redirect(res, SESSIONS_PATH);
}

/* ---- impersonation ---- */

/* The form of the banner. */
int ui_impersonation_end(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(freep) char *cookie = NULL, *header = NULL;
	int allowed = page_form_begin(req, res, APP_PATH, err);

	if (allowed <= 0)
		return allowed;
	if (!req->actor.impersonator.text[0])
		return page_redirect(res, APP_PATH);
	if (request_audit_begin(req, err) < 0 ||
		impersonation_end(req->store, http_cookie(req->http, SESSION_COOKIE), &cookie, err) < 0 ||
		request_audit_write(req, "unimpersonate", "user", req->actor.user.text, err) < 0)
		return -1;
	header = session_set_cookie(req->store, cookie);
	http_add_header(res->http, "Set-Cookie", header);
	return page_redirect(res, "/app/admin/users");
}
