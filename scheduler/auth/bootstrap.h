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
 * Creates the first user (a site admin), organization and agent pool, unless they exist, and a token for each side that
 * has none: {"user", "organization", "token", "agent-token", "notifier-token"}, and a "password" if the user had none.
 * The result has only what was created. The secrets are returned only here. Returns a new reference.
 */
int bootstrap(struct store *store, const struct bootstrap_order *order, json_t **ret_result, struct err *err);
/* Creates a further user without site administration: {"user", "id", "email", "password"}. The user becomes a member of
 * the organizations that have invited that address. ERR_INVALID "Username has already been taken". Returns a new
 * reference. */
int user_add(struct store *store, const char *username, const char *email, json_t **ret_result, struct err *err);

#endif
