/* SPDX-License-Identifier: MPL-2.0 */
#ifndef NOTIFIER_SCHEDULER_CLIENT_SCHEDULER_H
#define NOTIFIER_SCHEDULER_CLIENT_SCHEDULER_H

/* Calls to the scheduler's /api/notifier/v1 (proto/README.md). */

#include "common/http/fetch.h"
#include "common/json/json.h"

struct notifier;

/* POST /api/notifier/v1/<path> with a JSON body, which is copied. fn is called once, from the loop. */
struct fetch *scheduler_post(
	struct notifier *notifier, const char *path, const char *body, size_t len, fetch_fn fn, void *data);
/* The same with a JSON value. Takes `body`. */
struct fetch *scheduler_post_json(struct notifier *notifier, const char *path, json_t *body, fetch_fn fn, void *data);
struct fetch *scheduler_get(struct notifier *notifier, const char *path, fetch_fn fn, void *data);

/* Returns true for a 2xx. Other answers are logged once until the scheduler answers again, and the process is not
 * ready meanwhile. */
bool scheduler_heard(struct notifier *notifier, const struct fetch_answer *answer);
/* The JSON of a 2xx, a new reference. NULL after scheduler_heard has logged the reason. */
json_t *scheduler_answer(struct notifier *notifier, const struct fetch_answer *answer);

#endif
