/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_AUTH_ACCOUNT_ACCOUNT_SESSIONS_H
#define SCHEDULER_AUTH_ACCOUNT_ACCOUNT_SESSIONS_H

/* The sessions of a user, for the user. A session's public id is no secret. */

#include "scheduler/store/store.h"

/* The valid sessions as rows of `account_session`, those with the last use first, at most 200. */
int account_sessions(struct store *store, const char *user_id, struct rows *ret_rows, struct err *err);
/* ERR_NOT_FOUND. */
int account_session_end(struct store *store, const char *user_id, const char *id, struct err *err);
/* Ends all sessions other than that of the cookie; all of them if it is NULL. */
int account_sessions_end_others(struct store *store, const char *user_id, const char *cookie, struct err *err);

/* Whether the session's user has proved who they are in the last 15 minutes, or has no password to prove it with. */
int session_confirmed(struct store *store, const char *cookie, bool *ret_confirmed, struct err *err);

#endif
