/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_AUTH_IDENTITY_OIDC_CLAIMS_H
#define SCHEDULER_AUTH_IDENTITY_OIDC_CLAIMS_H

/* What claims say about a person, by the provider's settings. It does no I/O. */

#include "common/err.h"
#include "scheduler/auth/identity/external_person.h"

/* A claim by its name, or by a path such as "realm_access.roles". A name that has dots itself comes first. Borrowed. */
const json_t *claim_at(const json_t *claims, const char *path);
/* The names of the groups in a claim: a list of texts, of objects with `id`, `name` or `displayName`, or one text. A
 * leading slash is left out (Keycloak's paths). A new reference; NULL if the claim is missing. */
json_t *claim_groups(const json_t *claim);
/* Whether the groups were left out because there are too many (Entra ID's `_claim_names`, `hasgroups`). */
bool claim_groups_left_out(const json_t *claims, const char *groups_claim);
/* Fills all but provider and issuer. `groups` may be NULL. Borrows from the arguments. ERR_FORBIDDEN without a subject.
 */
int claims_read(const json_t *claims, const json_t *settings, const json_t *groups, struct external_person *person,
	struct err *err);

#endif
