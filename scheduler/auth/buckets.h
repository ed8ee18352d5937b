/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_AUTH_BUCKETS_H
#define SCHEDULER_AUTH_BUCKETS_H

/*
 * Token buckets by key ("token:<hash>", "address:127.0.0.1"), for one process: with several schedulers each counts for
 * itself. The table has a fixed size. When a key finds no room, the fullest bucket near it makes way, which forgets
 * whoever did the least. Any thread may call.
 */

#include "common/base.h"

struct buckets;

struct bucket_rate {
	double per_second, burst;
};

struct bucket_level {
	bool taken;
	double left; /* whole ones may be taken at once */
	double wait; /* seconds until another one may be taken */
};

struct buckets *buckets_new(void);
void buckets_free(struct buckets *buckets);
/* Takes one. `now` are seconds of a clock that never goes back. */
struct bucket_level bucket_take(struct buckets *buckets, const char *key, struct bucket_rate rate, double now);
/* Gives one back. */
void bucket_return(struct buckets *buckets, const char *key, struct bucket_rate rate, double now);

#endif
