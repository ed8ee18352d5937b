/* SPDX-License-Identifier: MPL-2.0 */
#include <string.h>

#include "scheduler/api/request_audit.h"
#include "scheduler/auth/closed.h"
#include "scheduler/auth/factors/factor_attempts.h"
#include "scheduler/auth/factors/factors.h"
#include "scheduler/auth/factors/factors.sql.h"
#include "scheduler/auth/factors/totp.h"
#include "scheduler/auth/sessions.h"
#include "scheduler/ui/account/confirm.h"
#include "scheduler/ui/account/qr.h"
#include "scheduler/ui/page.h"

/*
 * The page of the signed-in user's second factors: the authenticator app, passkeys and recovery codes. Changes need a
 * password that was given in the last minutes (confirm.h).
 */

#define TOTP_PATH     FACTORS_PATH "/app"
#define PASSKEYS_PATH FACTORS_PATH "/passkeys"
#define CODES_PATH    FACTORS_PATH "/recovery-codes"

enum { MAX_PASSKEY_NAME = 64 };

static const char issuer[] = "Runyard";

/* ---- the page ---- */

struct factors_answer {
	int status;
	const char *done, *wrong;           /* or NULL */
	const struct recovery_codes *codes; /* that were made just now, or NULL */
};

static void codes_show(struct page_buf *page, const struct recovery_codes *codes)
{
	page_html(page,
		"<section role=\"status\"><h2>Recovery codes</h2>\n<p>Each of these codes signs you in once if you "
		"have lost your second factor. Keep them in a safe place: they are shown this once.</p>\n<ul "
		"class=\"codes\">\n");
	for (size_t i = 0; i < RECOVERY_CODES; i++)
		buf_printf(&page->html, "<li><code>%s</code></li>\n", codes->codes[i]);
	page_html(page, "</ul></section>\n");
}

static void factor_show(struct page_buf *page, const struct request *req, const struct factors_of_user_row *factor)
{
	page_html(page, "<tr>");
	page_cell(page, factor->name);
	page_cell(page, text_equal(factor->kind, "totp") ? "App" : "Passkey");
	page_html(page, "<td class=\"wide\">");
	page_date(page, factor->created_at, "");
	page_html(page, "</td><td><span class=\"narrow\">Last used: </span>");
	page_date(page, factor->last_used_at, "never");
	buf_printf(&page->html,
		"</td><td><form class=\"inline\" method=\"post\" action=\"" FACTORS_PATH "/%s/remove\">", factor->id);
	page_csrf(page, req);
	page_html(page, "<button class=\"plain\" aria-label=\"Remove ");
	page_text(page, factor->name);
	page_html(page, "\">Remove</button></form></td></tr>\n");
}

static void factors_table(struct page_buf *page, const struct request *req, const struct rows *factors)
{
	if (!factors->count) {
		page_html(page,
			"<p>Your account has no second factor. With one, a password alone does not sign in.</p>\n");
		return;
	}
	page_html(page,
		"<table class=\"rows stack\"><thead><tr><th scope=\"col\">Name</th><th scope=\"col\">Kind</th>"
		"<th scope=\"col\" class=\"wide\">Added</th><th scope=\"col\">Last used</th><td></td></tr></thead>\n"
		"<tbody>\n");
	for (int i = 0; i < factors->count; i++)
		factor_show(page, req, row_of(factors_of_user, factors, i));
	page_html(page, "</tbody></table>\n");
}

static void post_form(struct page_buf *page, const struct request *req, const char *path, const char *word)
{
	buf_printf(&page->html, "<form method=\"post\" action=\"%s\">\n", path);
	page_csrf(page, req);
	buf_printf(&page->html, "<button>%s</button>\n</form>\n", word);
}

static void passkey_form(struct page_buf *page, const struct request *req)
{
	page_html(page,
		"<h2>Passkey</h2>\n<p>A passkey is kept by a security key, a phone or this computer. It is a second "
		"factor, and signs in without a password if it verifies you by a PIN or a fingerprint.</p>\n<form "
		"method=\"post\" "
		"action=\"" PASSKEYS_PATH "\" data-passkey=\"registration\">\n");
	page_csrf(page, req);
	page_input(page, "Name", "name", "text", "required maxlength=\"64\" placeholder=\"Security key\"");
	page_html(
		page, "<button>Add passkey</button>\n<noscript><p>Passkeys need JavaScript.</p></noscript>\n</form>\n");
}

static int factors_show(struct request *req, struct response *res, const struct factors_answer *answer, struct err *err)
{
	_cleanup_(rows_release) struct rows factors = ROWS_INIT;
	struct factor_standing standing;
	struct page_buf page;

	if (factors_of_user(req->store, req->actor.user.text, &factors, err) < 0 ||
		factor_standing_read(req->store, req->actor.user.text, &standing, err) < 0)
		return -1;
	page_begin_settings(&page, req, "two-factor");
	if (standing.is_required && !factors.count)
		page_note(&page, "alert",
			"You need a second factor: one of your organizations, or the site, refuses its objects without "
			"it. Add an app or a passkey.");
	if (answer->done)
		page_note(&page, "status", answer->done);
	if (answer->wrong)
		page_note(&page, "alert", answer->wrong);
	if (answer->codes)
		codes_show(&page, answer->codes);
	factors_table(&page, req, &factors);
	if (!standing.has_app) {
		page_html(&page, "<h2>Authenticator app</h2>\n<p>The app shows a new code each half minute.</p>\n");
		post_form(&page, req, TOTP_PATH, "Set up an app");
	}
	passkey_form(&page, req);
	if (factors.count) {
		buf_printf(&page.html, "<h2>Recovery codes</h2>\n<p>%lld codes are left. New codes replace them.</p>\n",
			standing.recovery_codes);
		post_form(&page, req, CODES_PATH, "Make new codes");
	}
	return page_send(&page, res, answer->status);
}

int ui_factors_page(struct request *req, struct response *res, struct err *err)
{
	int allowed = page_need_user(req, res, FACTORS_PATH, err);

	if (allowed > 0)
		allowed = confirm_need(req, res, FACTORS_PATH, err);
	return allowed > 0 ? factors_show(req, res, &(struct factors_answer){.status = 200}, err) : allowed;
}

/* Begins the handler of a form that changes factors. */
static int change_begin(struct request *req, struct response *res, struct err *err)
{
	int allowed = page_form_begin(req, res, FACTORS_PATH, err);

	return allowed > 0 ? confirm_need(req, res, FACTORS_PATH, err) : allowed;
}

/* A factor was added: writes the audit event. The first one makes recovery codes, which the page shows. */
static int factor_added(struct request *req, struct response *res, const char *kind, struct err *err)
{
	struct recovery_codes codes;
	struct factor_standing standing;
	struct factors_answer answer = {.status = 201, .done = "The second factor is added."};

	if (factor_standing_read(req->store, req->actor.user.text, &standing, err) < 0)
		return -1;
	if (!standing.recovery_codes) {
		if (recovery_codes_make(req->store, req->actor.user.text, &codes, err) < 0)
			return -1;
		answer.codes = &codes;
	}
	if (request_audit_detailed(req, &(struct audit_action){"factor_added", "user", req->actor.user.text},
		    json_pack("{ss}", "factor", kind), err) < 0)
		return -1;
	return factors_show(req, res, &answer, err);
}

static int factor_refused(struct request *req, struct response *res, struct err *err)
{
	const struct err wrong = *err;

	if (wrong.kind != ERR_INVALID && wrong.kind != ERR_CONFLICT && wrong.kind != ERR_NOT_FOUND)
		return -1;
	return factors_show(
		req, res, &(struct factors_answer){.status = err_http_status(wrong.kind), .wrong = wrong.message}, err);
}

/* ---- the app ---- */

static int secret_show(struct request *req, struct response *res, const char *secret, const char *wrong)
{
	_cleanup_(crypto_secret_freep) char *uri = totp_uri(secret, issuer, req->actor.username);
	const struct page_up up = {FACTORS_PATH, "Two-factor authentication"};
	struct page_buf page;

	page_begin_below(&page, req, "Authenticator app", &up);
	if (wrong)
		page_note(&page, "alert", wrong);
	page_html(&page, "<p>Read this code with your app, or type the key into it:</p>\n");
	qr_svg(uri, "QR code of the key", &page.html);
	page_html(&page, "<p><code class=\"key\">");
	page_text(&page, secret);
	page_html(&page, "</code></p>\n<form method=\"post\" action=\"" TOTP_PATH "/confirm\">\n");
	page_csrf(&page, req);
	page_input(&page, "Code that the app shows", "code", "text",
		"inputmode=\"numeric\" autocomplete=\"one-time-code\" required autofocus maxlength=\"7\"");
	page_html(&page, "<button class=\"primary\">Confirm</button>\n</form>\n");
	return page_send(&page, res, wrong ? 422 : 200);
}

int ui_factor_app_begin(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(crypto_secret_freep) char *secret = NULL;
	int allowed = change_begin(req, res, err);

	if (allowed <= 0)
		return allowed;
	if (totp_begin(req->store, req->actor.user.text, &secret, err) < 0)
		return factor_refused(req, res, err);
	return secret_show(req, res, secret, NULL);
}

int ui_factor_app_confirm(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(crypto_secret_freep) char *secret = NULL;
	enum factor_result result;
	int allowed = change_begin(req, res, err);

	if (allowed <= 0)
		return allowed;
	if (request_audit_begin(req, err) < 0)
		return -1;
	if (totp_confirm(req->store, req->actor.user.text, page_sent(req, "code"), &result, &secret, err) < 0)
		return factor_refused(req, res, err);
	if (result != FACTOR_APP)
		return secret_show(req, res, secret, "The code is wrong. Compare the clock of the app's device.");
	return factor_added(req, res, "totp", err);
}

/* ---- passkeys ---- */

/* The options of navigator.credentials.create. */
int ui_factor_passkey_options(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows factors = ROWS_INIT;
	_cleanup_(freep) char *challenge = NULL, *user = NULL, *party = NULL;
	struct factor_attempt_order order = {.attempt = {.purpose = FOR_REGISTRATION}};
	int allowed = page_user(req, err);

	if (allowed < 0)
		return -1;
	if (!allowed || !page_form_ours(req))
		return err_set(err, ERR_FORBIDDEN, "the request was sent from another site, or the session is over");
	if (confirm_check(req, err) < 0)
		return -1;
	order.attempt.cookie = http_cookie(req->http, SESSION_COOKIE);
	order.user_id = req->actor.user.text;
	if (factor_attempt_begin(req->store, &order, &challenge, err) < 0 ||
		factors_of_user(req->store, req->actor.user.text, &factors, err) < 0)
		return -1;
	user = crypto_base64url(req->actor.user.text, strlen(req->actor.user.text));
	party = webauthn_relying_party(req->store->settings->public_url);
	return respond_json(res, 200,
		json_pack("{ss ss ss ss so}", "challenge", challenge, "rp", party, "user", user, "username",
			req->actor.username, "known", passkey_ids(&factors)));
}

int ui_factor_passkey_add(struct request *req, struct response *res, struct err *err)
{
	const struct factor_attempt key = {FOR_REGISTRATION, http_cookie(req->http, SESSION_COOKIE)};
	_cleanup_(freep) char *challenge = NULL;
	struct passkey_order order = {.name = page_sent(req, "name"),
		.creation = {page_sent(req, "client_data"), page_sent(req, "attestation")}};
	struct id id;
	int allowed = change_begin(req, res, err);

	if (allowed <= 0)
		return allowed;
	if (!*order.name || strlen(order.name) > MAX_PASSKEY_NAME)
		return factors_show(req, res,
			&(struct factors_answer){
				.status = 422, .wrong = "A passkey needs a name of at most 64 characters."},
			err);
	if (request_audit_begin(req, err) < 0 || factor_challenge_take(req->store, &key, &challenge, err) < 0)
		return -1;
	order.user_id = req->actor.user.text;
	order.challenge = challenge;
	if (passkey_add(req->store, &order, &id, err) < 0)
		return factor_refused(req, res, err);
	return factor_added(req, res, "passkey", err);
}

/* ---- recovery codes, removal ---- */

int ui_recovery_codes_make(struct request *req, struct response *res, struct err *err)
{
	struct factors_answer answer = {.status = 201, .done = "The former recovery codes are not valid any more."};
	struct factor_standing standing;
	struct recovery_codes codes;
	int allowed = change_begin(req, res, err);

	if (allowed <= 0)
		return allowed;
	if (factor_standing_read(req->store, req->actor.user.text, &standing, err) < 0)
		return -1;
	if (!standing.has_app && !standing.has_passkey)
		return factors_show(req, res,
			&(struct factors_answer){.status = 422, .wrong = "Recovery codes need a second factor."}, err);
	if (request_audit_begin(req, err) < 0 ||
		recovery_codes_make(req->store, req->actor.user.text, &codes, err) < 0 ||
		request_audit_write(req, "recovery_codes_made", "user", req->actor.user.text, err) < 0)
		return -1;
	answer.codes = &codes;
	return factors_show(req, res, &answer, err);
}

int ui_factor_remove(struct request *req, struct response *res, struct err *err)
{
	int allowed = change_begin(req, res, err);

	if (allowed <= 0)
		return allowed;
	if (request_audit_begin(req, err) < 0)
		return -1;
	if (factor_remove(req->store, req->actor.user.text, param(req, "factor"), err) < 0)
		return factor_refused(req, res, err);
	if (request_audit_detailed(req, &(struct audit_action){"factor_removed", "user", req->actor.user.text},
		    json_pack("{ss}", "factor_id", param(req, "factor")), err) < 0)
		return -1;
	return page_redirect(res, FACTORS_PATH);
}
