/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_AUTH_BUCKETS_H
#define SCHEDULER_AUTH_BUCKETS_H

/*
 * Token buckets by key, for one process: with several schedulers each counts for itself. Each limit has a table and a
 * rate of its own, so no key of one limit can displace a bucket of another. A table has a fixed size. A new key in a
 * full set displaces the bucket with the most tokens left, which is the key that did the least. Any thread may call.
 */

#include "common/base.h"

struct buckets;

enum limit {
	LIMIT_TOKENS,          /* requests of a token or session that has authenticated */
	LIMIT_ADDRESSES,       /* requests of an address without such a token */
	LIMIT_REFUSALS,        /* refused tokens of an address that the audit trail notes */
	LIMIT_SIGN_IN_ADDRESS, /* sign-in attempts from an address */
	LIMIT_SIGN_IN_PAIR,    /* sign-in attempts from an address with a name */
	LIMIT_SIGN_IN_NAME,    /* sign-in attempts with a name, from all addresses */
	LIMIT_PASSWORD_CHANGE, /* current passwords that a user shows in order to change it */
	LIMITS
};

struct bucket_rate {
	double per_second, burst;
};

struct bucket_level {
	bool taken;
	double left; /* whole ones may be taken at once */
	double wait; /* seconds until another one may be taken */
};

/* `requests` is the rate of LIMIT_TOKENS and LIMIT_ADDRESSES in requests a second; the other rates are fixed. */
struct buckets *buckets_new(long long requests);
void buckets_free(struct buckets *buckets);
/* From now on. */
void buckets_set_requests(struct buckets *buckets, long long requests);
/* Takes one from the key's bucket, which begins full. `now` is in seconds of a clock that never goes back. */
struct bucket_level bucket_take(struct buckets *buckets, enum limit limit, const char *key, double now);
/* The same, but makes no bucket: false, with *ret_level untouched, if the key has none. */
bool bucket_take_known(
	struct buckets *buckets, enum limit limit, const char *key, double now, struct bucket_level *ret_level);
/* Gives one back. */
void bucket_return(struct buckets *buckets, enum limit limit, const char *key, double now);

#endif
