/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/auth/vcs/app.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"
#include "scheduler/auth/vcs/provider_request.h"
#include "scheduler/store/vcs/github_app.h"

enum { MAX_LOGIN = 100, MAX_URL = 1000, MAX_TOKEN = 4096, MAX_LIFETIME = 86400 };

static const struct github_app *app_of(const struct store *store)
{
	return store->settings->github_app;
}

/* ---- requests ---- */

struct asking {
	const char *method, *path; /* of the API */
	const char *token;         /* a user's; NULL: the App's own JWT */
};

static void ask(const struct store *store, const struct asking *asking, struct provider_answer *ret_answer)
{
	const struct github_app *app = app_of(store);
	_cleanup_(crypto_secret_freep) char *jwt =
		asking->token ? mem_text(asking->token) : github_app_jwt(app, clock_wall_us() / 1000000);
	_cleanup_(crypto_secret_freep) char *authorization = mem_printf("Authorization: Bearer %s", jwt);
	_cleanup_(freep) char *url = mem_printf("%s%s", app->api_url, asking->path);
	const struct provider_request request = {.method = asking->method,
		.url = url,
		.headers = {authorization, "X-GitHub-Api-Version: 2022-11-28"},
		.body = text_equal(asking->method, "POST") ? "" : NULL};

	provider_request_send(store->settings->vcs_guard, &request, ret_answer);
}

static enum app_outcome outcome_of(const struct provider_answer *answer, char ret_why[APP_WHY_SIZE])
{
	snprintf(ret_why, APP_WHY_SIZE, "GitHub did not answer the App as expected: %.200s.", answer->why);
	if (answer->status == 404)
		return APP_GONE;
	return provider_answer_is_passing(answer) ? APP_PASSING : APP_REFUSED;
}

/* ---- the page of the installation ---- */

char *app_install_url(const struct store *store, const char *state, char ret_why[APP_WHY_SIZE])
{
	_cleanup_(provider_answer_release) struct provider_answer answer = {.body = NULL};
	_cleanup_(freep) char *site = mem_printf("%s/", app_of(store)->url);
	struct buf url = BUF_INIT(MAX_URL);
	const char *page;

	ask(store, &(struct asking){.method = "GET", .path = "/app"}, &answer);
	page = json_string_at(answer.body, "html_url");
	if (answer.status != 200 || !page || !text_starts(page, site) || page[strcspn(page, "?#\r\n\" ")]) {
		outcome_of(&answer, ret_why);
		return NULL;
	}
	buf_printf(&url, "%s/installations/new?state=", page);
	buf_url(&url, state);
	return buf_take(&url);
}

void app_login(const struct store *store, const char *redirect, struct oauth_connection *ret_connection)
{
	const struct github_app *app = app_of(store);
	struct oauth_connection c = {.provider_name = mem_text("GitHub"),
		.http_url = mem_text(app->url),
		.api_url = mem_text(app->api_url),
		.key = mem_text(app->client_id),
		.secret = mem_text(app->client_secret),
		.redirect = mem_text(redirect)};

	c.application = (struct oauth_application){.provider = VCS_PROVIDER_GITHUB_APP,
		.http_url = c.http_url,
		.api_url = c.api_url,
		.id = c.key,
		.secret = c.secret,
		.redirect = c.redirect};
	*ret_connection = c;
}

/* ---- installations ---- */

void app_installation_release(struct app_installation *installation)
{
	free(installation->account);
	free(installation->icon_url);
	free(installation->web_url);
}

/* Accounts have letters, digits and hyphens; those of an Enterprise with managed users an underscore, too. */
static bool login_valid(const char *login)
{
	return login && *login && strlen(login) <= MAX_LOGIN &&
		!login[strspn(login, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")];
}

/* An address that is shown as a link or an image; NULL for any other text. */
static char *link_of(const json_t *answer, const char *path)
{
	const char *url = json_string_at(answer, path);

	if (!url || strlen(url) > MAX_URL || (!text_starts(url, "https://") && !text_starts(url, "http://")))
		return NULL;
	for (const char *at = url; *at; at++)
		if (*at <= ' ' || *at > '~')
			return NULL;
	return mem_text(url);
}

static bool kind_valid(const char *kind)
{
	return text_equal(kind, "Organization") || text_equal(kind, "User");
}

enum app_outcome app_installation_ask(const struct store *store, long long number,
	struct app_installation *ret_installation, char ret_why[APP_WHY_SIZE])
{
	_cleanup_(provider_answer_release) struct provider_answer answer = {.body = NULL};
	_cleanup_(freep) char *path = mem_printf("/app/installations/%lld", number);
	const char *login, *kind;
	struct app_installation found;

	ask(store, &(struct asking){.method = "GET", .path = path}, &answer);
	login = json_string_at(answer.body, "account.login");
	kind = json_string_at(answer.body, "account.type");
	if (answer.status != 200 || !login_valid(login) || !kind_valid(kind) ||
		json_int_at(answer.body, "id", 0) != number)
		return outcome_of(&answer, ret_why);
	found = (struct app_installation){.account = mem_text(login),
		.icon_url = link_of(answer.body, "account.avatar_url"),
		.web_url = link_of(answer.body, "html_url"),
		.account_id = json_int_at(answer.body, "account.id", 0),
		.suspended = json_string_at(answer.body, "suspended_at") != NULL};
	found.installation = (struct installation){.number = number,
		.account = found.account,
		.kind = text_equal(kind, "User") ? "User" : "Organization",
		.icon_url = found.icon_url,
		.web_url = found.web_url};
	*ret_installation = found;
	return APP_DONE;
}

/* ---- the owner of an installation ---- */

static bool user_is(const struct store *store, const struct app_installation *installation, const char *user_token)
{
	_cleanup_(provider_answer_release) struct provider_answer answer = {.body = NULL};

	ask(store, &(struct asking){.method = "GET", .path = "/user", .token = user_token}, &answer);
	return answer.status == 200 && installation->account_id > 0 &&
		json_int_at(answer.body, "id", 0) == installation->account_id;
}

static bool user_administers(
	const struct store *store, const struct app_installation *installation, const char *user_token)
{
	_cleanup_(provider_answer_release) struct provider_answer answer = {.body = NULL};
	_cleanup_(freep) char *path = mem_printf("/user/memberships/orgs/%s", installation->account);

	ask(store, &(struct asking){.method = "GET", .path = path, .token = user_token}, &answer);
	return answer.status == 200 && text_equal(json_string_at(answer.body, "state"), "active") &&
		text_equal(json_string_at(answer.body, "role"), "admin") && installation->account_id > 0 &&
		json_int_at(answer.body, "organization.id", 0) == installation->account_id;
}

bool app_user_owns(const struct store *store, const struct app_installation *installation, const char *user_token,
	char ret_why[APP_WHY_SIZE])
{
	bool is_user = text_equal(installation->installation.kind, "User");

	if (is_user ? user_is(store, installation, user_token) : user_administers(store, installation, user_token))
		return true;
	snprintf(ret_why, APP_WHY_SIZE,
		is_user ? "GitHub does not say that the account %s is yours."
			: "GitHub does not say that you are an owner of the organization %s. The App needs the "
			  "permission to read members.",
		installation->account);
	return false;
}

/* ---- tokens ---- */

void app_token_release(struct app_token *token)
{
	crypto_secret_freep(&token->token);
}

/* Seconds until that time, at least 1. */
static long long lifetime_of(const char *expires_at)
{
	struct tm parts = {.tm_isdst = 0};
	const char *rest = expires_at ? strptime(expires_at, "%Y-%m-%dT%H:%M:%SZ", &parts) : NULL;
	long long seconds = rest && !*rest ? (long long)timegm(&parts) - clock_wall_us() / 1000000 : 1;

	if (seconds < 1)
		return 1;
	return seconds < MAX_LIFETIME ? seconds : MAX_LIFETIME;
}

enum app_outcome app_token_ask(
	const struct store *store, long long number, struct app_token *ret_token, char ret_why[APP_WHY_SIZE])
{
	_cleanup_(provider_answer_release) struct provider_answer answer = {.body = NULL};
	_cleanup_(freep) char *path = mem_printf("/app/installations/%lld/access_tokens", number);
	const char *token;

	ask(store, &(struct asking){.method = "POST", .path = path}, &answer);
	token = json_string_at(answer.body, "token");
	*ret_token = (struct app_token){.retry_after = answer.retry_after};
	if (answer.status != 201 || !oauth_token_valid(token) || strlen(token) > MAX_TOKEN)
		return outcome_of(&answer, ret_why);
	ret_token->token = mem_text(token);
	ret_token->expires_in = lifetime_of(json_string_at(answer.body, "expires_at"));
	return APP_DONE;
}
