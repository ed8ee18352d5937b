/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_AUTH_RECALL_H
#define SCHEDULER_AUTH_RECALL_H

/*
 * Whom a thread has seen lately. Who asks again is taken for who they were, and what they may for what they might,
 * while the database is asked in the same round trip as for what they want to read whether that still holds: the token
 * is there and good, and nobody's rights have changed since (rights_version). Nobody is answered before it has said so;
 * if it does not, all is read anew. So a right that was taken away is gone at once, on every replica.
 */

#include "scheduler/auth/actor.h"

struct recall;

/* An organization, by its name in any case; the version of rights changes with it, too (migration 0034). */
struct recalled_organization {
	struct id id;
	char name[128]; /* as it was given when it was made */
};

struct recall *recall_new(void);
void recall_free(struct recall *recall);

/* The token's owner, if this thread remembers them. True: it must be seen that recall_holds before anybody is told of
 * what is read meanwhile, and the actor stays where it is until then. */
bool recall_take(struct store *store, const char *bearer, struct actor *ret_actor);
bool recall_holds(struct store *store);
/* Takes the actor, who was found or holds: to remember them, or to release them. */
void recall_put(struct store *store, struct actor *actor);

/* What this thread knows of an organization that holds if what it knows of the actor does. */
bool recall_organization(struct store *store, const struct actor *actor, const char *name,
	struct recalled_organization *ret_organization);
void recall_put_organization(
	struct store *store, const struct actor *actor, const struct recalled_organization *organization);

#endif
