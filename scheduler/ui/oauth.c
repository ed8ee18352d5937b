/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/api.h"

#include <string.h>

#include "scheduler/api/request_audit.h"
#include "scheduler/auth/oauth.h"
#include "scheduler/auth/oauth.sql.h"
#include "scheduler/auth/sessions.h"
#include "scheduler/auth/tokens.h"
#include "scheduler/ui/page.h"

#define DESCRIPTION "terraform login"

enum { MAX_STATE = 200, CHALLENGE_SIZE = 43 };

/* ---- the consent page ---- */

struct authorization {
	const char *client, *type, *challenge, *method, *redirect, *state;
};

/* Parameters of the page's query, which are also the fields of its form. */
static const struct {
	const char *name;
	size_t offset;
} parts[] = {
	{"client_id", offsetof(struct authorization, client)},
	{"response_type", offsetof(struct authorization, type)},
	{"code_challenge", offsetof(struct authorization, challenge)},
	{"code_challenge_method", offsetof(struct authorization, method)},
	{"redirect_uri", offsetof(struct authorization, redirect)},
	{"state", offsetof(struct authorization, state)},
};

static const char **authorization_part(struct authorization *authorization, size_t i)
{
	return (const char **)(void *)((char *)authorization + parts[i].offset);
}

/* Allows only the CLI's listener on the machine of the browser. */
static bool redirect_allowed(const char *uri)
{
	static const char host[] = "http://localhost:";
	const char *port, *path;
	char digits[8];
	long long number;

	if (!text_starts(uri, host))
		return false;
	port = uri + strlen(host);
	path = strchrnul(port, '/');
	if (!text_equal(path, "/login") || (size_t)(path - port) >= sizeof(digits))
		return false;
	text_copy(digits, (size_t)(path - port) + 1, port);
	return text_number(digits, OAUTH_PORT_LOW, OAUTH_PORT_HIGH, &number) == 0;
}

static bool base64url_only(const char *text)
{
	return !text[strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")];
}

/* The reason why the request is invalid, or NULL. An invalid request gets an error page, and no redirect. */
static const char *authorization_check(const struct authorization *authorization)
{
	if (!text_equal(authorization->client, OAUTH_CLIENT))
		return "The client is not known here.";
	if (!redirect_allowed(authorization->redirect))
		return "The address to go back to is not allowed.";
	if (!text_equal(authorization->type, "code") || !text_equal(authorization->method, "S256") ||
		strlen(authorization->challenge) != CHALLENGE_SIZE || !base64url_only(authorization->challenge))
		return "A code with a challenge of the method S256 is needed.";
	return strlen(authorization->state) > MAX_STATE ? "The state is too long." : NULL;
}

static void authorization_of_query(const struct request *req, struct authorization *ret_authorization)
{
	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		*authorization_part(ret_authorization, i) = text_or_empty(query(req, parts[i].name));
}

static void authorization_of_form(const struct request *req, struct authorization *ret_authorization)
{
	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		*authorization_part(ret_authorization, i) = page_sent(req, parts[i].name);
}

/* The address of this page, to which the sign-in page returns. The caller frees it. */
static char *authorization_address(struct authorization *authorization)
{
	struct buf address = BUF_INIT(4096);

	buf_text(&address, OAUTH_AUTHORIZE_PATH);
	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		buf_printf(&address, "%s%s=", i ? "&" : "?", parts[i].name);
		buf_url(&address, *authorization_part(authorization, i));
	}
	return buf_take(&address);
}

static int authorization_show(const struct request *req, struct response *res, struct authorization *authorization)
{
	struct page_buf page;

	page_begin(&page, req, "Authorize terraform");
	page_html(&page,
		"<p><code>terraform login</code> asks for a token with which the terraform on this computer "
		"may do all that <strong>");
	page_text(&page, req->actor.username);
	page_html(&page,
		"</strong> may do here.</p>\n<p>Approve it only if you have started "
		"<code>terraform login</code> yourself just now. Tokens can be revoked in "
		"<a href=\"" TOKENS_PATH "\">your settings</a>.</p>\n"
		"<form method=\"post\" action=\"" OAUTH_AUTHORIZE_PATH "\">\n");
	page_csrf(&page, req);
	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		page_field(&page, parts[i].name, *authorization_part(authorization, i));
	page_html(&page,
		"<button name=\"answer\" value=\"approve\" class=\"primary\">Approve</button>\n"
		"<button name=\"answer\" value=\"deny\" class=\"plain\">Deny</button>\n</form>\n");
	return page_send_oauth(&page, res);
}

int oauth_page(struct request *req, struct response *res, struct err *err)
{
	struct authorization authorization;
	_cleanup_(freep) char *back = NULL;
	int allowed;

	authorization_of_query(req, &authorization);
	if (authorization_check(&authorization))
		return page_say(req, res, 400, "This can't be authorized", authorization_check(&authorization));
	back = authorization_address(&authorization);
	allowed = page_need_user(req, res, back, err);
	return allowed > 0 ? authorization_show(req, res, &authorization) : allowed;
}

/* ---- approving ---- */

static int redirect_back(
	struct response *res, const struct authorization *authorization, const char *name, const char *value)
{
	struct buf location = BUF_INIT(sizeof(res->http->location) - 1);
	int result;

	buf_printf(&location, "%s?%s=%s&state=", authorization->redirect, name, value);
	buf_url(&location, authorization->state);
	result = page_redirect(res, buf_str(&location));
	buf_release(&location);
	return result;
}

int oauth_approve(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(freep) char *code = NULL;
	struct oauth_consent consent;
	struct authorization authorization;
	int allowed = page_need_user(req, res, TOKENS_PATH, err);

	if (allowed <= 0)
		return allowed;
	authorization_of_form(req, &authorization);
	if (!page_form_ours(req))
		return page_say(req, res, 403, "Not from here", "The form was sent from another site.");
	if (page_user_self(req, res) == 0)
		return 0;
	if (authorization_check(&authorization))
		return page_say(req, res, 400, "This can't be authorized", authorization_check(&authorization));
	if (!text_equal(page_sent(req, "answer"), "approve"))
		return redirect_back(res, &authorization, "error", "access_denied");
	consent = (struct oauth_consent){req->actor.user.text, authorization.challenge, authorization.redirect,
		text_or_null(req->actor.provider.text)};
	if (oauth_code_create(req->store, &consent, &code, err) < 0)
		return -1;
	return redirect_back(res, &authorization, "code", code);
}

/* ---- exchange of the code ---- */

static int refuse(struct response *res, const char *error, const char *why)
{
	return respond_json(res, 400, json_pack("{ss ss}", "error", error, "error_description", why));
}

/* Returns 1 if the code is valid, with its user in req->actor, else 0. */
static int code_redeem(struct request *req, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct oauth_exchange exchange = {
		page_sent(req, "code"), page_sent(req, "code_verifier"), page_sent(req, "redirect_uri")};
	const struct oauth_code_redeem_row *user;

	if (oauth_code_redeem(req->store, &exchange, &rows, err) < 0)
		return -1;
	if (!rows.count)
		return 0;
	req->actor.kind = ACTOR_USER;
	user = row_of(oauth_code_redeem, &rows, 0);
	text_copy(req->actor.user.text, sizeof(req->actor.user.text), user->user_id);
	text_copy(req->actor.username, sizeof(req->actor.username), user->username);
	text_copy(req->actor.provider.text, sizeof(req->actor.provider.text), text_or_empty(user->provider_id));
	return 1;
}

static int token_answer(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(freep) char *token = NULL;
	char expiry[32];
	struct token_order order = {.user_id = req->actor.user.text,
		.created_by = req->actor.user.text,
		.provider_id = req->actor.provider.text,
		.description = DESCRIPTION,
		.expires_at = expiry};
	struct id id;

	token_expiry_usual(expiry);
	if (token_create(req->store, &order, &token, &id, err) < 0 ||
		request_audit_write(req, "create", "authentication_token", id.text, err) < 0)
		return -1;
	return respond_json(res, 200, json_pack("{ss ss}", "access_token", token, "token_type", "bearer"));
}

int oauth_token(struct request *req, struct response *res, struct err *err)
{
	int redeemed;

	if (!text_equal(page_sent(req, "grant_type"), "authorization_code"))
		return refuse(res, "unsupported_grant_type", "the grant type must be authorization_code");
	if (!text_equal(page_sent(req, "client_id"), OAUTH_CLIENT))
		return refuse(res, "invalid_client", "the client is not known here");
	if (request_audit_begin(req, err) < 0)
		return -1;
	redeemed = code_redeem(req, err);
	if (redeemed < 0)
		return -1;
	if (!redeemed)
		return refuse(res, "invalid_grant", "the code is unknown, used, or older than five minutes");
	return token_answer(req, res, err);
}
