/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_AUTH_PASSWORDS_H
#define SCHEDULER_AUTH_PASSWORDS_H

/*
 * Passwords of users, stored as yescrypt hashes. Hashing deliberately takes some 16 MiB and tens of milliseconds. So
 * slow threads of http/request_batcher.h do it, never those that answer requests.
 */

#include "scheduler/store/store.h"

enum { PASSWORD_LEAST = 10, MAX_PASSWORD = 256 };

/* Checks the length. ERR_INVALID at the pointer (may be NULL) for a password that is too short or too long. */
int password_check(const char *pointer, const char *password, struct err *err);
/* Hashes and sets the password. Ends all sessions of the user except keep_session (may be NULL). */
int password_set(
	struct store *store, const char *user_id, const char *password, const char *keep_session, struct err *err);
/* The same for the operator, by the user's name, with an audit event. ERR_NOT_FOUND. */
int password_set_for(struct store *store, const char *username, const char *password, struct err *err);
/* ERR_INVALID at the pointer, with what is missing, unless people could sign in if only break-glass accounts had
 * passwords. */
int password_alternatives_check(struct store *store, const char *pointer, struct err *err);
/* Called in the transaction of a change of providers or of break-glass accounts. ERR_INVALID if usual accounts have no
 * passwords, and nobody could sign in any more. */
int password_alternatives_keep(struct store *store, struct err *err);
/* Returns the id of the user with that name and password, or "" if there is none who may sign in with a password.
 * Takes the same time whether the user exists or not. */
int password_verify(
	struct store *store, const char *username, const char *password, struct id *ret_user, struct err *err);

#endif
