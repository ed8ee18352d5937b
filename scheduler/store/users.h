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

#endif
