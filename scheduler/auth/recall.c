/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/auth/recall.h"

#include <string.h>
#include <strings.h>

enum { MOST_SEEN = 256, MOST_ORGANIZATIONS = 64 };

struct found {
	struct recalled_organization organization;
	long long version; /* version of the rights before the lookup; 0: an empty entry */
	unsigned long long connection;
};

struct recall {
	struct actor seen[MOST_SEEN];
	struct found found[MOST_ORGANIZATIONS];
};

struct recall *recall_new(void)
{
	return mem_new(1, sizeof(struct recall));
}

void recall_free(struct recall *recall)
{
	for (size_t i = 0; recall && i < MOST_SEEN; i++)
		actor_release(&recall->seen[i]);
	free(recall);
}

/* The digest's first two digits serve as the hash of the entry. */
static struct actor *seen_at(struct recall *recall, const char *hash)
{
	char digits[3] = {hash[0], hash[1], '\0'};

	return &recall->seen[strtoul(digits, NULL, 16) % MOST_SEEN];
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

bool recall_take(struct store *store, const char *bearer, struct actor *ret_actor)
{
	char hash[SHA256_HEX_SIZE];
	struct actor *seen;

	if (!store->recall || !bearer)
		return false;
	crypto_sha256_hex(bearer, strlen(bearer), hash);
	seen = seen_at(store->recall, hash);
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

bool recall_holds(struct store *store)
{
	return db_ahead_holds(store->db);
}

void recall_put(struct store *store, struct actor *actor)
{
	struct actor *seen;

	if (!store->recall || !actor->version) {
		actor_release(actor);
	} else {
		seen = seen_at(store->recall, actor->hash);
		actor_release(seen);
		*seen = *actor;
	}
	*actor = (struct actor){.kind = ACTOR_NONE};
}

/* Names are letters, digits, hyphens and underscores: the mask makes the hash independent of the case. */
static struct found *found_at(struct recall *recall, const char *name)
{
	size_t sum = 0;

	for (; *name; name++)
		sum = sum * 31 + ((unsigned char)*name & 0x1f);
	return &recall->found[sum % MOST_ORGANIZATIONS];
}

bool recall_organization(struct store *store, const struct actor *actor, const char *name,
	struct recalled_organization *ret_organization)
{
	const struct found *found;

	if (!store->recall || !actor->version)
		return false;
	found = found_at(store->recall, name);
	if (found->version != actor->version || found->connection != actor->connection ||
		strcasecmp(found->organization.name, name) != 0)
		return false;
	*ret_organization = found->organization;
	return true;
}

void recall_put_organization(
	struct store *store, const struct actor *actor, const struct recalled_organization *organization)
{
	if (store->recall && actor->version)
		*found_at(store->recall, organization->name) = (struct found){
			.organization = *organization, .version = actor->version, .connection = actor->connection};
}
