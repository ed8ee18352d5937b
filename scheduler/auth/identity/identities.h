/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_AUTH_IDENTITY_IDENTITIES_H
#define SCHEDULER_AUTH_IDENTITY_IDENTITIES_H

/*
 * Accounts of people at identity providers.
 *
 * An account is an issuer and a subject. Names and addresses, which people can choose at some providers, never lead to
 * an existing account. A local account is linked by its owner, who is signed in (identity_link), and nobody else. An
 * account that SCIM made belongs to its first sign-in under the name that SCIM knows.
 *
 * Groups become memberships of teams. They change teams only in organizations that accept the provider: all for SAML,
 * and for OIDC those whose `sso` settings name it.
 */

#include "scheduler/auth/identity/external_person.h"
#include "scheduler/store/store.h"

struct identity_account {
	struct id user;
	char username[64];
	bool is_new;
};

/* Finds or creates the account, and applies its groups, in one transaction. ERR_FORBIDDEN with a sentence for the
 * person if the account is suspended. */
int identity_sign_in(struct store *store, const struct external_person *person, struct identity_account *ret_account,
	struct err *err);
/* Links the identity to the user. ERR_INVALID if it belongs to another user. */
int identity_link(struct store *store, const struct external_person *person, const char *user_id, struct err *err);
/* The user's identities: the shape `identity`. */
int identities_of_user(struct store *store, const char *user_id, struct rows *ret_rows, struct err *err);
/* Unlinks an identity, which ends the sessions and tokens that were made through it. ERR_INVALID if the user could not
 * sign in afterwards. */
int identity_unlink(struct store *store, const char *user_id, const char *provider_id, struct err *err);

#endif
