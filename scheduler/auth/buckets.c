/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/auth/buckets.h"

#include <pthread.h>
#include <string.h>

#include "common/crypto.h"

enum { SETS = 4096, WAYS = 8, LOCKS = 64, KEY_SIZE = 16 };

struct bucket {
	uint64_t key; /* 0: free */
	double level, at;
};

struct buckets {
	unsigned char secret[KEY_SIZE]; /* so that nobody can choose whom to share a set with */
	pthread_mutex_t locks[LOCKS];
	struct bucket sets[SETS][WAYS];
};

struct buckets *buckets_new(void)
{
	struct buckets *buckets = mem_new(1, sizeof(*buckets));

	crypto_random(buckets->secret, sizeof(buckets->secret));
	for (size_t i = 0; i < LOCKS; i++)
		pthread_mutex_init(&buckets->locks[i], NULL);
	return buckets;
}

void buckets_free(struct buckets *buckets)
{
	if (!buckets)
		return;
	for (size_t i = 0; i < LOCKS; i++)
		pthread_mutex_destroy(&buckets->locks[i]);
	free(buckets);
}

static uint64_t key_number(const struct buckets *buckets, const char *key)
{
	char hmac[SHA256_HEX_SIZE];
	uint64_t number;

	crypto_hmac_hex(buckets->secret, sizeof(buckets->secret), key, hmac);
	hmac[16] = '\0';
	number = strtoull(hmac, NULL, 16);
	return number ? number : 1;
}

static double bucket_level(const struct bucket *bucket, struct bucket_rate rate, double now)
{
	double level = bucket->level + (now - bucket->at) * rate.per_second;

	return level < rate.burst ? level : rate.burst;
}

/* The key's bucket, or a full one in the place of one that is free or nearly full. */
static struct bucket *bucket_find(struct bucket *set, uint64_t key, struct bucket_rate rate, double now)
{
	struct bucket *best = set;

	for (size_t i = 0; i < WAYS; i++) {
		if (set[i].key == key)
			return &set[i];
		if (best->key && (!set[i].key || bucket_level(&set[i], rate, now) > bucket_level(best, rate, now)))
			best = &set[i];
	}
	*best = (struct bucket){.key = key, .level = rate.burst, .at = now};
	return best;
}

static struct bucket_level bucket_change(
	struct buckets *buckets, const char *key, struct bucket_rate rate, double change, double now)
{
	uint64_t number = key_number(buckets, key);
	pthread_mutex_t *lock = &buckets->locks[number % LOCKS];
	struct bucket_level result;
	struct bucket *bucket;
	double level;

	pthread_mutex_lock(lock);
	bucket = bucket_find(buckets->sets[number % SETS], number, rate, now);
	level = bucket_level(bucket, rate, now);
	result.taken = level + change >= 0;
	if (result.taken)
		level = level + change < rate.burst ? level + change : rate.burst;
	bucket->level = level;
	bucket->at = now;
	pthread_mutex_unlock(lock);
	result.left = level;
	result.wait = level >= 1 ? 0 : (1 - level) / rate.per_second;
	return result;
}

struct bucket_level bucket_take(struct buckets *buckets, const char *key, struct bucket_rate rate, double now)
{
	return bucket_change(buckets, key, rate, -1, now);
}

void bucket_return(struct buckets *buckets, const char *key, struct bucket_rate rate, double now)
{
	bucket_change(buckets, key, rate, 1, now);
}
