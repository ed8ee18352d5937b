/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_SITE_STATUS_H
#define SCHEDULER_STORE_SITE_STATUS_H

/* The state of the installation in one look, for operators. Reads all waiting and running jobs, all workers and the
 * outbox once. */

#include "scheduler/store/store.h"

/* The processes that were seen within a minute: kind, version, count, seen_at. */
int status_processes(struct store *store, struct rows *ret_rows, struct err *err);
/* The pools with jobs or live workers, and drained ones, those with most waiting jobs first: pool, waiting, running,
 * oldest_seconds (null: none waits), workers, slots, free, drained_at, run_limit (null: none). */
int status_pools(struct store *store, struct rows *ret_rows, struct err *err);
/* One row: outbox (rows), outbox_seconds (the oldest one's age; null: none), dead_letters, holds, oldest_run (the run
 * that waits longest for a worker, else for its turn; null: none). */
int status_totals(struct store *store, struct rows *ret_rows, struct err *err);

#endif
