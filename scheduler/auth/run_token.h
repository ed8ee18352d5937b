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
 */

#include "scheduler/auth/actor.h"

#define RUN_TOKEN_PREFIX "ry_run_"

/* Finds the ACTOR_RUN whose token has that digest. ERR_UNAUTHORIZED. */
int run_token_find(struct store *store, const char *hash, struct actor *ret_actor, struct err *err);
/* actor_may for an ACTOR_RUN. */
int run_token_may(struct store *store, const struct actor *actor, enum permission permission, struct place place,
	const char *what, struct err *err);

#endif
