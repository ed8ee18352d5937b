/* SPDX-License-Identifier: MPL-2.0 */
#include <stdio.h>
#include <string.h>

#include "scheduler/api/api.h"
#include "scheduler/api/request_audit.h"
#include "scheduler/auth/sessions.h"
#include "scheduler/auth/vcs/consents.h"
#include "scheduler/auth/vcs/oauth_connection.h"
#include "scheduler/ui/page.h"
#include "scheduler/ui/vcs_pages.h"

/*
 * OAuth of VCS connections in the browser. The first page redirects to the provider for the user's consent. The
 * provider redirects to the second, which gets the connection's token.
 */

enum { MAX_CODE = 2048 };

/* ---- shared with the pages of the GitHub App ---- */

void vcs_page_proof(const struct request *req, const char *path, char ret_proof[SHA256_HEX_SIZE])
{
	char csrf[SHA256_HEX_SIZE];

	session_csrf(req->store, text_or_empty(http_cookie(req->http, SESSION_COOKIE)), csrf);
	crypto_hmac_hex(csrf, strlen(csrf), path, ret_proof);
}

/* Another site must not begin a consent that the provider may give without a question. Browsers say whether a page of
 * this server led here, but not all of them, and not without TLS. */
bool vcs_page_asks(const struct request *req, const char *path)
{
	char answer[SHA256_HEX_SIZE];

	vcs_page_proof(req, path, answer);
	if (crypto_equal(text_or_empty(query(req, "answer")), answer))
		return false;
	return query(req, "ask") || !text_equal(http_header(req->http, "Sec-Fetch-Site"), "same-origin");
}

void vcs_page_answer(struct page_buf *page, const struct request *req, const char *path, const char *word)
{
	char answer[SHA256_HEX_SIZE];

	vcs_page_proof(req, path, answer);
	page_html(page, "<p><a href=\"");
	page_text(page, path);
	page_html(page, strchr(path, '?') ? "&amp;answer=" : "?answer=");
	page_text(page, answer);
	page_html(page, "\">Continue to ");
	page_text(page, word);
	page_html(page, "</a></p>\n");
}

int vcs_page_redirect(const struct request *req, struct response *res, const char *url)
{
	if (strlen(url) >= sizeof(res->http->location))
		return page_say(req, res, 422, "Not connected", "The address of the provider's page is too long.");
	return page_redirect(res, url);
}

int vcs_page_settings(struct response *res, const char *organization, const char *outcome)
{
	struct buf location = BUF_INIT(sizeof(res->http->location) - 1);
	int result;

	buf_text(&location, "/app/");
	buf_url(&location, organization);
	buf_printf(&location, "/settings/vcs-connections?%s", outcome);
	result = page_redirect(res, buf_str(&location));
	buf_release(&location);
	return result;
}

int vcs_page_need_user(struct request *req, struct response *res, const char *path, struct err *err)
{
	/* Browsers apply the policy of the sign-in form to the redirects that follow it, so a page comes between. */
	_cleanup_(freep) char *back = mem_printf("%s%cask=1", path, strchr(path, '?') ? '&' : '?');

	return page_need_user(req, res, back, err);
}

/* ---- the first page ---- */

static int not_found_show(const struct request *req, struct response *res)
{
	return page_say(req, res, 404, "Not found", "There is no such connection, or you may not change it.");
}

/* Returns 1 with the connection in the path, which the user may change; else 0 with an answer, or -1. */
static int connection_find(
	struct request *req, struct response *res, struct oauth_connection *ret_connection, struct err *err)
{
	if (oauth_connection_read(req->store, param(req, "callback"), ret_connection, err) == 0 &&
		may_with(req, CAN_MANAGE_VCS, (struct place){.organization = ret_connection->organization.text},
			"OAuth client", err) == 0)
		return 1;
	if (err->kind != ERR_NOT_FOUND)
		return -1;
	not_found_show(req, res);
	return 0;
}

static int question_show(
	const struct request *req, struct response *res, const struct oauth_connection *connection, const char *path)
{
	struct page_buf page;

	page_begin(&page, req, "Connect to a VCS provider");
	page_html(&page, "<p>The organization <strong>");
	page_text(&page, connection->organization_name);
	page_html(&page, "</strong> will work with the repositories that your account at <strong>");
	page_text(&page, connection->provider_name);
	page_html(&page, "</strong> (");
	page_text(&page, connection->http_url);
	page_html(&page, ") has access to.</p>\n");
	vcs_page_answer(&page, req, path, connection->provider_name);
	return page_send(&page, res, 200);
}

static int consent_ask(
	struct request *req, struct response *res, const struct oauth_connection *connection, struct err *err)
{
	const struct consent_order order = {.cookie = http_cookie(req->http, SESSION_COOKIE),
		.organization_id = connection->organization.text,
		.connection_id = connection->id.text};
	_cleanup_(consent_release) struct consent consent = CONSENT_INIT;
	_cleanup_(freep) char *challenge = NULL;
	_cleanup_(freep) char *url = NULL;

	if (consent_begin(req->store, &order, &consent, err) < 0)
		return -1;
	challenge = crypto_challenge(consent.verifier);
	url = oauth_consent_url(&connection->application, consent.state, challenge);
	return vcs_page_redirect(req, res, url);
}

int vcs_connect_page(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(oauth_connection_release) struct oauth_connection connection = OAUTH_CONNECTION_INIT;
	_cleanup_(freep) char *path = mem_printf("/auth/%s", param(req, "callback"));
	int found = vcs_page_need_user(req, res, path, err);

	if (found > 0)
		found = connection_find(req, res, &connection, err);
	if (found <= 0)
		return found;
	if (!oauth_supported(connection.application.provider, connection.api_url))
		return page_say(req, res, 422, "Not connected",
			"Connections to this kind of provider have no OAuth here: set a token instead.");
	if (!*connection.key || !connection.secret)
		return page_say(req, res, 422, "Not connected",
			"The connection has no OAuth application: set its key and its secret first.");
	if (vcs_page_asks(req, path))
		return question_show(req, res, &connection, path);
	return consent_ask(req, res, &connection, err);
}

/* ---- the second page ---- */

static int token_save(struct request *req, struct response *res, const struct oauth_connection *connection,
	const struct oauth_result *result, struct err *err)
{
	_cleanup_(freep) char *outcome = mem_printf("connected=%s", connection->id.text);

	if (request_audit_begin(req, err) < 0 || oauth_store(req->store, connection, result, err) < 0 ||
		request_audit_write(req, "connect", "oauth_client", connection->id.text, err) < 0)
		return -1;
	return vcs_page_settings(res, connection->organization_name, outcome);
}

static int code_exchange(struct request *req, struct response *res, const struct oauth_connection *connection,
	const struct consent *consent, struct err *err)
{
	_cleanup_(oauth_result_release) struct oauth_result result = {.user = NULL};

	oauth_exchange(req->store, connection, query(req, "code"), consent->verifier, &result);
	if (result.outcome != OAUTH_DONE)
		return page_say(req, res, result.outcome == OAUTH_PASSING ? 502 : 422, "Not connected", result.why);
	return token_save(req, res, connection, &result, err);
}

/* The provider's own words are not shown: another site could have made the address. */
static int denial_show(const struct request *req, struct response *res)
{
	return page_say(req, res, 422, "Not connected",
		text_equal(query(req, "error"), "access_denied") ? "The consent was denied at the provider."
								 : "The provider gave no consent. Check the OAuth "
								   "application's key, secret and callback address.");
}

int vcs_connect_callback(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(oauth_connection_release) struct oauth_connection connection = OAUTH_CONNECTION_INIT;
	_cleanup_(consent_release) struct consent consent = CONSENT_INIT;
	const char *code = text_or_empty(query(req, "code"));
	struct consent_order order = {.cookie = text_or_empty(http_cookie(req->http, SESSION_COOKIE))};
	int found = page_user(req, err);

	if (found == 0)
		return page_say(req, res, 400, "Not connected", "Sign in first, in this browser, and begin again.");
	if (found > 0)
		found = connection_find(req, res, &connection, err);
	if (found <= 0)
		return found;
	order.connection_id = connection.id.text;
	if (consent_redeem(req->store, &order, text_or_empty(query(req, "state")), &consent, err) < 0)
		return err->kind == ERR_FORBIDDEN ? page_say(req, res, 422, "Not connected", err->message) : -1;
	if (!*code || strlen(code) > MAX_CODE)
		return denial_show(req, res);
	return code_exchange(req, res, &connection, &consent, err);
}
