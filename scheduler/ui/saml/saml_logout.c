/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/ui/saml/saml_logout.h"

#include "scheduler/auth/saml/logout.h"
#include "scheduler/auth/sessions.h"
#include "scheduler/ui/page.h"
#include "scheduler/ui/vcs_pages.h"

/* Single logout of SAML: begun here, or by a message of the provider. */

int saml_logout_redirect(const struct request *req, struct response *res)
{
	char proof[SHA256_HEX_SIZE];
	_cleanup_(freep) char *path = NULL;

	vcs_page_proof(req, SAML_LOGOUT_PATH, proof);
	path = mem_printf(SAML_LOGOUT_PATH "?answer=%s", proof);
	return page_redirect(res, path);
}

/* ---- begun here ---- */

/* The form of the sign-out led here. Browsers apply its policy, which names this server alone, to redirects that follow
 * it. So a page comes between, which leads to the provider by itself. */
static int onward_show(const struct request *req, struct response *res, const char *url)
{
	_cleanup_(freep) char *refresh = mem_printf("0; url=%s", url);
	struct page_buf page;

	page_begin(&page, req, "Sign out");
	page_note(&page, "status", "You are signed out here.");
	page_html(&page, "<p><a href=\"");
	page_text(&page, url);
	page_html(&page, "\">Sign out at the identity provider</a></p>\n");
	http_add_header(res->http, "Refresh", refresh);
	return page_send(&page, res, 200);
}

static int logout_begin(struct request *req, struct response *res, const struct saml_site *site, struct err *err)
{
	const char *cookie = http_cookie(req->http, SESSION_COOKIE);
	_cleanup_(freep) char *url = NULL;
	struct err why = ERR_INIT;
	int allowed = page_user(req, err);

	if (allowed < 0)
		return -1;
	if (!allowed || vcs_page_asks(req, SAML_LOGOUT_PATH))
		return page_redirect(res, SIGN_IN_PATH);
	/* The session ends here, whether or not the provider can be told. */
	if (saml_logout_begin(site, cookie, &url, &why) < 0)
		url = NULL;
	if (page_session_end(req, res, err) < 0)
		return -1;
	return url ? onward_show(req, res, url) : page_redirect(res, SIGN_IN_PATH);
}

/* ---- messages of the provider ---- */

static int message_take(struct request *req, struct response *res, const struct saml_site *site,
	const struct saml_logout_message *message, struct err *err)
{
	_cleanup_(freep) char *url = NULL;
	struct err why = ERR_INIT;

	if (saml_logout_take(site, message, &url, &why) < 0) {
		if (why.kind == ERR_INTERNAL) {
			*err = why;
			return -1;
		}
		return page_say(req, res, err_http_status(why.kind == ERR_INVALID ? ERR_FORBIDDEN : why.kind),
			"Not signed out", why.message);
	}
	if (!url)
		return page_redirect(res, SIGN_IN_PATH);
	return page_redirect_far(res, url);
}

int saml_logout_page(struct request *req, struct response *res, struct err *err)
{
	const struct saml_logout_message message = {.query = req->http->raw_query, .state = query(req, "RelayState")};
	_cleanup_(saml_provider_release) struct saml_provider provider = SAML_PROVIDER_INIT;
	struct saml_site site = {req->store, req->services->saml, &provider};

	if (saml_provider_read(req->store, &provider, err) < 0)
		return -1;
	return query(req, "SAMLRequest") || query(req, "SAMLResponse") ? message_take(req, res, &site, &message, err)
								       : logout_begin(req, res, &site, err);
}

int saml_logout_message(struct request *req, struct response *res, struct err *err)
{
	const char *request = page_sent(req, "SAMLRequest"), *response = page_sent(req, "SAMLResponse");
	const struct saml_logout_message message = {
		.message = *request ? request : response, .state = page_sent(req, "RelayState")};
	_cleanup_(saml_provider_release) struct saml_provider provider = SAML_PROVIDER_INIT;
	struct saml_site site = {req->store, req->services->saml, &provider};

	if (!*message.message)
		return page_say(req, res, 400, "Sign out", "This address takes the messages of an identity provider.");
	if (saml_provider_read(req->store, &provider, err) < 0)
		return -1;
	return message_take(req, res, &site, &message, err);
}
