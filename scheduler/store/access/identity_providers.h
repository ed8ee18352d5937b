/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_ACCESS_IDENTITY_PROVIDERS_H
#define SCHEDULER_STORE_ACCESS_IDENTITY_PROVIDERS_H

/* Identity providers of the site: any number of OIDC, and one of SAML. Site admins configure them. */

#include "scheduler/store/store.h"

#define OIDC_PROVIDER "oidc"
#define SAML_PROVIDER "saml"

/* Followed by the provider's id: the context of secret_sealed (store/key_rotation.sql has it, too). */
#define PROVIDER_SECRET_SEAL "identity-provider:"

/* The shape `identity_provider`. ERR_NOT_FOUND. */
int identity_provider_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err);
/* The oldest provider of the kind; no row if there is none. */
int identity_provider_of_kind(struct store *store, const char *kind, struct rows *ret_rows, struct err *err);
/* One page of the providers of the kind, by name, with `total`; a row with a null id if the page is empty. */
int identity_providers_list(
	struct store *store, const char *kind, const struct list_range *range, struct rows *ret_rows, struct err *err);
/* All enabled providers, by name, for the sign-in page: the shape `identity_provider`. */
int identity_providers_enabled(struct store *store, struct rows *ret_rows, struct err *err);

/* Members that are NULL stay as they are; all are borrowed. */
struct identity_provider {
	const char *kind; /* of a new one */
	const char *name, *issuer;
	const bool *is_enabled;
	const json_t *settings; /* members to change; null removes one */
	const char *secret;     /* "" removes it */
	const long long *token_days;
};

/* ERR_INVALID for a name or an issuer that another provider has. */
int identity_provider_create(
	struct store *store, const struct identity_provider *provider, struct id *ret_id, struct err *err);
int identity_provider_update(
	struct store *store, const char *id, const struct identity_provider *provider, struct err *err);
/* Ends the sessions and tokens that were made through it. Accounts stay, and belong to the next provider with the same
 * issuer. */
int identity_provider_delete(struct store *store, const char *id, struct err *err);

#endif
