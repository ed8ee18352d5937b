/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_AUTH_ACCOUNT_IMPERSONATION_H
#define SCHEDULER_AUTH_ACCOUNT_IMPERSONATION_H

/*
 * Site admins who act as another user in their browser, for at most an hour. The session is the user's, and names the
 * site admin (auth/actor.h). It ends as well when the site admin loses that right or is suspended.
 */

#include "scheduler/store/store.h"

enum { MAX_IMPERSONATION_REASON = 512 };

struct impersonation {
	const char *cookie; /* of the site admin's session, which ends */
	const char *admin_id, *user_id, *reason;
};
/* The caller frees the cookie of the new session. ERR_NOT_FOUND; ERR_FORBIDDEN for the site admin's own account, a
 * service account, a suspended user and one without a name. */
int impersonation_begin(
	struct store *store, const struct impersonation *impersonation, char **ret_cookie, struct err *err);
/* Gives the site admin a session of their own again, for which the caller frees the cookie. ERR_MALFORMED if the
 * session is not one in which a site admin acts as another user. */
int impersonation_end(struct store *store, const char *cookie, char **ret_cookie, struct err *err);

#endif
