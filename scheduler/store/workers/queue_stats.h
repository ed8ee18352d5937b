/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_WORKERS_QUEUE_STATS_H
#define SCHEDULER_STORE_WORKERS_QUEUE_STATS_H

/* The queue of an organization or of the site: numbers, their samples of the last day, pools, pending runs. */

#include "scheduler/store/store.h"

/* Takes the samples of the current minute, unless another scheduler has, and deletes those of more than a day ago.
 * Reads the live runs, the runs that ended in the last hour, and a bounded number of recent runs. */
int queue_sample(struct store *store, struct err *err);

/* All of these take the organization's id, or NULL for the site. */

/* One row: pending, running, deciding, slots, oldest_seconds, start_p50, start_p95, errors, as in queue_samples. For
 * the site also outbox, outbox_seconds, and notifier_backlog: requests and messages that no notifier has sent. */
int queue_numbers(struct store *store, const char *organization_id, struct rows *ret_rows, struct err *err);
/* The samples of the last 24 hours, the oldest first, at most 1,440: the same columns and `minute`, in seconds since
 * 1970. */
int queue_samples_read(struct store *store, const char *organization_id, struct rows *ret_rows, struct err *err);
/* Pools that the organization's runs can use, at most 200: id, name, shared, slots, busy, waiting, workers, drained. */
int queue_pools(struct store *store, const char *organization_id, struct rows *ret_rows, struct err *err);

struct queue_page {
	const char *organization_id;
	long long limit, offset;
};
/* Pending runs that the requester may read, the oldest first: total, id (null on an empty page), workspace_id,
 * workspace_name, organization_name, status, message, created_at. */
int queue_pending(struct store *store, const struct queue_page *page, struct rows *ret_rows, struct err *err);

#endif
