/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_ACCESS_ORGANIZATION_SSO_H
#define SCHEDULER_STORE_ACCESS_ORGANIZATION_SSO_H

/* What an organization asks of the sign-in of its members: identity providers whose groups lead to its teams, whether
 * members must come from one of them, and the domains of addresses that lead to them. */

#include "scheduler/store/store.h"

/* The shape `organization_sso`, also for an organization without settings. */
int organization_sso_read(struct store *store, const char *organization_id, struct rows *ret_rows, struct err *err);

/* Members that are NULL stay as they are. Borrowed. */
struct organization_sso {
	const bool *is_required;
	const json_t *domains;   /* texts in lower case */
	const json_t *providers; /* ids */
};
/* ERR_INVALID with a pointer for a provider that does not exist or is not for this organization, for a domain that none
 * of the providers lists, and for `required` without a provider. */
int organization_sso_update(
	struct store *store, const char *organization_id, const struct organization_sso *wanted, struct err *err);

/* The enabled providers that the organization may use: the shape `organization_provider`. */
int organization_providers_list(
	struct store *store, const char *organization_id, struct rows *ret_rows, struct err *err);
/* Whether the user signs in through one of the providers that the organization would accept, or is exempt. */
int organization_sso_fits(
	struct store *store, const char *organization_id, const char *provider_id, bool *ret_fits, struct err *err);
/* The enabled provider to which an address with that domain leads, or "". The domains of providers come first. */
int provider_of_domain(struct store *store, const char *domain, struct id *ret_provider, struct err *err);

#endif
