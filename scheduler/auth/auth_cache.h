/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_AUTH_AUTH_CACHE_H
#define SCHEDULER_AUTH_AUTH_CACHE_H

/*
 * Per-thread cache of authenticated actors and of organizations. A cached actor is used provisionally: the round trip
 * that reads the requested data also asks the database whether the token is still valid and no rights have changed
 * (rights_version). No response is sent before that answer. If the cached actor is stale, everything is read again. So
 * a revoked right ends at once, on every replica.
 */

#include "scheduler/auth/actor.h"

/* An organization by its name in any case. A change of it also changes the version of the rights (table
 * rights_version). */
struct cached_organization {
	struct id id;
	char name[128]; /* in its original case */
};

/* Takes the token's owner out of the cache. Returns true if it was cached. Then the caller must check auth_cache_holds
 * before it discloses what it has read meanwhile, and must not move *ret_actor until then. */
bool auth_cache_take(struct store *store, const char *bearer, struct actor *ret_actor);
bool auth_cache_holds(struct store *store);
/* Takes an actor that was found or is confirmed, and caches or releases it. */
void auth_cache_put(struct actor *actor);

/* Returns a cached organization. It is valid if the actor's cache entry is. */
bool auth_cache_organization(const struct actor *actor, const char *name, struct cached_organization *ret_organization);
void auth_cache_put_organization(const struct actor *actor, const struct cached_organization *organization);

#endif
