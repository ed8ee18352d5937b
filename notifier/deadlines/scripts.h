/* SPDX-License-Identifier: MPL-2.0 */
#ifndef NOTIFIER_DEADLINES_SCRIPTS_H
#define NOTIFIER_DEADLINES_SCRIPTS_H

/*
 * The Lua scripts that keep deadlines in Redis. There are two sorted sets of task results, scored by the Redis
 * server's clock in milliseconds:
 *
 *  - waiting: the deadline has not passed yet;
 *  - fired: the deadline has passed, and a notifier has claimed it for the visibility time.
 *
 * A third key marks the sets as complete. It expires after a minute. The notifier whose claim finds it missing reads
 * all deadlines from the scheduler again.
 */

#include "common/base.h"

struct err;
struct redis;

/* A change: the deadline is `in_ms` from now; -1 removes it. */
struct deadline_change {
	char id[40];
	int64_t in_ms;
};

int scripts_change(struct redis *redis, const struct deadline_change *changes, size_t count, struct err *err);

enum { MAX_CLAIM = 500 };

struct deadline_claim {
	char due[MAX_CLAIM][40]; /* claimed by this notifier for the visibility time */
	size_t count;
	int64_t next_ms; /* until the next deadline; -1: there is none */
	bool list;       /* the sets may be incomplete, and this notifier must read the deadlines from the scheduler */
};

/* Claimed deadlines that are not changed within `visible_ms` are due again. The sets count as complete for
 * `whole_ms`. */
int scripts_claim(
	struct redis *redis, int64_t visible_ms, int64_t whole_ms, struct deadline_claim *ret_claim, struct err *err);
/* Reading from the scheduler failed: the next claim of any notifier returns `list` again. */
int scripts_unlisted(struct redis *redis, struct err *err);

#endif
