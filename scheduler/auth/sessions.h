/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_AUTH_SESSIONS_H
#define SCHEDULER_AUTH_SESSIONS_H

/*
 * Sessions of browsers that signed in. The cookie is a random text; the database stores its digest. The cookie
 * authenticates its user for everything, but a request that changes something must also carry the session's CSRF token:
 * in a form's field, or in the header X-CSRF-Token.
 */

#include "scheduler/store/store.h"

#define SESSION_COOKIE "runyard_session"

/* How a session's user has signed in. Borrowed; what is NULL is unknown, or did not take part. */
struct session_order {
	const char *user_id, *address;
	const char *agent;            /* the browser's User-Agent */
	const char *method;           /* "password", "passkey", "oidc" or "saml" */
	struct db_array *factors;     /* further factors: "totp", "recovery_code", "passkey" */
	const char *provider_id;      /* of "oidc" and "saml" */
	const char *provider_session; /* the provider's name of the session, by which it can end it */
};

/* Creates a session. The caller frees the cookie. */
int session_create(struct store *store, const struct session_order *order, char **ret_cookie, struct err *err);
/* *ret_found is true if the user of that name, in any case, has a session that began at the address. */
int session_from(struct store *store, const char *username, const char *address, bool *ret_found, struct err *err);
int session_delete(struct store *store, const char *cookie, struct err *err);
/* Ends the sessions of the user other than the one with that digest (NULL: all), and those in which they act as another
 * user. */
int sessions_end_others(struct store *store, const char *user_id, const char *keep_hash, struct err *err);
/* A logout at an identity provider. Without the provider's name of the session, all sessions of the subject end. */
struct session_end {
	const char *provider_id;
	const char *provider_session; /* or NULL */
	const char *issuer, *subject; /* of the account at the provider */
};
/* Ends these sessions. Returns their users: the statement's column user_id. */
int sessions_end_of_provider(
	struct store *store, const struct session_end *end, struct rows *ret_users, struct err *err);
/* Records that the session's user has proved who they are again. */
int session_confirm(struct store *store, const char *cookie, struct err *err);
/* The digest by which the database knows a cookie, or another secret text of a sign-in. */
void session_hash(const char *cookie, char ret_hash[SHA256_HEX_SIZE]);
/* The CSRF token for the cookie, made with the first key. A token made with any key is valid. */
void session_csrf(const struct store *store, const char *cookie, char ret_token[SHA256_HEX_SIZE]);
bool session_csrf_valid(const struct store *store, const char *cookie, const char *sent);
/* The value of Set-Cookie; a NULL cookie deletes it. It is Secure if clients use TLS. The caller frees it. */
char *session_set_cookie(const struct store *store, const char *cookie);
/* The same for another cookie of sign-in. max_age: seconds; 0: until the browser ends. */
struct cookie_kind {
	const char *name, *path;
	int max_age;
};
char *cookie_header(const struct store *store, const struct cookie_kind *kind, const char *cookie);

/* Deletes sessions that are older than sixty days, and codes of logins that were not completed. */
int sessions_sweep(struct store *store, struct err *err);

#endif
