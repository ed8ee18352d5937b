/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_AUTH_OAUTH_H
#define SCHEDULER_AUTH_OAUTH_H

/*
 * The authorization of `terraform login`: OAuth's authorization code with PKCE. The browser opens a page that asks the
 * person for consent (ui/oauth.c). It then returns to the CLI, on the same machine, with a code that is valid once and
 * for five minutes. The CLI exchanges the code for a token of that person.
 *
 * These values are in the discovery document (login.v1).
 */

#include "scheduler/store/store.h"

#define OAUTH_AUTHORIZE_PATH "/oauth/authorize"
#define OAUTH_TOKEN_PATH     "/oauth/token"
#define OAUTH_CLIENT         "terraform-cli"

/* The ports at which the CLI may listen. */
enum { OAUTH_PORT_LOW = 10000, OAUTH_PORT_HIGH = 10010 };

struct oauth_consent {
	const char *user_id;
	const char *challenge, *redirect; /* of the CLI's request */
	const char *provider_id;          /* the identity provider behind the person's session; NULL: none */
};
/* Creates a code. The caller frees it. */
int oauth_code_create(struct store *store, const struct oauth_consent *consent, char **ret_code, struct err *err);

struct oauth_exchange {
	const char *code, *verifier, *redirect;
};
/* Deletes the code. *ret_user is the row of the person who gave the consent (user_id, username and provider_id). No row
 * if the code is unknown or too old, or does not belong to the verifier and the redirect. */
int oauth_code_redeem(
	struct store *store, const struct oauth_exchange *exchange, struct rows *ret_user, struct err *err);

#endif
