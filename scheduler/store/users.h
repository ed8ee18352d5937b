/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_USERS_H
#define SCHEDULER_STORE_USERS_H

#include "scheduler/store/store.h"

/* The columns id, username, email, is_site_admin, created_at. ERR_NOT_FOUND. */
int user_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err);
/* The same of many ids, those that are there; for later (db_ask). */
int users_read_all(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err);
/* The user as the viewer knows them: themselves, and whom they share an organization with. ERR_NOT_FOUND. */
int user_read_known(struct store *store, const char *id, const char *viewer_id, struct rows *ret_rows, struct err *err);
/* A new user with a confirmed address, who accepts every invitation to it: only an operator makes users. In a
 * transaction of its own or the caller's. ERR_INVALID "Username has already been taken". */
int user_register(struct store *store, const char *username, const char *email, struct id *ret_id, struct err *err);
/* NULL leaves a field as it is. Another address is not confirmed (store/invitations.h). ERR_INVALID "Username has
 * already been taken". */
int user_update(struct store *store, const char *id, const char *username, const char *email, struct err *err);

/* ---- what site admins do with users ---- */

struct user_list {
	const char *search;            /* part of the name or of the address, or NULL */
	const char *admin, *suspended; /* "true", "false" or NULL */
	long long limit, offset;
};
/* Everybody, in the order in which they came, also who is only invited (username null). Columns of user_read,
 * is_suspended, organizations (a jsonb array of their organizations' names) and total; at least one row, whose id is
 * null if the page is empty. */
int users_list(struct store *store, const struct user_list *list, struct rows *ret_rows, struct err *err);
/* One row of that. ERR_NOT_FOUND, also for a service account. */
int user_read_for_site(struct store *store, const char *id, struct rows *ret_rows, struct err *err);
/* A suspended user's tokens and sessions are refused, and so is a new sign-in. ERR_NOT_FOUND. */
int user_suspend(struct store *store, const char *id, bool suspended, struct err *err);
int user_set_site_admin(struct store *store, const char *id, bool admin, struct err *err);
/* With their tokens, sessions and memberships; their runs stay. ERR_INVALID for the last owner of an organization. */
int user_delete(struct store *store, const char *id, struct err *err);

#endif
