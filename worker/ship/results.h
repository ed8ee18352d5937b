/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_SHIP_RESULTS_H
#define WORKER_SHIP_RESULTS_H

/*
 * Results of jobs that have ended, kept until the scheduler is known to have them (proto/README). Each goes to
 * runyard.results; it goes over HTTP instead if there is no broker, if the broker doesn't take it soon, or if the
 * scheduler still holds the attempt at a heartbeat some seconds later. A result that the scheduler refuses is kept, and
 * sent again after each heartbeat for as long as the attempt is held.
 */

#include "common/loop.h"
#include "proto/messages.h"

struct fetcher;
struct kafka_producer;
struct results;

struct results_spec {
	struct loop *loop;
	struct fetcher *fetcher;
	const char *scheduler_url;
	struct kafka_producer *producer; /* or NULL */
	void (*delivered)(void *data);   /* the broker or the scheduler took one; or NULL */
	/* The scheduler has that result, or does not want it any more; or NULL. `awaited`: it came too late, and what
	 * is waited for is that the attempt's last state is there. */
	void (*confirmed)(void *data, const char *job, int attempt, bool awaited);
	void *data;
};

/* Borrows what the spec points to. */
struct results *results_new(const struct results_spec *spec);
void results_free(struct results *results);

/* An attempt that a heartbeat lists. */
struct listed_attempt {
	const char *job, *token, *run;
	int attempt;
	bool applies;
};

typedef void (*listed_fn)(void *data, const struct listed_attempt *listed);

/* Publishes it. `token` is the job's; copied. `applies`: an apply that had begun. */
void results_add(struct results *results, const struct job_result *result, const char *token, bool applies);
/* The broker's delivery report of a message that was produced with this tag. */
void results_delivered(struct results *results, uint64_t tag, const char *error);
/* What a heartbeat said about an ended job: sent again if it is still held, forgotten if not. False: no such result. */
bool results_heard(struct results *results, const char *job, int attempt, bool held, bool awaited);
/* Calls back for every result that is kept. */
void results_each(struct results *results, listed_fn each, void *data);
/* How many are kept, and how many of them neither the broker nor the scheduler has taken yet. */
size_t results_kept(const struct results *results);
size_t results_undelivered(const struct results *results);
/* Sends all of the latter over HTTP now. */
void results_hurry(struct results *results);

#endif
