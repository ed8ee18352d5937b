/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_REQUESTS_H
#define SCHEDULER_STORE_REQUESTS_H

/*
 * Requests that notifiers send for us, of both kinds: run tasks' (rows of task_results, store/task_calls.h) and
 * notifications (store/notifications.h). Both tables have the same columns for it: delivery (waiting, claimed),
 * attempt, notifier, lease_until, give_up_at. What notifiers ask and report is in proto/README.md; arrays come and go
 * in the order and form that page has, and each answer is a new reference.
 */

#include "scheduler/store/store.h"

enum { MOST_REQUESTS_CLAIMED = 200 };

struct request_claim {
	const char *notifier;
	const char *callback_url; /* base of the callbacks' addresses */
	const json_t *ids;        /* none: the oldest that wait */
	int most;
};

int requests_claim(struct store *store, const struct request_claim *claim, json_t **ret_requests, struct err *err);
/* Adds to the lease of those that are the notifier's; says of each whether it is. */
int requests_beat(struct store *store, const char *notifier, const json_t *held, json_t **ret_held, struct err *err);
/* Puts requests back for other notifiers. */
int requests_release(struct store *store, const char *notifier, const json_t *released, struct err *err);

/* Whether one of the ids (texts, or objects with "id") has that prefix. */
bool requests_have(const json_t *ids, const char *prefix);

#endif
