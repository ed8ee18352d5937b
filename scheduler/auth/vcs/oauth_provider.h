/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_AUTH_VCS_OAUTH_PROVIDER_H
#define SCHEDULER_AUTH_VCS_OAUTH_PROVIDER_H

/*
 * OAuth 2.0 of each VCS provider: makes the address of the consent page, makes the requests that exchange a code or a
 * refresh token, and reads their answers. Pure.
 */

#include "common/json/json.h"
#include "common/vcs/dialect.h"

/* An application that is registered at a provider. Borrowed texts. */
struct oauth_application {
	enum vcs_provider provider;
	const char *http_url, *api_url; /* of the connection, without a slash at the end */
	const char *id, *secret;        /* the connection's key and secret */
	const char *redirect;           /* our callback */
};

/* True if connections of that kind can get their token in a browser. */
bool oauth_supported(enum vcs_provider provider, const char *api_url);

/* The address of the consent's page. `challenge` is PKCE's (S256); providers without PKCE do not get it. The caller
 * frees it. */
char *oauth_consent_url(const struct oauth_application *application, const char *state, const char *challenge);

/* A request for a token: POST of a form. The caller releases it, which cleanses its secrets. */
struct oauth_request {
	char *url;
	char *body;
	char *authorization; /* a header's line, or NULL */
};
void oauth_request_release(struct oauth_request *request);
void oauth_exchange_request(const struct oauth_application *application, const char *code, const char *verifier,
	struct oauth_request *ret_request);
void oauth_refresh_request(
	const struct oauth_application *application, const char *refresh, struct oauth_request *ret_request);

/* Tokens of an answer. Owned; oauth_tokens_release cleanses them. */
struct oauth_tokens {
	char *access;
	char *refresh;        /* NULL: none */
	long long expires_in; /* seconds; 0: it does not expire */
};
void oauth_tokens_release(struct oauth_tokens *tokens);

enum { OAUTH_ERROR_SIZE = 64 };

/* Returns 0 with the tokens, or -1 with the error code of the answer ("invalid_grant"); "" if it has none that can be
 * shown. `answer` may be NULL. */
int oauth_answer_read(const json_t *answer, struct oauth_tokens *ret_tokens, char ret_error[OAUTH_ERROR_SIZE]);

/* The address that returns the owner of a token, and the owner's name in its answer. The name is NULL if it is missing
 * or can't be shown. The caller frees both. */
char *oauth_user_url(const struct oauth_application *application);
char *oauth_user_name(const struct oauth_application *application, const json_t *answer);

/* True if a token from a provider can be used in headers and in answers to git: a bounded text of printable ASCII. */
bool oauth_token_valid(const char *token);

#endif
