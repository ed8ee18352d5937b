/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/auth/buckets.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "common/crypto.h"

enum { SETS = 4096, WAYS = 8, LOCKS = 64, KEY_SIZE = 16, BURST_SECONDS = 2 };

/*
 * An attacker at one address can make at most 10 attempts with a name, then 2 a minute. LIMIT_SIGN_IN_NAME refills with
 * 10 a minute, so one address can never empty it for others.
 */
static const struct bucket_rate fixed_rates[LIMITS] = {
	[LIMIT_REFUSALS] = {.per_second = 1.0 / 60, .burst = 5},
	[LIMIT_SIGN_IN_ADDRESS] = {.per_second = 0.5, .burst = 30},
	[LIMIT_SIGN_IN_PAIR] = {.per_second = 1.0 / 30, .burst = 10},
	[LIMIT_SIGN_IN_NAME] = {.per_second = 1.0 / 6, .burst = 100},
	[LIMIT_SIGN_IN_BEGIN] = {.per_second = 5, .burst = 200}, /* an office can share an address */
	[LIMIT_HOOKS] = {.per_second = 50, .burst = 500},
	[LIMIT_HOOK_FAILURES] = {.per_second = 2, .burst = 200},
	[LIMIT_PASSWORD_CHANGE] = {.per_second = 1.0 / 30, .burst = 10},
	[LIMIT_RESET_ADDRESS] = {.per_second = 1.0 / 60, .burst = 10},
	[LIMIT_RESET_NAME] = {.per_second = 1.0 / 600, .burst = 3},
};

struct bucket {
	uint64_t key; /* 0: free */
	double level, at;
};

struct table {
	pthread_mutex_t locks[LOCKS];
	struct bucket sets[SETS][WAYS];
};

struct buckets {
	unsigned char secret[KEY_SIZE]; /* keeps the set of a key unpredictable */
	_Atomic long long requests;
	struct table tables[LIMITS];
};

struct buckets *buckets_new(long long requests)
{
	struct buckets *buckets = mem_new(1, sizeof(*buckets));

	crypto_random(buckets->secret, sizeof(buckets->secret));
	atomic_store(&buckets->requests, requests);
	for (size_t i = 0; i < LIMITS; i++) {
		struct table *table = &buckets->tables[i];

		for (size_t j = 0; j < LOCKS; j++)
			pthread_mutex_init(&table->locks[j], NULL);
	}
	return buckets;
}

void buckets_free(struct buckets *buckets)
{
	for (size_t i = 0; buckets && i < LIMITS; i++)
		for (size_t j = 0; j < LOCKS; j++)
			pthread_mutex_destroy(&buckets->tables[i].locks[j]);
	free(buckets);
}

static uint64_t key_number(const struct buckets *buckets, const char *key)
{
	unsigned char digest[SHA256_SIZE];
	uint64_t number;

	crypto_hmac(buckets->secret, sizeof(buckets->secret), key, digest);
	memcpy(&number, digest, sizeof(number));
	return number ? number : 1;
}

void buckets_set_requests(struct buckets *buckets, long long requests)
{
	atomic_store_explicit(&buckets->requests, requests, memory_order_relaxed);
}

static struct bucket_rate rate_of(struct buckets *buckets, enum limit limit)
{
	double requests = (double)atomic_load_explicit(&buckets->requests, memory_order_relaxed);

	if (fixed_rates[limit].burst > 0)
		return fixed_rates[limit];
	return (struct bucket_rate){.per_second = requests, .burst = requests * BURST_SECONDS};
}

static double level_at(const struct bucket *bucket, struct bucket_rate rate, double now)
{
	double level = bucket->level + (now - bucket->at) * rate.per_second;

	return level < rate.burst ? level : rate.burst;
}

static struct bucket *bucket_find(struct bucket *set, uint64_t key)
{
	for (size_t i = 0; i < WAYS; i++)
		if (set[i].key == key)
			return &set[i];
	return NULL;
}

/* Adds a full bucket in a free place, or in the place of the bucket with the most tokens left. */
static struct bucket *bucket_add(struct bucket *set, uint64_t key, struct bucket_rate rate, double now)
{
	struct bucket *place = set;

	for (size_t i = 0; i < WAYS && place->key; i++)
		if (!set[i].key || level_at(&set[i], rate, now) > level_at(place, rate, now))
			place = &set[i];
	*place = (struct bucket){.key = key, .level = rate.burst, .at = now};
	return place;
}

static struct bucket_level bucket_change(struct bucket *bucket, struct bucket_rate rate, double change, double now)
{
	double level = level_at(bucket, rate, now);
	bool taken = level + change >= 0;

	if (taken)
		level = level + change < rate.burst ? level + change : rate.burst;
	bucket->level = level;
	bucket->at = now;
	return (struct bucket_level){
		.taken = taken, .left = level, .wait = level >= 1 ? 0 : (1 - level) / rate.per_second};
}

struct change {
	enum limit limit;
	const char *key;
	double by, now;
	bool adds; /* creates a bucket for a key that has none */
};

static bool table_change(struct buckets *buckets, struct change change, struct bucket_level *ret_level)
{
	struct table *table = &buckets->tables[change.limit];
	uint64_t number = key_number(buckets, change.key);
	pthread_mutex_t *lock = &table->locks[number % LOCKS];
	struct bucket_rate rate = rate_of(buckets, change.limit);
	struct bucket *bucket;

	pthread_mutex_lock(lock);
	bucket = bucket_find(table->sets[number % SETS], number);
	if (!bucket && change.adds)
		bucket = bucket_add(table->sets[number % SETS], number, rate, change.now);
	if (bucket)
		*ret_level = bucket_change(bucket, rate, change.by, change.now);
	pthread_mutex_unlock(lock);
	return bucket;
}

struct bucket_level bucket_take(struct buckets *buckets, enum limit limit, const char *key, double now)
{
	struct bucket_level level = {.taken = false};

	table_change(buckets, (struct change){.limit = limit, .key = key, .by = -1, .now = now, .adds = true}, &level);
	return level;
}

bool bucket_take_known(
	struct buckets *buckets, enum limit limit, const char *key, double now, struct bucket_level *ret_level)
{
	return table_change(buckets, (struct change){.limit = limit, .key = key, .by = -1, .now = now}, ret_level);
}

struct bucket_level bucket_look(struct buckets *buckets, enum limit limit, const char *key, double now)
{
	struct bucket_level level = {.left = rate_of(buckets, limit).burst};

	table_change(buckets, (struct change){.limit = limit, .key = key, .now = now}, &level);
	return level;
}

void bucket_return(struct buckets *buckets, enum limit limit, const char *key, double now)
{
	struct bucket_level ignored;

	table_change(buckets, (struct change){.limit = limit, .key = key, .by = 1, .now = now}, &ignored);
}
