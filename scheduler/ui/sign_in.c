/* SPDX-License-Identifier: MPL-2.0 */
#include <string.h>

#include "scheduler/api/api.h"
#include "scheduler/api/request_audit.h"
#include "scheduler/auth/saml/logout.h"
#include "scheduler/auth/sessions.h"
#include "scheduler/http/audit_note.h"
#include "scheduler/store/site_settings.h"
#include "scheduler/ui/page.h"
#include "scheduler/ui/return_path.h"
#include "scheduler/ui/saml/saml_logout.h"
#include "scheduler/ui/sign_in.h"
#include "scheduler/ui/sign_in_providers.h"

/* The page of sign-in, its end for all ways to sign in, and sign-out. */

/* The address of the site's support, if it has one. */
static void support_show(struct page_buf *page)
{
	_cleanup_(freep) char *address = site_text("support-email-address");

	if (!*address)
		return;
	page_html(page, "<p>Support: <a href=\"mailto:");
	page_text(page, address);
	page_html(page, "\">");
	page_text(page, address);
	page_html(page, "</a></p>\n");
}

/* What the sign-in page shows. */
struct form {
	int status;
	const char *back, *wrong; /* wrong: a sentence, or NULL */
};

/* The form is folded away if only break-glass accounts have passwords, and shown after an attempt that failed. */
static void password_form(struct page_buf *page, const struct form *form)
{
	bool folded = !site_takes_passwords();

	if (folded) {
		page_html(page, form->wrong ? "<details open>\n" : "<details>\n");
		page_html(page, "<summary>Break-glass account</summary>\n");
	}
	page_html(page, "<form method=\"post\" action=\"" SIGN_IN_PATH "\">\n");
	page_input(page, "Username", "username", "text",
		"autocomplete=\"username\" autocapitalize=\"none\" required autofocus maxlength=\"128\"");
	page_input(page, "Password", "password", "password",
		"autocomplete=\"current-password\" required maxlength=\"256\"");
	page_field(page, "return", form->back);
	page_html(page, "<button class=\"primary\">Sign in</button>\n</form>\n");
	page_html(page, "<form method=\"post\" action=\"" PASSKEY_PATH "\" data-passkey=\"sign-in\" hidden>\n");
	page_field(page, "return", form->back);
	page_html(page,
		"<button>Use a passkey</button>\n</form>\n"
		"<p><a href=\"/app/login/forgot\">Forgot your password?</a></p>\n");
	if (folded)
		page_html(page, "</details>\n");
}

static int form_show(const struct request *req, struct response *res, const struct form *form, struct err *err)
{
	const char *back = form->back, *wrong = form->wrong;
	struct page_buf page;

	page_begin(&page, req, "Sign in");
	if (wrong) {
		page_html(&page, "<p role=\"alert\">");
		page_text(&page, wrong);
		page_html(&page, "</p>\n");
	}
	if (sign_in_providers_show(&page, req, back, err) < 0) {
		buf_release(&page.html);
		return -1;
	}
	password_form(&page, form);
	page_site_text(&page, "login-help", "site-text");
	support_show(&page);
	page_script(&page, "sign_in.js"); /* keeps the fragment of the address */
	page_script(&page, "passkeys.js");
	return page_send(&page, res, form->status);
}

int ui_sign_in_page(struct request *req, struct response *res, struct err *err)
{
	const char *back = return_path(query(req, "return"));
	int allowed = page_user(req, err);

	if (allowed < 0)
		return -1;
	return allowed ? page_redirect(res, back) : form_show(req, res, &(struct form){200, back, NULL}, err);
}

/* ---- the end of each sign-in ---- */

static json_t *sign_in_details(const struct sign_in *how)
{
	json_t *details = json_pack("{ss ss*}", "method", how->method, "provider", how->provider_id);

	if (how->factors)
		json_object_set_new(details, "factors", json_string(db_array_text(how->factors)));
	return details;
}

/* The browser's present session ends: nobody can have prepared it for the person who signs in. */
static int session_replace(struct request *req, const struct sign_in *how, char **ret_cookie, struct err *err)
{
	const char *present = text_or_null(http_cookie(req->http, SESSION_COOKIE));
	const struct session_order order = {.user_id = how->user->text,
		.address = req->audit->address,
		.agent = http_header(req->http, "User-Agent"),
		.method = how->method,
		.factors = how->factors,
		.provider_id = how->provider_id,
		.provider_session = how->provider_session};

	if (present && session_delete(req->store, present, err) < 0)
		return -1;
	return session_create(req->store, &order, ret_cookie, err);
}

int sign_in_complete(struct request *req, struct response *res, const struct sign_in *how, struct err *err)
{
	const struct audit_action action = {"sign_in", "session", how->user->text};
	_cleanup_(freep) char *cookie = NULL;
	_cleanup_(freep) char *header = NULL;

	if (!db_in_transaction(req->store->db) && request_audit_begin(req, err) < 0)
		return -1;
	if (session_replace(req, how, &cookie, err) < 0)
		return -1;
	req->actor.kind = ACTOR_USER;
	req->actor.user = *how->user;
	text_copy(req->actor.username, sizeof(req->actor.username), how->username);
	if (request_audit_detailed(req, &action, sign_in_details(how), err) < 0)
		return -1;
	header = session_set_cookie(req->store, cookie);
	http_add_header(res->http, "Set-Cookie", header);
	return page_redirect(res, return_path(how->return_path));
}

int sign_in_show(struct request *req, struct response *res, const struct sign_in_refusal *refusal, struct err *err)
{
	return form_show(
		req, res, &(struct form){refusal->status, return_path(refusal->return_path), refusal->sentence}, err);
}

int sign_in_refusal_write(struct request *req, const struct sign_in_refusal *refusal, struct err *err)
{
	const struct audit_action action = {"sign_in_failed", "session", NULL};
	json_t *details = json_pack(
		"{ss ss}", "method", refusal->method, "reason", refusal->reason ? refusal->reason : refusal->sentence);

	text_copy(req->actor.username, sizeof(req->actor.username), text_or_empty(refusal->username));
	return request_audit_detailed(req, &action, details, err);
}

int sign_in_refuse(struct request *req, struct response *res, const struct sign_in_refusal *refusal, struct err *err)
{
	if (sign_in_refusal_write(req, refusal, err) < 0)
		return -1;
	return sign_in_show(req, res, refusal, err);
}

/* ---- sign-out ---- */

int ui_sign_out(struct request *req, struct response *res, struct err *err)
{
	int allowed = page_user(req, err);
	bool at_provider = false;

	if (allowed < 0)
		return -1;
	if (allowed && !page_form_ours(req))
		return page_say(req, res, 403, "Not from here", "The form was sent from another site.");
	if (allowed &&
		saml_session_has_logout(req->store, http_cookie(req->http, SESSION_COOKIE), &at_provider, err) < 0)
		return -1;
	if (at_provider)
		return saml_logout_redirect(req, res);
	if (page_session_end(req, res, err) < 0)
		return -1;
	return allowed ? sign_in_provider_farewell(req, res, err) : page_redirect(res, SIGN_IN_PATH);
}
