/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/ui/account/factor_step.h"

#include <string.h>

#include "scheduler/api/request_audit.h"
#include "scheduler/auth/account/break_glass.h"
#include "scheduler/auth/closed.h"
#include "scheduler/auth/factors/factor_attempts.h"
#include "scheduler/auth/factors/factor_attempts.sql.h"
#include "scheduler/auth/factors/factors.h"
#include "scheduler/auth/factors/factors.sql.h"
#include "scheduler/ui/page.h"
#include "scheduler/ui/return_path.h"
#include "scheduler/ui/sign_in_limits.h"

/*
 * The page for the second factor, and sign-in with a passkey alone. Both go on from an attempt of the browser
 * (auth/factors/factor_attempts.h), which any scheduler continues. Answers are limited like passwords. The app takes no
 * codes for a while after wrong ones (auth/factors/factors.sql), and the attempt ends with the tenth.
 */

static struct factor_attempt attempt_of(const struct request *req, enum factor_purpose purpose)
{
	return (struct factor_attempt){purpose, http_cookie(req->http, FACTOR_COOKIE)};
}

static void cookie_set(const struct request *req, struct response *res, const char *cookie)
{
	_cleanup_(freep) char *header = factor_set_cookie(req->store, cookie);

	http_add_header(res->http, "Set-Cookie", header);
}

/* ---- after the password ---- */

/* Begins an attempt with a new cookie. The challenge is made when the page asks for it. */
static int attempt_begin(struct request *req, struct response *res, enum factor_purpose purpose,
	const struct sign_in *how, struct err *err)
{
	_cleanup_(freep) char *cookie = crypto_token(""), *challenge = NULL;
	const struct factor_attempt_order order = {
		.attempt = {purpose, cookie}, .user_id = how->user->text, .return_path = return_path(how->return_path)};

	if (factor_attempt_begin(req->store, &order, &challenge, err) < 0)
		return -1;
	cookie_set(req, res, cookie);
	return 0;
}

/* The session of an account that is for emergencies is known to all site admins. */
static int local_complete(struct request *req, struct response *res, const struct sign_in *how, struct err *err)
{
	bool is_break_glass = false;

	if (!db_in_transaction(req->store->db) && request_audit_begin(req, err) < 0)
		return -1;
	if (break_glass_report(req->store, how->user->text, &is_break_glass, err) < 0 ||
		sign_in_complete(req, res, how, err) < 0)
		return -1;
	return is_break_glass ? request_audit_write(req, "break_glass_sign_in", "user", how->user->text, err) : 0;
}

int factor_step(struct request *req, struct response *res, const struct sign_in *how, struct err *err)
{
	struct factor_standing standing;
	struct sign_in setup = *how;

	if (factor_standing_read(req->store, how->user->text, &standing, err) < 0)
		return -1;
	if (standing.has_app || standing.has_passkey) {
		if (attempt_begin(req, res, FOR_SECOND_FACTOR, how, err) < 0)
			return -1;
		return page_redirect(res, FACTOR_PATH);
	}
	if (!standing.is_required)
		return local_complete(req, res, how, err);
	setup.return_path = FACTORS_PATH "?required=true";
	return local_complete(req, res, &setup, err);
}

/* ---- the page ---- */

static int factor_page_show(struct request *req, struct response *res, const struct factor_attempt_read_row *attempt,
	const struct sign_in_refusal *refusal, struct err *err)
{
	struct factor_standing standing;
	struct page_buf page;

	if (factor_standing_read(req->store, attempt->user_id, &standing, err) < 0)
		return -1;
	page_begin(&page, req, "Second factor");
	if (refusal)
		page_note(&page, "alert", refusal->sentence);
	if (standing.has_passkey)
		page_html(&page,
			"<form method=\"post\" action=\"" FACTOR_PATH "\" data-passkey=\"second-factor\" hidden>\n"
			"<button class=\"primary\">Use a passkey</button>\n</form>\n");
	page_html(&page, "<form method=\"post\" action=\"" FACTOR_PATH "\">\n");
	page_input(&page, standing.has_app ? "Code of your app, or a recovery code" : "Recovery code", "code", "text",
		"autocomplete=\"one-time-code\" autocapitalize=\"none\" spellcheck=\"false\" required autofocus "
		"maxlength=\"64\"");
	page_html(&page,
		"<button class=\"primary\">Sign in</button>\n</form>\n"
		"<p>Have you lost your second factor and your recovery codes? A site admin can remove the "
		"factor.</p>\n");
	page_script(&page, "passkeys.js");
	return page_send(&page, res, refusal ? refusal->status : 200);
}

/* Reads the browser's attempt. Returns 0, with a redirect to the sign-in page, if there is none. */
static int attempt_need(struct request *req, struct response *res, struct rows *ret_rows, struct err *err)
{
	const struct factor_attempt attempt = attempt_of(req, FOR_SECOND_FACTOR);

	if (factor_attempt_read(req->store, &attempt, ret_rows, err) < 0)
		return -1;
	return ret_rows->count ? 1 : page_redirect(res, SIGN_IN_PATH);
}

int ui_factor_page(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	int found = attempt_need(req, res, &rows, err);

	return found > 0 ? factor_page_show(req, res, row_of(factor_attempt_read, &rows, 0), NULL, err) : found;
}

/* ---- the answer ---- */

static struct webauthn_assertion assertion_sent(const struct request *req)
{
	return (struct webauthn_assertion){.client_data = page_sent(req, "client_data"),
		.authenticator_data = page_sent(req, "authenticator_data"),
		.signature = page_sent(req, "signature")};
}

/* Compares the browser's answer. *ret_refusal says why it is wrong. */
static int answer_check(struct request *req, const struct factor_attempt_read_row *attempt,
	enum factor_result *ret_result, struct sign_in_refusal *ret_refusal, struct err *err)
{
	const struct factor_attempt key = attempt_of(req, FOR_SECOND_FACTOR);
	_cleanup_(freep) char *challenge = NULL;
	struct passkey_use use = {.user_id = attempt->user_id,
		.credential = page_sent(req, "credential"),
		.assertion = assertion_sent(req)};
	struct passkey_user user;

	*ret_refusal = (struct sign_in_refusal){.status = 401, .username = attempt->username, .method = "password"};
	if (!*use.credential) {
		ret_refusal->sentence = "The code is wrong, or it was used before.";
		return factor_code_check(req->store, attempt->user_id, page_sent(req, "code"), ret_result, err);
	}
	if (factor_challenge_take(req->store, &key, &challenge, err) < 0)
		return -1;
	use.challenge = challenge;
	if (passkey_check(req->store, &use, &user, err) == 0) {
		*ret_result = FACTOR_PASSKEY;
		return 0;
	}
	if (err->kind != ERR_INVALID)
		return -1;
	*ret_result = FACTOR_WRONG;
	ret_refusal->sentence = err->message;
	return 0;
}

static int factor_refuse(struct request *req, struct response *res, const struct factor_attempt_read_row *attempt,
	const struct sign_in_refusal *refusal, struct err *err)
{
	const struct factor_attempt key = attempt_of(req, FOR_SECOND_FACTOR);

	if (request_audit_begin(req, err) < 0 || factor_attempt_fail(req->store, &key, err) < 0 ||
		sign_in_refusal_write(req, refusal, err) < 0)
		return -1;
	return factor_page_show(req, res, attempt, refusal, err);
}

static int factor_accept(struct request *req, struct response *res, const struct factor_attempt_read_row *attempt,
	enum factor_result result, struct err *err)
{
	const struct factor_attempt key = attempt_of(req, FOR_SECOND_FACTOR);
	_cleanup_(db_array_release) struct db_array factors = DB_ARRAY_INIT;
	struct sign_in how = {.username = attempt->username,
		.method = "password",
		.factors = &factors,
		.return_path = attempt->return_path};
	struct id user = {""};
	bool ended = false;

	if (request_audit_begin(req, err) < 0 || factor_attempt_end(req->store, &key, &ended, err) < 0)
		return -1;
	if (!ended)
		return page_redirect(res, SIGN_IN_PATH);
	text_copy(user.text, sizeof(user.text), attempt->user_id);
	how.user = &user;
	db_array_add(&factors, factor_name(result));
	cookie_set(req, res, NULL);
	if (local_complete(req, res, &how, err) < 0)
		return -1;
	return result == FACTOR_RECOVERY_CODE
		? request_audit_write(req, "recovery_code_used", "user", attempt->user_id, err)
		: 0;
}

int ui_factor_check(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct factor_attempt_read_row *attempt;
	struct sign_in_refusal refusal;
	struct sign_in_limits limits;
	enum factor_result result = FACTOR_LIMITED;
	bool allowed = false;
	int found;

	if (!page_form_ours(req))
		return page_say(req, res, 403, "Not from here", "The form was sent from another site.");
	found = attempt_need(req, res, &rows, err);
	if (found <= 0)
		return found;
	attempt = row_of(factor_attempt_read, &rows, 0);
	limits = sign_in_limits_of(req, attempt->username);
	if (sign_in_limits_take(req, &limits, &allowed, err) < 0 ||
		(allowed && answer_check(req, attempt, &result, &refusal, err) < 0))
		return -1;
	if (factor_name(result)) {
		sign_in_limits_return(req, &limits);
		return factor_accept(req, res, attempt, result, err);
	}
	if (result == FACTOR_LIMITED) {
		text_copy(res->http->retry_after, sizeof(res->http->retry_after), "30");
		refusal = (struct sign_in_refusal){.status = 429,
			.username = attempt->username,
			.method = "password",
			.sentence =
				"There were too many wrong codes. Wait before you try another one, or use a recovery "
				"code."};
	}
	return factor_refuse(req, res, attempt, &refusal, err);
}

/* ---- passkeys ---- */

static int options_answer(
	struct request *req, struct response *res, const char *challenge, bool verified, json_t *allowed)
{
	_cleanup_(freep) char *party = webauthn_relying_party(req->store->settings->public_url);

	return respond_json(res, 200,
		json_pack("{ss ss ss so}", "challenge", challenge, "rp", party, "verification",
			verified ? "required" : "preferred", "allowed", allowed));
}

/* The options of navigator.credentials.get for a passkey as the second factor. */
static int second_factor_options(struct request *req, struct response *res, struct err *err)
{
	const struct factor_attempt key = attempt_of(req, FOR_SECOND_FACTOR);
	_cleanup_(rows_release) struct rows rows = ROWS_INIT, factors = ROWS_INIT;
	_cleanup_(freep) char *challenge = NULL;

	if (factor_attempt_read(req->store, &key, &rows, err) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_UNAUTHORIZED, "sign in with the password first");
	if (factor_challenge_renew(req->store, &key, &challenge, err) < 0 ||
		factors_of_user(req->store, row_of(factor_attempt_read, &rows, 0)->user_id, &factors, err) < 0)
		return -1;
	return options_answer(req, res, challenge, false, passkey_ids(&factors));
}

int ui_passkey_options(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(freep) char *cookie = crypto_token(""), *challenge = NULL;
	const struct factor_attempt_order order = {.attempt = {FOR_PASSKEY, cookie}};

	if (!page_form_ours(req))
		return err_set(err, ERR_FORBIDDEN, "the request was sent from another site");
	if (text_equal(page_sent(req, "purpose"), "second-factor"))
		return second_factor_options(req, res, err);
	if (!sign_in_address_allowed(req))
		return err_set(err, ERR_BUSY, "there were too many attempts: try again in half a minute");
	if (factor_attempt_begin(req->store, &order, &challenge, err) < 0)
		return -1;
	cookie_set(req, res, cookie);
	return options_answer(req, res, challenge, true, json_array());
}

static int passkey_refuse(struct request *req, struct response *res, const struct err *why, struct err *err)
{
	return sign_in_refuse(req, res,
		&(struct sign_in_refusal){.status = 401,
			.method = "passkey",
			.sentence = why->message,
			.return_path = page_sent(req, "return")},
		err);
}

int ui_passkey_sign_in(struct request *req, struct response *res, struct err *err)
{
	const struct factor_attempt key = attempt_of(req, FOR_PASSKEY);
	_cleanup_(freep) char *challenge = NULL;
	struct passkey_use use = {.credential = page_sent(req, "credential"), .assertion = assertion_sent(req)};
	struct passkey_user user;
	struct err wrong = ERR_INIT;

	if (!page_form_ours(req))
		return page_say(req, res, 403, "Not from here", "The form was sent from another site.");
	if (factor_challenge_take(req->store, &key, &challenge, err) < 0)
		return -1;
	use.challenge = challenge;
	if (passkey_check(req->store, &use, &user, &wrong) < 0) {
		if (wrong.kind == ERR_INVALID)
			return passkey_refuse(req, res, &wrong, err);
		*err = wrong;
		return -1;
	}
	sign_in_address_succeeded(req);
	cookie_set(req, res, NULL);
	return local_complete(req, res,
		&(struct sign_in){.user = &user.user,
			.username = user.username,
			.method = "passkey",
			.return_path = page_sent(req, "return")},
		err);
}
