/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_OUTBOX_CLAIM_WAITERS_H
#define SCHEDULER_OUTBOX_CLAIM_WAITERS_H

/*
 * Long polls of workers that have a free slot (`POST wait` in proto/README.md). Each worker has at most one request
 * open. A job that commits ends the oldest wait of its pool. If this scheduler has no wait of that pool, it notifies
 * the other schedulers with PostgreSQL's NOTIFY. So the cost of a job does not depend on the number of waits, and open
 * waits add no load.
 *
 * The end of a wait only asks the worker to claim; it assigns no job. So no job is lost if the worker has disconnected
 * or claims too late. A job that is still unclaimed a moment later ends other waits (claim_waiters_look).
 */

#include "common/base.h"

struct db;
struct rows;
struct err;
struct claim_waiters;

struct wait_spec {
	const char *pool_id, *worker_id; /* copied */
	/* Called once, from any thread: `jobs` is true if a job waits, false on a timeout. */
	void (*end)(void *data, bool jobs);
	void *data;
};

/* Reads the pools with jobs that have waited for that time and could start: the shape `waiting_pool`. */
typedef int (*claim_waiters_look_fn)(struct db *db, int still_ms, struct rows *ret_rows, struct err *err);
/* Starts the thread that listens for notices of other schedulers. While a wait is open, it looks for jobs that were
 * missed. */
int claim_waiters_start(
	const char *database_url, claim_waiters_look_fn look, struct claim_waiters **ret_waits, struct err *err);
/* Ends all waits, and accepts no more. Jobs that commit later still notify the other schedulers. */
void claim_waiters_close(struct claim_waiters *waiters);
/* The same, and ends the thread. NULL-safe. */
void claim_waiters_stop(struct claim_waiters *waiters);
/* Call after claim_waiters_stop, when no thread can call this module any more. NULL-safe. */
void claim_waiters_free(struct claim_waiters *waiters);

/* Call before checking the database for waiting jobs, and pass the result to claim_waiters_begin: it then detects jobs
 * that committed in between. */
uint64_t claim_waiters_mark(struct claim_waiters *waiters);
/* Returns true if no more waits are accepted. */
bool claim_waiters_full(struct claim_waiters *waiters);
/* Begins a wait, and ends an earlier wait of the same worker. May call spec->end before it returns. */
void claim_waiters_begin(struct claim_waiters *waiters, const struct wait_spec *spec, uint64_t mark);
/* Ends the wait of a worker that has left. */
void claim_waiters_forget(struct claim_waiters *waiters, const char *worker_id);
/* Call when a job of the pool has committed and can be claimed. Never blocks. */
void claim_waiters_wake(struct claim_waiters *waiters, const char *pool_id);
/* The same when the open transaction has committed. NULL-safe. */
void claim_waiters_wake_later(struct claim_waiters *waiters, struct db *db, const char *pool_id);
/* When the open transaction has committed, ends all waits of the pool on all schedulers, so that the workers
 * authenticate again: some may have lost their permission. */
void claim_waiters_dismiss(struct claim_waiters *waiters, struct db *db, const char *pool_id);

#endif
