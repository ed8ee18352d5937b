/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_RUNS_WAITING_RUN_WAITS_H
#define SCHEDULER_RUNS_WAITING_RUN_WAITS_H

/* Why runs wait, with the facts from the database: for the API, the pages, run events and logs. */

#include "scheduler/lifecycle/waiting/wait_text.h"
#include "scheduler/store/store.h"

struct run_waits_row;

enum { WAIT_TIME_SIZE = 40 };

struct run_wait {
	struct id run, job; /* job: the one that waits for a worker, or "" */
	enum wait_kind kind;
	struct wait_text text;      /* for the reader of store->scope */
	char since[WAIT_TIME_SIZE]; /* when it began to wait, as in the API; or "" */
	char eta[WAIT_TIME_SIZE];   /* when it is expected to go on, as in the API; "": unknown */
	long long position;         /* in the order of its pool's claims, from 1; 0: none, or beyond MAX_POSITION */
};

enum { MAX_POSITION = 1000 };

struct run_waits {
	struct run_wait *items; /* borrowed; room for `room` */
	size_t room, count;
};

/* Reads up to `room` of the runs into the list; unknown ids are skipped. The positions cost one read of the waiting
 * jobs of each pool, at most MAX_POSITION. */
int waits_read(struct store *store, struct db_array *run_ids, struct run_waits *waits, struct err *err);
/* The same in two parts, for a read among others: the rows are available later (db_ask). */
int waits_ask(struct store *store, struct db_array *run_ids, struct rows *ret_rows, struct err *err);
void wait_of_row(struct store *store, const struct run_waits_row *row, struct run_wait *ret_wait);

#endif
