/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/auth/auth_cache.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MAX_SEEN = 256, MAX_ORGANIZATIONS = 64 };

struct found {
	struct cached_organization organization;
	long long version; /* version of the rights before the lookup; 0: an empty entry */
	unsigned long long connection;
};

struct auth_cache {
	struct actor seen[MAX_SEEN];
	struct found found[MAX_ORGANIZATIONS];
};

/* ---- the cache of the thread ---- */

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void cache_free(void *data)
{
	struct auth_cache *cache = data;

	for (size_t i = 0; i < MAX_SEEN; i++)
		actor_release(&cache->seen[i]);
	free(cache);
}

static void key_create(void)
{
	if (pthread_key_create(&key, cache_free) != 0)
		abort();
}

static struct auth_cache *cache_of_thread(void)
{
	struct auth_cache *cache;

	pthread_once(&once, key_create);
	cache = pthread_getspecific(key);
	if (!cache) {
		cache = mem_new(1, sizeof(*cache));
		pthread_setspecific(key, cache);
	}
	return cache;
}

/* ---- actors ---- */

/* The digest's first two digits serve as the hash of the entry. */
static struct actor *seen_at(struct auth_cache *cache, const char *hash)
{
	char digits[3] = {hash[0], hash[1], '\0'};

	return &cache->seen[strtoul(digits, NULL, 16) % MAX_SEEN];
}

/* Returns false if the cached actor is stale. It also counts as stale if the token's use is due to be recorded, since
 * actor_find does that. */
static bool still_true(void *data, const struct rows *rows)
{
	const struct actor *actor = data;

	return rows->count && row_int(rows, 0, "version") == actor->version && !row_bool(rows, 0, "stale");
}

static bool ask(struct store *store, struct actor *actor)
{
	return db_ahead(store->db, still_true, actor,
		"select v.version, coalesce(k.last_used_at < now() - interval '1 minute', true) as stale "
		"from tokens k, rights_version v where k.hash = $1 and (k.expired_at is null or k.expired_at > now())",
		P_TEXT(actor->hash));
}

bool auth_cache_take(struct store *store, const char *bearer, struct actor *ret_actor)
{
	char hash[SHA256_HEX_SIZE];
	struct actor *seen;

	if (!bearer)
		return false;
	crypto_sha256_hex(bearer, strlen(bearer), hash);
	seen = seen_at(cache_of_thread(), hash);
	if (!seen->version || !text_equal(seen->hash, hash) || seen->connection != db_connections(store->db))
		return false;
	*ret_actor = *seen;
	*seen = (struct actor){.kind = ACTOR_NONE};
	if (ask(store, ret_actor))
		return true;
	actor_release(ret_actor);
	*ret_actor = (struct actor){.kind = ACTOR_NONE};
	return false;
}

bool auth_cache_holds(struct store *store)
{
	return db_ahead_holds(store->db);
}

void auth_cache_put(struct actor *actor)
{
	struct actor *seen;

	if (!actor->version) {
		actor_release(actor);
	} else {
		seen = seen_at(cache_of_thread(), actor->hash);
		actor_release(seen);
		*seen = *actor;
	}
	*actor = (struct actor){.kind = ACTOR_NONE};
}

/* ---- organizations ---- */

/* Names are letters, digits, hyphens and underscores: the mask makes the hash independent of the case. */
static struct found *found_at(struct auth_cache *cache, const char *name)
{
	size_t sum = 0;

	for (; *name; name++)
		sum = sum * 31 + ((unsigned char)*name & 0x1f);
	return &cache->found[sum % MAX_ORGANIZATIONS];
}

bool auth_cache_organization(const struct actor *actor, const char *name, struct cached_organization *ret_organization)
{
	const struct found *found;

	if (!actor->version)
		return false;
	found = found_at(cache_of_thread(), name);
	if (found->version != actor->version || found->connection != actor->connection ||
		strcasecmp(found->organization.name, name) != 0)
		return false;
	*ret_organization = found->organization;
	return true;
}

void auth_cache_put_organization(const struct actor *actor, const struct cached_organization *organization)
{
	if (actor->version)
		*found_at(cache_of_thread(), organization->name) = (struct found){
			.organization = *organization, .version = actor->version, .connection = actor->connection};
}
