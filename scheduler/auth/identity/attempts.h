/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_AUTH_IDENTITY_ATTEMPTS_H
#define SCHEDULER_AUTH_IDENTITY_ATTEMPTS_H

/*
 * Sign-ins that browsers have begun at identity providers. An attempt is known by a random text: OIDC's `state`, SAML's
 * RelayState. The database has only its digest, so any scheduler can finish it. It is used once, within ten minutes, by
 * the browser that began it: that browser has a cookie. So nobody can be led to finish the sign-in of another person.
 */

#include "scheduler/store/store.h"

#define ATTEMPT_COOKIE "runyard_sign_in"

struct sign_in_attempt_order {
	const char *provider_id;
	const char *purpose;    /* "sign_in"; "link", "test" or "confirm" by the signed-in user */
	const char *user_id;    /* the signed-in user, or NULL */
	const char *request_id; /* of SAML's request, or NULL */
	const char *return_path;
	const char *secrets; /* what must not be read in the database, or NULL */
};

/* The texts are owned; sign_in_attempt_release cleanses them. */
struct sign_in_attempt {
	char *state;
	char *cookie; /* of sign_in_attempt_begin: the browser's cookie ATTEMPT_COOKIE */
	/* Of sign_in_attempt_redeem: */
	struct id provider_id, user_id; /* user_id: "" for nobody */
	char purpose[16];
	char *request_id, *return_path;
	char *secrets; /* or NULL */
};
#define SIGN_IN_ATTEMPT_INIT                                                                                           \
	{                                                                                                              \
		.state = NULL                                                                                          \
	}

void sign_in_attempt_release(struct sign_in_attempt *attempt);
/* `cookie` is the browser's present cookie, or NULL: a browser can have several attempts. Fills `state` and `cookie`.
 */
int sign_in_attempt_begin(struct store *store, const struct sign_in_attempt_order *order, const char *cookie,
	struct sign_in_attempt *ret_attempt, struct err *err);
/* Deletes the attempt, so that it is used once. ERR_FORBIDDEN if it is unknown or too old, began in another browser, or
 * at another provider (NULL: any). */
int sign_in_attempt_redeem(struct store *store, const char *state, const char *cookie, const char *provider_id,
	struct sign_in_attempt *ret_attempt, struct err *err);
/* The value of Set-Cookie. The caller frees it. */
char *sign_in_attempt_set_cookie(const struct store *store, const char *cookie);
/* Deletes attempts that were not finished. */
int sign_in_attempts_sweep(struct store *store, struct err *err);

#endif
