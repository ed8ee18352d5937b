/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_AUTH_PASSWORDS_H
#define SCHEDULER_AUTH_PASSWORDS_H

/*
 * Passwords of people, kept as yescrypt hashes. Hashing takes some 16 MiB and tens of milliseconds on purpose, so it is
 * done by the threads that stand aside (api/aside.h), never by those that answer requests.
 */

#include "scheduler/store/store.h"

enum { PASSWORD_LEAST = 10, PASSWORD_MOST = 256 };

/* ERR_INVALID at the pointer (may be NULL) for one that is too short or too long. */
int password_check(const char *pointer, const char *password, struct err *err);
/* Sets it, and ends all sessions of the user but one (or NULL). Does the hashing. */
int password_set(
	struct store *store, const char *user_id, const char *password, const char *keep_session, struct err *err);
/* The same for the operator, by the user's name, with its audit event. ERR_NOT_FOUND. */
int password_set_for(struct store *store, const char *username, const char *password, struct err *err);
/* The id of the person who signs in so, or "". It takes the same time whether there is such a user or not. */
int password_verify(
	struct store *store, const char *username, const char *password, struct id *ret_user, struct err *err);

#endif
