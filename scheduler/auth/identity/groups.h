/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_AUTH_IDENTITY_GROUPS_H
#define SCHEDULER_AUTH_IDENTITY_GROUPS_H

/*
 * Memberships of teams from a provider's groups.
 *
 * A group leads to the teams whose `sso-team-id` it is, or which have no `sso-team-id` and its name. It leads to the
 * owners team only by the organization's `owners-team-saml-role-id`: no name makes an owner. A person joins and leaves
 * only teams that groups lead to: what people have set by hand stays, except in teams with an `sso-team-id`. The last
 * owner of an organization stays, with a warning in the log.
 */

#include "scheduler/auth/identity/external_person.h"
#include "scheduler/store/store.h"

int groups_apply(struct store *store, const struct external_person *person, const char *user_id, struct err *err);

#endif
