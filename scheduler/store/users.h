/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_USERS_H
#define SCHEDULER_STORE_USERS_H

#include "scheduler/store/store.h"

/* The columns id, username, email, is_site_admin, created_at. ERR_NOT_FOUND. */
int user_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err);
/* NULL leaves a field as it is. ERR_INVALID "Username has already been taken". */
int user_update(struct store *store, const char *id, const char *username, const char *email, struct err *err);

#endif
