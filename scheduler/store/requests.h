/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_REQUESTS_H
#define SCHEDULER_STORE_REQUESTS_H

/*
 * HTTP requests that notifiers send for the scheduler: calls of run tasks (rows of task_results,
 * store/tasks/task_calls.h), notifications (store/notifications/notifications.h) and calls of VCS providers
 * (store/vcs/calls/calls.h). The tables have the same columns for delivery: delivery (waiting, claimed), attempt,
 * notifier, lease_until, give_up_at. proto/README.md defines the messages of notifiers. Arrays have the order and form
 * given there. Each response is a new reference.
 */

#include "scheduler/store/request_claim.h"

enum { MAX_REQUESTS_CLAIMED = 200 };

int requests_claim(struct store *store, const struct request_claim *claim, json_t **ret_requests, struct err *err);
/* Renews the leases that the notifier holds. *ret_held says for each request whether the notifier holds it. */
int requests_beat(struct store *store, const char *notifier, const json_t *held, json_t **ret_held, struct err *err);
/* Returns requests, so that other notifiers can claim them. */
int requests_release(struct store *store, const char *notifier, const json_t *released, struct err *err);

/* Whether one of the ids (strings, or objects with "id") has that prefix. */
bool requests_have(const json_t *ids, const char *prefix);

#endif
