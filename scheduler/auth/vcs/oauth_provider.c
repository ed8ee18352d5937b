/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/auth/vcs/oauth_provider.h"

#include <stdio.h>
#include <string.h>

#include "common/crypto.h"

enum {
	URL_LIMIT = 16 << 10,
	BODY_LIMIT = 256 << 10,
	MAX_TOKEN = 16 << 10,
	MAX_USER = 200,
	MAX_LIFETIME = 10 * 365 * 86400,
};

/* Users of Azure DevOps Services log in at Microsoft Entra, and their profile is at a third host. A connection with
 * another http-url asks that host for all three. */
#define AZURE_URL         "https://dev.azure.com"
#define AZURE_LOGIN_URL   "https://login.microsoftonline.com"
#define AZURE_PROFILE_URL "https://app.vssps.visualstudio.com"
/* The id is that of Azure DevOps in each tenant. */
#define AZURE_SCOPE "499b84ac-1321-427f-aa17-267ca6975798/.default offline_access"

static const struct dialect {
	bool supported;
	bool pkce;
	bool basic;                    /* the application logs in with a header, not with the form */
	const char *authorize, *token; /* paths at the host of the login */
	const char *scope;             /* NULL: as the application was registered */
	const char *user, *user_name;  /* a path of the API, and a member of its answer */
} dialects[VCS_DIALECTS] = {
	[VCS_GITHUB] = {true, true, false, "/login/oauth/authorize", "/login/oauth/access_token", "repo", "/user",
		"login"},
	[VCS_GITLAB] = {true, true, false, "/oauth/authorize", "/oauth/token", "api", "/user", "username"},
	/* Comments of pull requests are issues' there. */
	[VCS_GITEA] = {true, true, false, "/login/oauth/authorize", "/login/oauth/access_token",
		"read:user write:repository write:issue", "/user", "login"},
	[VCS_BITBUCKET_CLOUD] = {true, false, true, "/site/oauth2/authorize", "/site/oauth2/access_token", NULL,
		"/user", "nickname"},
	[VCS_AZURE] = {true, true, false, "/organizations/oauth2/v2.0/authorize", "/organizations/oauth2/v2.0/token",
		AZURE_SCOPE, "/_apis/profile/profiles/me?api-version=7.1", "displayName"},
};

static const struct dialect *dialect_of(const struct oauth_application *application)
{
	return &dialects[vcs_dialect_of(application->provider, application->api_url)];
}

bool oauth_supported(enum vcs_provider provider, const char *api_url)
{
	return provider != VCS_PROVIDER_ADO_SERVER && provider != VCS_PROVIDER_GITHUB_APP &&
		dialects[vcs_dialect_of(provider, api_url)].supported;
}

static bool is_azure_services(const struct oauth_application *application)
{
	return application->provider == VCS_PROVIDER_ADO_SERVICES && text_equal(application->http_url, AZURE_URL);
}

static const char *login_url(const struct oauth_application *application)
{
	return is_azure_services(application) ? AZURE_LOGIN_URL : application->http_url;
}

static void parameter(struct buf *out, const char *name, const char *value)
{
	if (!value)
		return;
	buf_printf(out, "%s%s=", out->len && !strchr("?&", out->data[out->len - 1]) ? "&" : "", name);
	buf_url(out, value);
}

char *oauth_consent_url(const struct oauth_application *application, const char *state, const char *challenge)
{
	const struct dialect *dialect = dialect_of(application);
	struct buf url = BUF_INIT(URL_LIMIT);

	buf_printf(&url, "%s%s?", login_url(application), dialect->authorize);
	parameter(&url, "client_id", application->id);
	parameter(&url, "redirect_uri", application->redirect);
	parameter(&url, "response_type", "code");
	parameter(&url, "scope", dialect->scope);
	parameter(&url, "state", state);
	parameter(&url, "code_challenge", dialect->pkce ? challenge : NULL);
	parameter(&url, "code_challenge_method", dialect->pkce ? "S256" : NULL);
	return buf_take(&url);
}

/* ---- requests ---- */

void oauth_request_release(struct oauth_request *request)
{
	free(request->url);
	crypto_secret_freep(&request->body);
	crypto_secret_freep(&request->authorization);
}

static char *basic_header(const struct oauth_application *application)
{
	_cleanup_(crypto_secret_freep) char *pair = mem_printf("%s:%s", application->id, application->secret);
	_cleanup_(crypto_secret_freep) char *encoded = crypto_base64(pair, strlen(pair));

	return mem_printf("Authorization: Basic %s", encoded);
}

/* A parameter of the form, by its name; NULL: it is not sent. */
struct form_field {
	const char *name, *value;
};

static void request_make(const struct oauth_application *application, const struct form_field *fields, size_t count,
	struct oauth_request *ret_request)
{
	const struct dialect *dialect = dialect_of(application);
	struct buf body = BUF_INIT(BODY_LIMIT);

	for (size_t i = 0; i < count; i++)
		parameter(&body, fields[i].name, fields[i].value);
	parameter(&body, "redirect_uri", application->redirect);
	if (!dialect->basic) {
		parameter(&body, "client_id", application->id);
		parameter(&body, "client_secret", application->secret);
	}
	*ret_request = (struct oauth_request){.url = mem_printf("%s%s", login_url(application), dialect->token),
		.body = buf_take(&body),
		.authorization = dialect->basic ? basic_header(application) : NULL};
}

void oauth_exchange_request(const struct oauth_application *application, const char *code, const char *verifier,
	struct oauth_request *ret_request)
{
	const struct form_field fields[] = {{"grant_type", "authorization_code"}, {"code", code},
		{"code_verifier", dialect_of(application)->pkce ? verifier : NULL}};

	request_make(application, fields, ARRAY_LEN(fields), ret_request);
}

void oauth_refresh_request(
	const struct oauth_application *application, const char *refresh, struct oauth_request *ret_request)
{
	const struct form_field fields[] = {{"grant_type", "refresh_token"}, {"refresh_token", refresh}};

	request_make(application, fields, ARRAY_LEN(fields), ret_request);
}

/* ---- answers ---- */

void oauth_tokens_release(struct oauth_tokens *tokens)
{
	crypto_secret_freep(&tokens->access);
	crypto_secret_freep(&tokens->refresh);
}

bool oauth_token_valid(const char *token)
{
	if (!token || !*token || strlen(token) > MAX_TOKEN)
		return false;
	for (; *token; token++)
		if (*token <= ' ' || *token > '~')
			return false;
	return true;
}

/* Azure DevOps sends digits in a text. */
static long long lifetime_read(const json_t *answer)
{
	const char *text = json_string_at(answer, "expires_in");
	long long seconds = 0;

	if (text)
		text_number(text, 0, MAX_LIFETIME, &seconds);
	else
		seconds = json_int_at(answer, "expires_in", 0);
	if (seconds < 0)
		return 0;
	return seconds > MAX_LIFETIME ? MAX_LIFETIME : seconds;
}

static void error_read(const json_t *answer, char ret_error[OAUTH_ERROR_SIZE])
{
	const char *error = json_string_at(answer, "error");
	bool shown = error && strlen(error) < OAUTH_ERROR_SIZE &&
		!error[strspn(error, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")];

	text_copy(ret_error, OAUTH_ERROR_SIZE, shown ? error : "");
}

int oauth_answer_read(const json_t *answer, struct oauth_tokens *ret_tokens, char ret_error[OAUTH_ERROR_SIZE])
{
	const char *access = json_string_at(answer, "access_token"), *refresh = json_string_at(answer, "refresh_token");

	error_read(answer, ret_error);
	if (json_at(answer, "error") || !oauth_token_valid(access))
		return -1;
	*ret_tokens = (struct oauth_tokens){.access = mem_text(access),
		.refresh = oauth_token_valid(refresh) ? mem_text(refresh) : NULL,
		.expires_in = lifetime_read(answer)};
	return 0;
}

char *oauth_user_url(const struct oauth_application *application)
{
	return mem_printf("%s%s", is_azure_services(application) ? AZURE_PROFILE_URL : application->api_url,
		dialect_of(application)->user);
}

char *oauth_user_name(const struct oauth_application *application, const json_t *answer)
{
	const char *name = json_string_at(answer, dialect_of(application)->user_name);

	if (!name || !*name || strlen(name) > MAX_USER)
		return NULL;
	for (const char *at = name; *at; at++)
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			return NULL;
	return mem_text(name);
}
