/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/events/channels.h"

#include "common/crypto.h"

enum { LISTS = 32768 };

struct channel {
	char key[ID_SIZE];
	struct subscription *first;
	struct channel *next;
};

struct channels {
	uint64_t seed; /* keeps the list of a key unpredictable */
	struct channel *lists[LISTS];
};

struct channels *channels_new(void)
{
	struct channels *channels = mem_new(1, sizeof(*channels));

	crypto_random(&channels->seed, sizeof(channels->seed));
	return channels;
}

void channels_free(struct channels *channels)
{
	free(channels);
}

/* FNV-1a. Returns the place of the pointer to the key's channel. */
static struct channel **channel_at(struct channels *channels, const char *key)
{
	uint64_t sum = channels->seed;
	struct channel **at;

	for (const char *c = key; *c; c++)
		sum = (sum ^ (unsigned char)*c) * 0x100000001b3;
	at = &channels->lists[(sum >> 32) % LISTS];
	while (*at && !text_equal((*at)->key, key))
		at = &(*at)->next;
	return at;
}

void channels_add(struct channels *channels, struct subscription *subscription, const char *key)
{
	struct channel **at = channel_at(channels, key);

	if (!*at) {
		*at = mem_new(1, sizeof(**at));
		text_copy((*at)->key, sizeof((*at)->key), key);
	}
	text_copy(subscription->key, sizeof(subscription->key), key);
	subscription->previous = NULL;
	subscription->next = (*at)->first;
	if (subscription->next)
		subscription->next->previous = subscription;
	(*at)->first = subscription;
}

void channels_remove(struct channels *channels, struct subscription *subscription)
{
	struct channel **at, *channel;

	if (!subscription->key[0])
		return;
	at = channel_at(channels, subscription->key);
	channel = *at;
	*(subscription->previous ? &subscription->previous->next : &channel->first) = subscription->next;
	if (subscription->next)
		subscription->next->previous = subscription->previous;
	subscription->key[0] = '\0';
	if (channel->first)
		return;
	*at = channel->next;
	free(channel);
}

struct subscription *channels_first(const struct channels *channels, const char *key)
{
	const struct channel *channel = *channel_at((struct channels *)(uintptr_t)channels, key);

	return channel ? channel->first : NULL;
}
