/* SPDX-License-Identifier: MPL-2.0 */
#include <string.h>

#include "scheduler/api/api.h"
#include "scheduler/api/request_audit.h"
#include "scheduler/auth/sessions.h"
#include "scheduler/auth/vcs/app.h"
#include "scheduler/auth/vcs/consents.h"
#include "scheduler/auth/vcs/renewals.h"
#include "scheduler/store/access/organizations.h"
#include "scheduler/store/access/organizations.sql.h"
#include "scheduler/store/vcs/github_app.h"
#include "scheduler/ui/page.h"
#include "scheduler/ui/vcs_pages.h"

/*
 * Connecting an installation of the site's GitHub App to an organization, in three steps:
 *
 *  1. The first page redirects to GitHub, where the user installs the App.
 *  2. GitHub redirects to the setup page with the installation's number. Anyone could write a number there, so the page
 *     redirects to GitHub again, where the user logs in for the App (OAuth with PKCE).
 *  3. GitHub redirects to the callback. If GitHub says that the user owns the account of the installation, the
 *     organization gets it.
 *
 * Each step has a state of its own, which is used once by the session that began it.
 */

enum { MAX_CODE = 2048 };

#define CALLBACK_PATH "/github-app/callback"
#define TITLE         "Connect the GitHub App"

static int failure(const struct request *req, struct response *res, int status, const char *why)
{
	return page_say(req, res, status, "Not connected", why);
}

/* Whether the site has an App that users can connect. */
static bool app_ready(const struct request *req)
{
	return github_app_is_connectable(req->store->settings->github_app);
}

static int not_ready_show(const struct request *req, struct response *res)
{
	return failure(req, res, 422,
		"This site has no GitHub App, or its client id and secret are not set: ask its operators.");
}

static int not_found_show(const struct request *req, struct response *res)
{
	return failure(req, res, 404, "There is no such organization, or you may not manage its VCS providers.");
}

/* Returns 1 if the user may connect providers of the organization; else 0 with an answer, or -1. */
static int organization_check(
	const struct request *req, struct response *res, const char *organization_id, struct err *err)
{
	if (may_with(req, CAN_MANAGE_VCS, (struct place){.organization = organization_id}, "organization", err) == 0)
		return 1;
	return err->kind == ERR_NOT_FOUND ? not_found_show(req, res) : -1;
}

/* ---- the first page ---- */

static int question_show(const struct request *req, struct response *res, const char *organization, const char *path)
{
	struct page_buf page;

	page_begin(&page, req, TITLE);
	page_html(&page, "<p>The organization <strong>");
	page_text(&page, organization);
	page_html(&page, "</strong> will work with the repositories that you choose at GitHub.</p>\n");
	vcs_page_answer(&page, req, path, "GitHub");
	return page_send(&page, res, 200);
}

static struct consent_order order_of(const struct request *req, const char *organization_id)
{
	return (struct consent_order){
		.cookie = text_or_empty(http_cookie(req->http, SESSION_COOKIE)), .organization_id = organization_id};
}

static int install_ask(struct request *req, struct response *res, const char *organization_id, struct err *err)
{
	const struct consent_order order = order_of(req, organization_id);
	_cleanup_(consent_release) struct consent consent = CONSENT_INIT;
	_cleanup_(freep) char *url = NULL;
	char why[APP_WHY_SIZE];

	if (consent_begin(req->store, &order, &consent, err) < 0)
		return -1;
	url = app_install_url(req->store, consent.state, why);
	return url ? vcs_page_redirect(req, res, url) : failure(req, res, 502, why);
}

int github_app_page(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(freep) char *path = mem_printf("/github-app/connect/%s", param(req, "organization"));
	const struct organization_row *organization;
	int found;

	if (!app_ready(req))
		return not_ready_show(req, res);
	found = vcs_page_need_user(req, res, path, err);
	if (found <= 0)
		return found;
	if (organization_read(req->store, param(req, "organization"), &rows, err) < 0)
		return err->kind == ERR_NOT_FOUND ? not_found_show(req, res) : -1;
	organization = row_of(organization, &rows, 0);
	found = organization_check(req, res, organization->id, err);
	if (found <= 0)
		return found;
	if (vcs_page_asks(req, path))
		return question_show(req, res, organization->name, path);
	return install_ask(req, res, organization->id, err);
}

/* ---- after the installation, and after the login ---- */

/* Returns 1 with the consent of the request's state, whose organization the user may still connect; else 0 with an
 * answer, or -1. */
static int consent_find(struct request *req, struct response *res, struct consent *ret_consent, struct err *err)
{
	const struct consent_order order = order_of(req, NULL);
	int found;

	if (!app_ready(req))
		return not_ready_show(req, res);
	found = page_user(req, err);
	if (found == 0)
		return failure(req, res, 400, "Sign in first, in this browser, and begin again.");
	if (found < 0)
		return -1;
	if (consent_redeem(req->store, &order, text_or_empty(query(req, "state")), ret_consent, err) < 0)
		return err->kind == ERR_FORBIDDEN ? failure(req, res, 422, err->message) : -1;
	return organization_check(req, res, ret_consent->organization_id.text, err);
}

static int login_ask(
	struct request *req, struct response *res, const struct consent *installed, long long number, struct err *err)
{
	struct consent_order order = order_of(req, installed->organization_id.text);
	_cleanup_(consent_release) struct consent consent = CONSENT_INIT;
	_cleanup_(oauth_connection_release) struct oauth_connection login = OAUTH_CONNECTION_INIT;
	_cleanup_(freep) char *redirect = mem_printf("%s" CALLBACK_PATH, req->store->settings->public_url);
	_cleanup_(freep) char *challenge = NULL;
	_cleanup_(freep) char *url = NULL;

	order.installation = number;
	if (consent_begin(req->store, &order, &consent, err) < 0)
		return -1;
	app_login(req->store, redirect, &login);
	challenge = crypto_challenge(consent.verifier);
	url = oauth_consent_url(&login.application, consent.state, challenge);
	return vcs_page_redirect(req, res, url);
}

int github_app_setup(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(consent_release) struct consent consent = CONSENT_INIT;
	const char *number_text = text_or_empty(query(req, "installation_id"));
	long long number;
	int found = consent_find(req, res, &consent, err);

	if (found <= 0)
		return found;
	if (text_equal(query(req, "setup_action"), "request"))
		return failure(req, res, 422,
			"An owner of the account must approve the installation at GitHub, and connect it then.");
	if (consent.installation || text_number(number_text, 1, INT64_MAX, &number) < 0)
		return failure(req, res, 422, "GitHub did not say which installation it made. Begin again.");
	return login_ask(req, res, &consent, number, err);
}

/* ---- the installation ---- */

static int installation_save(struct request *req, struct response *res, const struct consent *consent,
	const struct installation *installation, struct err *err)
{
	_cleanup_(freep) char *outcome = NULL;
	struct id id;

	if (request_audit_begin(req, err) < 0)
		return -1;
	if (installation_connect(req->store, consent->organization_id.text, installation, &id, err) < 0)
		return err->kind == ERR_CONFLICT ? failure(req, res, 409, err->message) : -1;
	if (renewal_plan_installation(req->store, id.text, 0, err) < 0 ||
		request_audit_write(req, "connect", "github_app_installation", id.text, err) < 0)
		return -1;
	outcome = mem_printf("connected=%s", id.text);
	return vcs_page_settings(res, consent->organization_name, outcome);
}

/* Whether GitHub says that the user owns the installation. Returns 1, or 0 with an answer. */
static int owner_check(const struct request *req, struct response *res, const struct oauth_result *login,
	long long number, struct app_installation *ret_installation)
{
	char why[APP_WHY_SIZE];
	enum app_outcome outcome = app_installation_ask(req->store, number, ret_installation, why);

	if (outcome != APP_DONE)
		failure(req, res, outcome == APP_GONE ? 404 : 502,
			outcome == APP_GONE ? "There is no such installation of the App." : why);
	else if (!app_user_owns(req->store, ret_installation, login->tokens.access, why))
		failure(req, res, 404, why);
	else
		return 1;
	return 0;
}

static int code_exchange(struct request *req, struct response *res, const struct consent *consent, struct err *err)
{
	_cleanup_(freep) char *redirect = mem_printf("%s" CALLBACK_PATH, req->store->settings->public_url);
	_cleanup_(oauth_connection_release) struct oauth_connection login = OAUTH_CONNECTION_INIT;
	_cleanup_(oauth_result_release) struct oauth_result result = {.user = NULL};
	_cleanup_(app_installation_release) struct app_installation installation = {.account = NULL};

	app_login(req->store, redirect, &login);
	oauth_exchange(req->store, &login, query(req, "code"), consent->verifier, &result);
	if (result.outcome != OAUTH_DONE)
		return failure(req, res, result.outcome == OAUTH_PASSING ? 502 : 422, result.why);
	if (!owner_check(req, res, &result, consent->installation, &installation))
		return 0;
	return installation_save(req, res, consent, &installation.installation, err);
}

int github_app_callback(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(consent_release) struct consent consent = CONSENT_INIT;
	const char *code = text_or_empty(query(req, "code"));
	int found = consent_find(req, res, &consent, err);

	if (found <= 0)
		return found;
	if (!consent.installation || !*code || strlen(code) > MAX_CODE)
		return failure(req, res, 422, "The login at GitHub was denied, or was not for an installation.");
	return code_exchange(req, res, &consent, err);
}
