/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_AUTH_BUCKETS_H
#define SCHEDULER_AUTH_BUCKETS_H

/*
 * Token buckets by key, for one process: each scheduler counts by itself. Each limit has a table and a rate of its own,
 * so no key of one limit can displace a bucket of another. A table has a fixed size. A new key in a full set displaces
 * the bucket with the most tokens left, that of the least active key. Thread-safe.
 */

#include "common/base.h"

struct buckets;

enum limit {
	LIMIT_TOKENS,          /* requests with a valid token or session */
	LIMIT_ADDRESSES,       /* requests of an address without one */
	LIMIT_REFUSALS,        /* refused tokens of an address, as far as they are audited */
	LIMIT_SIGN_IN_ADDRESS, /* sign-in attempts from an address */
	LIMIT_SIGN_IN_PAIR,    /* sign-in attempts from an address with a name */
	LIMIT_SIGN_IN_NAME,    /* sign-in attempts with a name, from all addresses */
	LIMIT_SIGN_IN_BEGIN,   /* sign-ins at identity providers that an address begins */
	LIMIT_HOOKS,           /* deliveries to a hook of a repository */
	LIMIT_HOOK_FAILURES,   /* deliveries of an address that prove nothing */
	LIMIT_PASSWORD_CHANGE, /* checks of a user's current password for a change */
	LIMIT_RESET_ADDRESS,   /* mails with a link that sets a password, asked for from an address */
	LIMIT_RESET_NAME,      /* the same for a name or an e-mail address */
	LIMITS
};

struct bucket_rate {
	double per_second, burst;
};

struct bucket_level {
	bool taken;
	double left; /* whole tokens can be taken at once */
	double wait; /* seconds until the next can be taken */
};

/* `requests` is the rate of LIMIT_TOKENS and LIMIT_ADDRESSES in requests a second; the other rates are fixed. */
struct buckets *buckets_new(long long requests);
void buckets_free(struct buckets *buckets);
/* Changes that rate from now on. */
void buckets_set_requests(struct buckets *buckets, long long requests);
/* Takes one token from the key's bucket, which starts full. `now` is in seconds of a monotonic clock. */
struct bucket_level bucket_take(struct buckets *buckets, enum limit limit, const char *key, double now);
/* The same, but creates no bucket: returns false, with *ret_level unchanged, if the key has none. */
bool bucket_take_known(
	struct buckets *buckets, enum limit limit, const char *key, double now, struct bucket_level *ret_level);
/* Reads the key's level. `taken` does not matter. */
struct bucket_level bucket_look(struct buckets *buckets, enum limit limit, const char *key, double now);
/* Returns one token to the bucket. */
void bucket_return(struct buckets *buckets, enum limit limit, const char *key, double now);

#endif
