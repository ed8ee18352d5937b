/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_ACCESS_USERS_H
#define SCHEDULER_STORE_ACCESS_USERS_H

#include "scheduler/store/store.h"

/* The shape `user` without is_suspended and organizations. ERR_NOT_FOUND. */
int user_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err);
/* The same for many ids; unknown ids are skipped. The rows are available later (db_ask). */
int users_read_all(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err);
/* The user of that name. ERR_NOT_FOUND. */
int user_find(struct store *store, const char *username, struct id *ret_id, struct err *err);
/* A user that is visible to the requester: the requester, or a user in one of the requester's organizations.
 * ERR_NOT_FOUND. */
int user_read_known(
	struct store *store, const char *id, const char *requester_id, struct rows *ret_rows, struct err *err);
/* Creates a user with a confirmed address, and accepts all invitations to it, since only an operator creates users.
 * Uses the caller's transaction, or its own. ERR_INVALID "Username has already been taken". */
int user_register(struct store *store, const char *username, const char *email, struct id *ret_id, struct err *err);
/* NULL leaves a field unchanged. A different address is not confirmed (store/access/invitations.h). ERR_INVALID
 * "Username has already been taken". */
int user_update(struct store *store, const char *id, const char *username, const char *email, struct err *err);

/* ---- for site admins ---- */

struct user_list {
	const char *search;            /* part of the username or the address, or NULL */
	const char *admin, *suspended; /* "true", "false" or NULL */
	long long limit, offset;
};
/* All users in the order of their creation, including invited ones (username null): the shape `user`, with the names of
 * the user's organizations. At least one row; its id is null if the page is empty. */
int users_list(struct store *store, const struct user_list *list, struct rows *ret_rows, struct err *err);
/* The same columns of one user. ERR_NOT_FOUND, also for a service account. */
int user_read_for_site(struct store *store, const char *id, struct rows *ret_rows, struct err *err);
/* Ends a suspension (auth/identity/offboard.h). Ended sessions and tokens stay ended. ERR_NOT_FOUND. */
int user_reinstate(struct store *store, const char *id, struct err *err);
int user_set_site_admin(struct store *store, const char *id, bool admin, struct err *err);
/* Deletes the user with their tokens, sessions and memberships; their runs are kept. ERR_INVALID for the last owner of
 * an organization. */
int user_delete(struct store *store, const char *id, struct err *err);

#endif
