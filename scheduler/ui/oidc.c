/* SPDX-License-Identifier: MPL-2.0 */
#include <string.h>

#include "common/clock.h"
#include "common/http/http_clients.h"
#include "common/log.h"
#include "scheduler/api/api.h"
#include "scheduler/api/request_audit.h"
#include "scheduler/auth/buckets.h"
#include "scheduler/auth/identity/attempts.h"
#include "scheduler/auth/identity/identities.h"
#include "scheduler/auth/identity/identities.sql.h"
#include "scheduler/auth/identity/oidc.h"
#include "scheduler/auth/sessions.h"
#include "scheduler/auth/sessions.sql.h"
#include "scheduler/http/audit_note.h"
#include "scheduler/ui/page.h"
#include "scheduler/ui/return_path.h"
#include "scheduler/ui/sign_in.h"
#include "scheduler/ui/vcs_pages.h"

/*
 * Sign-in through OIDC providers. The first page redirects to the provider, which redirects to the callback. The
 * purpose of an attempt says what its proof is for: to sign in, to link the account to a signed-in user, to confirm who
 * the user is, or to show site admins what the provider says.
 */

enum { MAX_CODE = 4096, PROOF_SECONDS = 300 };

#define PROVIDERS_PATH "/app/admin/oidc"

static int not_found_show(const struct request *req, struct response *res)
{
	return page_say(req, res, 404, "Not found", "There is no such identity provider, or it is switched off.");
}

/* Returns 1 with the provider in the path; else 0 with an answer, or -1. */
static int provider_find(struct request *req, struct response *res, bool even_disabled,
	struct oidc_provider *ret_provider, struct err *err)
{
	if (oidc_provider_read(req->store, param(req, "provider"), ret_provider, err) < 0) {
		if (err->kind != ERR_NOT_FOUND)
			return -1;
		not_found_show(req, res);
		return 0;
	}
	if (ret_provider->is_enabled || even_disabled)
		return 1;
	not_found_show(req, res);
	return 0;
}

/* ---- the first page ---- */

/* Each attempt is a row, which anybody can make. */
static bool attempt_allowed(const struct request *req)
{
	char address[HTTP_ADDRESS_SIZE];

	http_address_key(req->audit->address, address);
	return bucket_take(req->services->buckets, LIMIT_SIGN_IN_BEGIN, address, (double)clock_mono_ms() / 1000).taken;
}

static int attempt_start(struct request *req, struct response *res, const struct oidc_provider *provider,
	struct sign_in_attempt_order *order, struct err *err)
{
	_cleanup_(sign_in_attempt_release) struct sign_in_attempt attempt = SIGN_IN_ATTEMPT_INIT;
	_cleanup_(oidc_request_release) struct oidc_request request = oidc_request_new();
	_cleanup_(crypto_secret_freep) char *secrets = oidc_request_text(&request);
	_cleanup_(freep) char *header = NULL;
	_cleanup_(freep) char *url = NULL;

	if (!attempt_allowed(req))
		return page_say(req, res, 429, "Sign-in is not possible now",
			"Too many sign-ins began at your address. Try again in a minute.");
	order->provider_id = provider->id.text;
	order->secrets = secrets;
	if (sign_in_attempt_begin(req->store, order, http_cookie(req->http, ATTEMPT_COOKIE), &attempt, err) < 0)
		return -1;
	if (oidc_sign_in_url(req->store, provider, &request, attempt.state, text_equal(order->purpose, "confirm"), &url,
		    err) < 0)
		return err->kind == ERR_UNAVAILABLE || err->kind == ERR_FORBIDDEN
			? page_say(req, res, 503, "Sign-in is not possible now", err->message)
			: -1;
	header = sign_in_attempt_set_cookie(req->store, attempt.cookie);
	http_add_header(res->http, "Set-Cookie", header);
	return vcs_page_redirect(req, res, url);
}

static int question_show(const struct request *req, struct response *res, const struct oidc_provider *provider,
	const char *purpose, const char *path)
{
	bool links = text_equal(purpose, "link");
	struct page_buf page;

	page_begin(&page, req, links ? "Link an identity provider" : "Continue at the identity provider");
	if (links) {
		page_html(&page, "<p>The account that you have at <strong>");
		page_text(&page, provider->name);
		page_html(&page, "</strong> will be able to sign in here as <strong>");
		page_text(&page, req->actor.username);
		page_html(&page, "</strong>.</p>\n");
	}
	vcs_page_answer(&page, req, path, provider->name);
	return page_send(&page, res, 200);
}

/* The purposes of a signed-in user. Another site must not begin them. */
static int signed_in_start(struct request *req, struct response *res, const struct oidc_provider *provider,
	struct sign_in_attempt_order *order, struct err *err)
{
	_cleanup_(freep) char *path = mem_printf("/oidc/%s/sign-in?purpose=%s", provider->id.text, order->purpose);
	int allowed = page_need_user(req, res, path, err);

	if (allowed > 0)
		allowed = page_user_self(req, res);
	if (allowed <= 0)
		return allowed;
	if (text_equal(order->purpose, "test") && !req->actor.is_site_admin)
		return not_found_show(req, res);
	if (vcs_page_asks(req, path))
		return question_show(req, res, provider, order->purpose, path);
	order->user_id = req->actor.user.text;
	return attempt_start(req, res, provider, order, err);
}

int oidc_sign_in(struct request *req, struct response *res, struct err *err)
{
	static const char *const signed_in[] = {"link", "test", "confirm"};
	_cleanup_(oidc_provider_release) struct oidc_provider provider = OIDC_PROVIDER_INIT;
	struct sign_in_attempt_order order = {.purpose = "sign_in", .return_path = return_path(query(req, "return"))};
	const char *purpose = text_or_empty(query(req, "purpose"));
	int found = provider_find(req, res, text_equal(purpose, "test"), &provider, err);

	if (found <= 0)
		return found;
	for (size_t i = 0; i < ARRAY_LEN(signed_in); i++)
		if (text_equal(purpose, signed_in[i])) {
			order.purpose = signed_in[i];
			return signed_in_start(req, res, &provider, &order, err);
		}
	return attempt_start(req, res, &provider, &order, err);
}

/* The person's browser goes to the provider's own page, which asks them or not. */
int oidc_sign_out(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(oidc_provider_release) struct oidc_provider provider = OIDC_PROVIDER_INIT;
	_cleanup_(freep) char *url = NULL;
	int found = provider_find(req, res, true, &provider, err);

	if (found <= 0)
		return found;
	url = oidc_end_session_url(req->store, &provider);
	return url ? vcs_page_redirect(req, res, url)
		   : page_say(req, res, 200, "Signed out here only", "The provider has no address for signing out.");
}

/* ---- what the proof is for ---- */

/* A sign-in that the provider has answered. */
struct answered {
	const struct oidc_provider *provider;
	const struct sign_in_attempt *attempt;
	const struct oidc_result *result;
};

static int do_sign_in(struct request *req, struct response *res, const struct answered *a, struct err *err)
{
	struct identity_account account;

	if (request_audit_begin(req, err) < 0)
		return -1;
	if (identity_sign_in(req->store, &a->result->person, &account, err) < 0)
		return -1;
	if (a->result->groups_why)
		log_warn("an identity provider did not say the groups of a person, whose teams stay", "provider",
			a->provider->name, "user", account.username, "error", a->result->groups_why, NULL);
	return sign_in_complete(req, res,
		&(struct sign_in){.user = &account.user,
			.username = account.username,
			.method = "oidc",
			.provider_id = a->provider->id.text,
			.provider_session = a->result->session,
			.return_path = a->attempt->return_path},
		err);
}

static int do_link(struct request *req, struct response *res, const struct answered *a, struct err *err)
{
	const struct audit_action action = {"link", "identity", a->provider->id.text};

	if (request_audit_begin(req, err) < 0 ||
		identity_link(req->store, &a->result->person, req->actor.user.text, err) < 0 ||
		request_audit_detailed(req, &action, json_pack("{ss}", "issuer", a->provider->issuer), err) < 0)
		return -1;
	return page_redirect(res, IDENTITIES_PATH);
}

static bool is_own_identity(const struct rows *identities, const struct external_person *person)
{
	for (int i = 0; i < identities->count; i++) {
		const struct identity_row *row = row_of(identity, identities, i);

		if (text_equal(row->issuer, person->issuer) && text_equal(row->subject, person->subject))
			return true;
	}
	return false;
}

static int do_confirm(struct request *req, struct response *res, const struct answered *a, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (identities_of_user(req->store, req->actor.user.text, &rows, err) < 0)
		return -1;
	if (!is_own_identity(&rows, &a->result->person))
		return err_set(
			err, ERR_FORBIDDEN, "You confirmed another account than the one that is signed in here.");
	if (json_int_at(a->result->claims, "auth_time", 0) < clock_wall_us() / 1000000 - PROOF_SECONDS)
		return err_set(err, ERR_FORBIDDEN, "The identity provider did not ask you again who you are.");
	if (request_audit_begin(req, err) < 0 ||
		session_confirm(req->store, http_cookie(req->http, SESSION_COOKIE), err) < 0 ||
		request_audit_write(req, "confirm", "session", req->actor.user.text, err) < 0)
		return -1;
	return page_redirect(res, return_path(a->attempt->return_path));
}

static void claims_show(struct page_buf *page, const json_t *claims)
{
	const char *name;
	json_t *value;

	page_html(page, "<table class=\"rows\"><tbody>\n");
	json_object_foreach((json_t *)claims, name, value)
	{
		_cleanup_(freep) char *text =
			json_is_string(value) ? mem_text(json_string_value(value)) : json_text(value);

		page_fact(page, name, text);
	}
	page_html(page, "</tbody></table>\n");
}

/* Nothing is stored: the page shows what a sign-in would use. */
static int do_test(struct request *req, struct response *res, const struct answered *a, struct err *err)
{
	const struct external_person *person = &a->result->person;
	_cleanup_(freep) char *groups =
		person->groups ? json_text(person->groups) : mem_text("not said: teams stay as they are");
	struct page_buf page;

	(void)err;
	page_begin_below(&page, req, "The connection works", &(struct page_up){PROVIDERS_PATH, "OpenID providers"});
	page_html(&page, "<h2>What a sign-in would use</h2>\n<table class=\"rows\"><tbody>\n");
	page_fact(&page, "Account", person->subject);
	page_fact(&page, "User name", text_or_empty(person->username));
	page_fact(&page, "E-mail address", text_or_empty(person->email));
	page_fact(&page, "Address is confirmed", person->email_verified ? "yes" : "no");
	page_fact(&page, "Groups", groups);
	if (person->site_admin >= 0)
		page_fact(&page, "Site admin", person->site_admin ? "yes" : "no");
	page_html(&page, "</tbody></table>\n");
	if (a->result->groups_why)
		page_note(&page, "alert", a->result->groups_why);
	page_html(&page, "<h2>Claims</h2>\n");
	claims_show(&page, a->result->claims);
	return page_send(&page, res, 200);
}

static const struct purpose {
	const char *name;
	int (*act)(struct request *req, struct response *res, const struct answered *a, struct err *err);
	/* Of a signed-in user's purpose: the title of the page of a refusal, and the page from which it began. */
	const char *refused;
	struct page_up from;
} purposes[] = {
	{"sign_in", do_sign_in, NULL, {NULL, NULL}},
	{"link", do_link, "The account is not linked", {IDENTITIES_PATH, "Identity providers"}},
	{"confirm", do_confirm, "You are not confirmed", {APP_PATH, "Organizations"}},
	{"test", do_test, "The connection does not work", {PROVIDERS_PATH, "OpenID providers"}},
};

static const struct purpose *purpose_of(const struct sign_in_attempt *attempt)
{
	for (size_t i = 1; i < ARRAY_LEN(purposes); i++)
		if (text_equal(purposes[i].name, attempt->purpose))
			return &purposes[i];
	return purposes;
}

/* The user who began the attempt must still be signed in. */
static int purpose_act(struct request *req, struct response *res, const struct answered *a, struct err *err)
{
	const struct purpose *purpose = purpose_of(a->attempt);

	if (purpose->refused) {
		int signed_in = page_user(req, err);

		if (signed_in < 0)
			return -1;
		if (!signed_in || !text_equal(req->actor.user.text, a->attempt->user_id.text))
			return err_set(
				err, ERR_FORBIDDEN, "You are not signed in any more as the user who began this.");
	}
	return purpose->act(req, res, a, err);
}

/* ---- refusals ---- */

static int refusal_page(struct request *req, struct response *res, const struct sign_in_refusal *refusal,
	const struct purpose *purpose, struct err *err)
{
	struct page_buf page;

	if (req->actor.kind != ACTOR_USER && page_user(req, err) < 0)
		return -1;
	page_begin_below(&page, req, purpose->refused, &purpose->from);
	page_note(&page, "alert", refusal->sentence);
	return page_send(&page, res, refusal->status);
}

/* Anybody can send an answer to no attempt: it is no event. Neither is a test, which proves nothing. */
static int refuse(struct request *req, struct response *res, const struct err *why,
	const struct sign_in_attempt *attempt, struct err *err)
{
	const struct purpose *purpose = purpose_of(attempt);
	const struct audit_action action = {"sign_in_failed", "session", NULL};
	const struct sign_in_refusal refusal = {.status = why->kind == ERR_UNAVAILABLE ? 503 : 403,
		.method = "oidc",
		.sentence = why->message,
		.return_path = attempt->return_path};

	*err = (struct err)ERR_INIT;
	if (!attempt->return_path)
		return sign_in_show(req, res, &refusal, err);
	if (!purpose->refused)
		return sign_in_refuse(req, res, &refusal, err);
	if (purpose->act != do_test &&
		request_audit_detailed(req, &action,
			json_pack("{ss ss ss}", "method", "oidc", "purpose", purpose->name, "reason", why->message),
			err) < 0)
		return -1;
	return refusal_page(req, res, &refusal, purpose, err);
}

/* ---- the callback ---- */

/* The provider's own words are not shown: another site could have made the address. */
static int answer_check(const struct request *req, const struct oidc_provider *provider, struct err *err)
{
	const char *code = text_or_empty(query(req, "code")), *issuer = query(req, "iss");

	if (issuer && !text_equal(issuer, provider->issuer))
		return err_set(err, ERR_FORBIDDEN, "The answer came from another identity provider.");
	if (text_equal(query(req, "error"), "access_denied"))
		return err_set(err, ERR_FORBIDDEN, "The identity provider denied the sign-in.");
	if (!*code || strlen(code) > MAX_CODE)
		return err_set(err, ERR_FORBIDDEN,
			"The identity provider did not complete the sign-in. A site administrator can check its "
			"settings.");
	return 0;
}

static int answer_act(struct request *req, struct response *res, const struct oidc_provider *provider,
	const struct sign_in_attempt *attempt, struct err *err)
{
	_cleanup_(oidc_request_release) struct oidc_request request = {.nonce = NULL};
	_cleanup_(oidc_result_release) struct oidc_result result = {.claims = NULL};

	if (oidc_request_parse(attempt->secrets, &request, err) < 0 || answer_check(req, provider, err) < 0 ||
		oidc_exchange(req->store, provider, &request, query(req, "code"), &result, err) < 0)
		return -1;
	return purpose_act(req, res, &(struct answered){provider, attempt, &result}, err);
}

static bool is_for_person(const struct err *err)
{
	return err->kind == ERR_FORBIDDEN || err->kind == ERR_INVALID || err->kind == ERR_UNAVAILABLE;
}

int oidc_callback(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(oidc_provider_release) struct oidc_provider provider = OIDC_PROVIDER_INIT;
	_cleanup_(sign_in_attempt_release) struct sign_in_attempt attempt = SIGN_IN_ATTEMPT_INIT;
	int found = provider_find(req, res, true, &provider, err);
	struct err why;

	if (found <= 0)
		return found;
	if (sign_in_attempt_redeem(req->store, text_or_empty(query(req, "state")),
		    http_cookie(req->http, ATTEMPT_COOKIE), provider.id.text, &attempt, err) == 0 &&
		answer_act(req, res, &provider, &attempt, err) == 0)
		return 0;
	if (!is_for_person(err))
		return -1;
	if (db_in_transaction(req->store->db))
		db_end(req->store->db, -1, err);
	why = *err;
	return refuse(req, res, &why, &attempt, err);
}

/* ---- back-channel logout ---- */

static int logout_refuse(struct response *res, const struct oidc_provider *provider, const struct err *err)
{
	log_warn(
		"a logout by an identity provider is refused", "provider", provider->name, "error", err->message, NULL);
	return respond_json(
		res, 400, json_pack("{ss ss}", "error", "invalid_request", "error_description", err->message));
}

static int sessions_end(
	struct request *req, const struct oidc_provider *provider, const struct oidc_logout *logout, struct err *err)
{
	_cleanup_(rows_release) struct rows users = ROWS_INIT;
	const struct session_end end = {.provider_id = provider->id.text,
		.provider_session = logout->session,
		.issuer = provider->issuer,
		.subject = logout->subject};

	if (sessions_end_of_provider(req->store, &end, &users, err) < 0)
		return -1;
	for (int i = 0; i < users.count; i++) {
		const struct audit_action action = {
			"sign_out", "session", row_of(sessions_end_of_provider, &users, i)->user_id};
		json_t *details = json_pack("{ss ss}", "method", "oidc", "provider", provider->id.text);

		if (request_audit_detailed(req, &action, details, err) < 0)
			return -1;
	}
	return 0;
}

int oidc_logout(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(oidc_provider_release) struct oidc_provider provider = OIDC_PROVIDER_INIT;
	_cleanup_(oidc_logout_release) struct oidc_logout logout = {.subject = NULL};

	if (oidc_provider_read(req->store, param(req, "provider"), &provider, err) < 0)
		return -1;
	if (oidc_logout_check(req->store, &provider, page_sent(req, "logout_token"), &logout, err) < 0)
		return err->kind == ERR_FORBIDDEN || err->kind == ERR_NOT_FOUND ? logout_refuse(res, &provider, err)
										: -1;
	if (request_audit_begin(req, err) < 0 || sessions_end(req, &provider, &logout, err) < 0)
		return -1;
	return respond_empty(res, 200);
}
