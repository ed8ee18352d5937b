/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_AUTH_IDENTITY_OFFBOARD_H
#define SCHEDULER_AUTH_IDENTITY_OFFBOARD_H

/*
 * Ends the access of a person that a site admin or SCIM suspends, in one transaction. The person's sessions, tokens,
 * agent tokens that they made, and tokens of their runs' programs end. Their runs, comments and audit events stay. Runs
 * that would be applied without a confirmation, by the person's right, wait for one.
 */

#include "scheduler/store/store.h"

struct offboarding {
	char username[64];
	bool was_suspended;
	long long sessions, run_tokens; /* how many ended */
	struct rows tokens; /* that ended: columns id, pool_id (of an agent token, or null), organization_id */
	struct rows runs;   /* that wait for a confirmation now: run_id, organization_id, workspace_id */
	struct rows owned;  /* organizations that have no other owner: organization_id */
};
void offboarding_release(struct offboarding *offboarding);

/* Suspends the person and ends their access. In the caller's transaction, or its own. ERR_NOT_FOUND, also for a service
 * account. Release the result, also after a failure. */
int user_offboard(struct store *store, const char *id, struct offboarding *ret_offboarding, struct err *err);
/* Also frees the name and the identities of the offboarded person: the next sign-in with them makes a new account. */
int user_forget(struct store *store, const char *id, struct err *err);

#endif
