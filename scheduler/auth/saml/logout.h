/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_AUTH_SAML_LOGOUT_H
#define SCHEDULER_AUTH_SAML_LOGOUT_H

/* Single logout, begun here or at the provider. */

#include "scheduler/auth/saml/sign_in.h"

/* The address at which the provider ends its session, too. *ret_url is NULL if the session of the cookie did not begin
 * there, or the provider has no single logout. Call it before the session is deleted. The caller frees the address. */
int saml_logout_begin(const struct saml_site *site, const char *cookie, char **ret_url, struct err *err);

/* *ret_has is true if the session of the cookie began at the provider, and the provider has single logout. */
int saml_session_has_logout(struct store *store, const char *cookie, bool *ret_has, struct err *err);

/* A message of the provider: `query` as received (redirect binding), or `message` in base64 (POST binding). */
struct saml_logout_message {
	const char *query, *message;
	const char *state; /* RelayState, or NULL */
};
/* Ends the sessions that a LogoutRequest names; *ret_url is the address with the answer, which the caller frees. NULL
 * after a LogoutResponse. ERR_INVALID with a sentence. */
int saml_logout_take(
	const struct saml_site *site, const struct saml_logout_message *message, char **ret_url, struct err *err);

#endif
