/* SPDX-License-Identifier: MPL-2.0 */
#ifndef NOTIFIER_SCHEDULER_CLIENT_SCHEDULER_H
#define NOTIFIER_SCHEDULER_CLIENT_SCHEDULER_H

/* Calls to the scheduler's /api/notifier/v1 (proto/README.md). */

#include <stdatomic.h>

#include "common/http/fetch.h"
#include "common/http/origin.h"
#include "common/json/json.h"

struct loop;

struct scheduler {
	struct loop *loop;       /* borrowed */
	const char *url, *token; /* borrowed */
	struct fetcher *fetcher;
	struct origin origin; /* only the scheduler's own answers count */
	atomic_bool answers;  /* the last call succeeded; for any thread */
	bool away;            /* the log says that it does not answer */
};

/* The scheduler must not move until scheduler_release. */
void scheduler_init(struct scheduler *scheduler, struct loop *loop, const char *url, const char *token);
void scheduler_release(struct scheduler *scheduler);

/* POST /api/notifier/v1/<path> with a JSON body, which is copied. fn is called once, from the loop. */
struct fetch *scheduler_post(
	struct scheduler *scheduler, const char *path, const struct buf *body, fetch_fn fn, void *data);
/* The same with a JSON value. Takes `body`. */
struct fetch *scheduler_post_json(struct scheduler *scheduler, const char *path, json_t *body, fetch_fn fn, void *data);
/* The same for a long poll, which the scheduler may hold for most of a minute. */
struct fetch *scheduler_poll_json(struct scheduler *scheduler, const char *path, json_t *body, fetch_fn fn, void *data);
struct fetch *scheduler_get(struct scheduler *scheduler, const char *path, fetch_fn fn, void *data);

/* Returns true for a 2xx. Other answers are logged once until the scheduler answers again. */
bool scheduler_heard(struct scheduler *scheduler, const struct fetch_answer *answer);
/* The JSON of a 2xx, a new reference. NULL after scheduler_heard has logged the reason. */
json_t *scheduler_answer(struct scheduler *scheduler, const struct fetch_answer *answer);

#endif
