/* SPDX-License-Identifier: MPL-2.0 */
#ifndef NOTIFIER_DEADLINES_SCRIPTS_H
#define NOTIFIER_DEADLINES_SCRIPTS_H

/*
 * What happens to the deadlines inside Redis. Two sorted sets of task results by the server's own time in milliseconds:
 * those that wait for their deadline, and those that fired and are some notifier's to report for a while. A third key
 * says that the sets are whole: it lives for a minute, and whoever finds it gone reads all from the scheduler again.
 */

#include "common/base.h"

struct err;
struct redis;

/* A change: the deadline is that far away from now, or (-1) there is none. */
struct deadline_change {
	char id[40];
	int64_t in_ms;
};

int scripts_change(struct redis *redis, const struct deadline_change *changes, size_t count, struct err *err);

enum { CLAIM_MOST = 500 };

struct deadline_claim {
	char due[CLAIM_MOST][40]; /* this notifier's to report within the visibility time */
	size_t count;
	int64_t next_ms; /* until the next deadline; -1: there is none */
	bool list;       /* the sets may lack some, and this notifier is to read them from the scheduler */
};

/* `visible_ms` later what was claimed and not changed since is due again; `whole_ms` later the sets are listed again.
 */
int scripts_claim(
	struct redis *redis, int64_t visible_ms, int64_t whole_ms, struct deadline_claim *ret_claim, struct err *err);
/* Reading from the scheduler failed: the next claim of any notifier says `list` again. */
int scripts_unlisted(struct redis *redis, struct err *err);

#endif
