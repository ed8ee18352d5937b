/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_AUTH_IDENTITY_OIDC_H
#define SCHEDULER_AUTH_IDENTITY_OIDC_H

/*
 * OpenID Connect: sign-in by authorization code with PKCE, state and nonce (OpenID Connect Core 1.0, RFC 9207), and
 * back-channel logout (OpenID Connect Back-Channel Logout 1.0).
 *
 * A provider's discovery document and its keys are kept in memory for an hour. A key that is not among them is looked
 * up at once, but at most once a minute. If the provider does not answer, what is in memory still counts.
 *
 * Functions that may call the provider block: they are for BLOCKING_CALL routes, and outside of transactions.
 */

#include "scheduler/auth/identity/external_person.h"
#include "scheduler/auth/identity/oidc_provider.h"

/* A request to sign in, and what its answer must match. Owned. */
struct oidc_request {
	char *nonce, *verifier; /* PKCE's code verifier (RFC 7636) */
};
void oidc_request_release(struct oidc_request *request);
struct oidc_request oidc_request_new(void);
/* As the secrets of a sign-in attempt, and from them. */
char *oidc_request_text(const struct oidc_request *request);
int oidc_request_parse(const char *text, struct oidc_request *ret_request, struct err *err);

/* The URL of the provider's sign-in page. `prove_again` asks for a fresh proof even if the person is signed in there.
 * The caller frees it. ERR_UNAVAILABLE with a sentence for the person if the provider can't be reached. */
int oidc_sign_in_url(struct store *store, const struct oidc_provider *provider, const struct oidc_request *request,
	const char *state, bool prove_again, char **ret_url, struct err *err);

/* What the provider said of the person. Owned; `person` borrows from the rest. */
struct oidc_result {
	json_t *claims; /* of the ID token, and those of the userinfo endpoint that it lacks */
	json_t *groups;
	struct external_person person;
	const char *session;    /* the provider's `sid`, or NULL */
	const char *groups_why; /* why the groups are not known, or NULL */
};
void oidc_result_release(struct oidc_result *result);
/* Redeems the code and checks the ID token. ERR_FORBIDDEN with a sentence for the person and the audit event if the
 * answer is not acceptable; ERR_UNAVAILABLE if the provider did not answer. */
int oidc_exchange(struct store *store, const struct oidc_provider *provider, const struct oidc_request *request,
	const char *code, struct oidc_result *ret_result, struct err *err);

/* What a logout token says has ended. */
struct oidc_logout {
	char *subject, *session; /* either may be NULL; owned */
};
void oidc_logout_release(struct oidc_logout *logout);
/* Checks a logout token, and records that it was used. ERR_FORBIDDEN. */
int oidc_logout_check(struct store *store, const struct oidc_provider *provider, const char *token,
	struct oidc_logout *ret_logout, struct err *err);
/* Deletes the records of logout tokens that have expired. */
int oidc_logouts_sweep(struct store *store, struct err *err);
/* The provider's page that ends the session there, with the way back; NULL if it has none or can't be asked. The caller
 * frees it. */
char *oidc_end_session_url(struct store *store, const struct oidc_provider *provider);

/* Reads the discovery document and the keys anew. *ret_facts says what the provider offers, for the page that tests a
 * connection. */
int oidc_provider_test(struct store *store, const struct oidc_provider *provider, json_t **ret_facts, struct err *err);

#endif
