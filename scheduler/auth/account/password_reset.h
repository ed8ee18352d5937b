/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_AUTH_ACCOUNT_PASSWORD_RESET_H
#define SCHEDULER_AUTH_ACCOUNT_PASSWORD_RESET_H

/*
 * Links by mail that set a password. A link is valid for an hour, and once. It is sent to a confirmed address only: a
 * change of the address in a stolen session does not lead to a new password.
 */

#include "scheduler/store/store.h"

/* Queues a mail to each person with that name or address, if there are any. It has a link; for an account without a
 * password, it says to sign in through the provider. */
int password_reset_ask(struct store *store, const char *name, struct err *err);
/* The user of the link's code. ERR_NOT_FOUND if it is unknown, used or too old. */
struct password_reset {
	struct id id, user;
	char username[64];
};
int password_reset_read(struct store *store, const char *code, struct password_reset *ret_reset, struct err *err);
/* Sets the password, ends the user's sessions and deletes their links. ERR_NOT_FOUND if another request was first. In a
 * transaction of the caller, or its own. */
int password_reset_use(struct store *store, const struct password_reset *reset, const char *password, struct err *err);

#endif
