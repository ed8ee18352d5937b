/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_AUTH_BOOTSTRAP_H
#define SCHEDULER_AUTH_BOOTSTRAP_H

#include "scheduler/store/store.h"

struct bootstrap_order {
	const char *username;
	const char *email;
	const char *organization;
};

/*
 * The first user (a site admin), organization and agent pool, as far as they are not there yet, and a new token for
 * each side: {"user", "organization", "token", "agent-token", "notifier-token"}, and a "password" for a user who
 * had none. They are nowhere else. A new reference.
 */
int bootstrap(struct store *store, const struct bootstrap_order *order, json_t **ret_result, struct err *err);
/* A person more, who is no site admin: {"user", "id", "email", "password"}. Whoever was invited by that address is a
 * member from now on. ERR_INVALID "Username has already been taken". A new reference. */
int user_add(struct store *store, const char *username, const char *email, json_t **ret_result, struct err *err);

#endif
