/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_AUTH_SAML_SIGN_IN_H
#define SCHEDULER_AUTH_SAML_SIGN_IN_H

/*
 * A sign-in by SAML:
 *
 *  1. saml_begin: the browser gets the cookie of an attempt, and goes to the provider with a request and the attempt's
 *     state as RelayState.
 *  2. saml_accept: the provider's page lets the browser post the response. That request comes from another site, so it
 *     has no cookie that is SameSite=Lax. SameSite=None would need TLS, and browsers keep restricting it. The response
 * is checked and its assertion is used up. The browser is redirected to this server with a code.
 *  3. saml_finish: the browser sends the code and its cookie, which proves that it began the attempt. A response that
 * an attacker got for another account can't sign the browser of another person in.
 *
 * Each step can be at another scheduler. None is within a transaction: they wait for the helper.
 */

#include "scheduler/auth/identity/attempts.h"
#include "scheduler/auth/helper/helper.h"
#include "scheduler/auth/saml/provider.h"

/* The context of a step. Borrowed. */
struct saml_site {
	struct store *store;
	struct helper *helper;
	const struct saml_provider *provider;
};

/* The order needs no provider and no request. *ret_url is where the browser goes; the caller frees it, and releases the
 * attempt. */
int saml_begin(const struct saml_site *site, struct sign_in_attempt_order order, const char *cookie,
	struct sign_in_attempt *ret_attempt, char **ret_url, struct err *err);

/* `response` and `state` are as they were posted. *ret_code is the code, which the caller frees with
 * crypto_secret_freep. ERR_INVALID or ERR_FORBIDDEN with a sentence for the person.
 * ERR_NOT_FOUND if no attempt has that state; such responses are not audited, since anyone can send any number. */
int saml_accept(
	const struct saml_site *site, const char *response, const char *state, char **ret_code, struct err *err);

/* *ret_answer is the helper's answer to `response`, a new reference. An attempt without a provider was begun at the
 * provider. ERR_FORBIDDEN as sign_in_attempt_redeem. */
int saml_finish(const struct saml_site *site, const char *code, const char *cookie, json_t **ret_answer,
	struct sign_in_attempt *ret_attempt, struct err *err);

/* After the account was found: stores what a logout needs, and the provider's entity id if it was not known. */
int saml_remember(const struct saml_site *site, const json_t *answer, struct err *err);

/* Deletes assertions that have expired, and results that were not fetched. */
int saml_assertions_sweep(struct store *store, struct err *err);

#endif
