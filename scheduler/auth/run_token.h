/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_AUTH_RUN_TOKEN_H
#define SCHEDULER_AUTH_RUN_TOKEN_H

/*
 * A run's own token: what is done in a run asks the API with it. It is made with the claim, ends with the attempt, and
 * reads: the run and its workspace, with states; other workspaces of the organization and their states as far as
 * those share them with it (store/remote_state.h); what the organization is entitled to. It changes nothing.
 */

#include "scheduler/auth/actor.h"

#define RUN_TOKEN_PREFIX "ry_run_"

/* The ACTOR_RUN whose token has that digest. ERR_UNAUTHORIZED. */
int run_token_find(struct store *store, const char *hash, struct actor *ret_actor, struct err *err);
/* actor_may for an ACTOR_RUN. */
int run_token_may(struct store *store, const struct actor *actor, enum permission permission, struct place place,
	const char *what, struct err *err);

#endif
