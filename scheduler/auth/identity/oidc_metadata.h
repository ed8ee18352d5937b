/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_AUTH_IDENTITY_OIDC_METADATA_H
#define SCHEDULER_AUTH_IDENTITY_OIDC_METADATA_H

/* Discovery documents and keys of OIDC providers, kept in the memory of the process. */

#include "scheduler/auth/identity/oidc_provider.h"

/* The discovery document, as a new reference. ERR_UNAVAILABLE if the provider does not answer, ERR_FORBIDDEN for a
 * document of another issuer. */
int oidc_metadata_read(
	struct store *store, const struct oidc_provider *provider, json_t **ret_document, struct err *err);
/* The same, read within the last seconds: the provider answers now. ERR_UNAVAILABLE if it does not, whatever is kept.
 */
int oidc_metadata_reach(
	struct store *store, const struct oidc_provider *provider, json_t **ret_document, struct err *err);
/* The provider's keys, as a new reference. `anew`: a key is missing among them, so they are read again if that was not
 * done within a minute. */
int oidc_keys_read(
	struct store *store, const struct oidc_provider *provider, bool anew, json_t **ret_keys, struct err *err);
/* Forgets what is kept of the provider. */
void oidc_metadata_forget(const char *provider_id);

/* A request to one of the provider's addresses, which answers with JSON. Borrowed. */
struct oidc_call {
	const char *method, *url;
	const char *authorization; /* a header, or NULL */
	const char *form;          /* the body, or NULL */
};
/* A new reference. ERR_UNAVAILABLE if there was no answer; ERR_FORBIDDEN for a status other than 200, with the error
 * code of the provider. `what` names the request: "the token". */
int oidc_call(
	struct store *store, const struct oidc_call *call, const char *what, json_t **ret_answer, struct err *err);

#endif
