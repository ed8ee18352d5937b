/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_AUTH_RUN_TOKEN_H
#define SCHEDULER_AUTH_RUN_TOKEN_H

/*
 * A run's own token, with which the processes in a run call the API. It is created with the claim, is valid until the
 * attempt ends, and is read-only. It reads the following:
 *
 *  - The run and its workspace, with its states.
 *  - Other workspaces of the organization and their states, if they share them with it
 * (store/workspaces/remote_state.h).
 *  - The entitlements of the organization.
 *  - The modules of its registry, and of organizations that share theirs with it.
 *  - The private providers of its registry.
 */

#include "scheduler/rights/rights.h"
#include "scheduler/store/store.h"

#define RUN_TOKEN_PREFIX "ry_run_"

/* The run that a token belongs to. */
struct run_token {
	struct id run, workspace, organization;
};

/* Finds the token by its digest. ERR_UNAUTHORIZED. */
int run_token_find(struct store *store, const char *hash, struct run_token *ret_token, struct err *err);
/* Checks a permission of the token's owner, as actor_may does. ERR_NOT_FOUND. */
int run_token_may(struct store *store, const struct run_token *token, enum permission permission, struct place place,
	struct err *err);

#endif
