/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_DISPATCH_WAITS_H
#define SCHEDULER_DISPATCH_WAITS_H

/*
 * Workers that have a slot free and wait for a job of their pool, each with one request that is not answered yet
 * (proto/README.md, `POST wait`). A job that commits ends one wait of its pool, the oldest: here, or, if nobody waits
 * here, at the other schedulers, which are told by PostgreSQL's NOTIFY. So what a job costs does not grow with how many
 * wait, and who waits costs nothing.
 *
 * A wait that ends says that the worker should claim, and gives it nothing: whoever is gone without a word (or claims
 * too late) has lost no job. What is still not claimed a moment later ends other waits (waits_look).
 */

#include "common/base.h"

struct db;
struct err;
struct waits;

struct wait_spec {
	const char *pool_id, *worker_id; /* copied */
	/* Called once, from any thread: with true if a job waits, with false after a while. */
	void (*end)(void *data, bool jobs);
	void *data;
};

/* Starts the thread that listens to other schedulers. */
int waits_start(const char *database_url, struct waits **ret_waits, struct err *err);
/* Ends all waits; what is begun later ends at once. NULL-safe. */
void waits_stop(struct waits *waits);
/* After waits_stop, once nobody can call anything here any more. NULL-safe. */
void waits_free(struct waits *waits);

/* To be asked for before looking in the database whether a job waits, and given to waits_begin afterwards: what commits
 * in between is not missed. */
uint64_t waits_mark(struct waits *waits);
/* True if as many wait as may. */
bool waits_full(struct waits *waits);
/* Another wait of the same worker ends. May call spec->end itself. */
void waits_begin(struct waits *waits, const struct wait_spec *spec, uint64_t mark);
/* The worker has left: nobody tells it anything. */
void waits_forget(struct waits *waits, const char *worker_id);
/* A job of the pool has committed, and is to be claimed. Never blocks. */
void waits_wake(struct waits *waits, const char *pool_id);
/* Once the transaction that goes on has committed: the workers of the pool, at all schedulers, are to ask again, since
 * some may have lost the right to it. */
void waits_dismiss(struct waits *waits, struct db *db, const char *pool_id);

#endif
