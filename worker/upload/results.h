/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_UPLOAD_RESULTS_H
#define WORKER_UPLOAD_RESULTS_H

/*
 * Results of ended jobs, kept until the scheduler has confirmed them (proto/README).
 *
 * Each result is published to runyard.results. It is sent over HTTP instead in any of these cases:
 *  - there is no broker;
 *  - the broker does not accept it soon;
 *  - the scheduler still holds the attempt at a heartbeat some seconds later.
 *
 * A refused result is kept, and sent again after each heartbeat while the attempt is held.
 */

#include "common/loop/loop.h"
#include "proto/messages.h"

struct fetcher;
struct kafka_producer;
struct results;

struct results_spec {
	struct loop *loop;
	struct fetcher *fetcher;
	const char *scheduler_url;
	struct kafka_producer *producer; /* or NULL */
	void (*delivered)(void *data);   /* the broker or the scheduler has accepted a result; or NULL */
	/* The scheduler has that result, or no longer wants it; or NULL. `awaited`: the result came too late, and
	 * the scheduler waits for the attempt's last state. */
	void (*confirmed)(void *data, const char *job, int attempt, bool awaited);
	void *data;
};

/* Borrows what the spec points to. */
struct results *results_new(const struct results_spec *spec);
void results_free(struct results *results);

/* An attempt in a heartbeat's list. */
struct listed_attempt {
	const char *job, *token, *run;
	int attempt;
	bool applies;
};

typedef void (*listed_fn)(void *data, const struct listed_attempt *listed);

/* Publishes a result. `token` is the job's; copied. `applies`: the job is an apply that had begun. */
void results_add(struct results *results, const struct job_result *result, const char *token, bool applies);
/* The broker's delivery report for the message with this tag. */
void results_delivered(struct results *results, uint64_t tag, const char *error);
/* Handles what a heartbeat's answer says about an ended job: sends the result again if the attempt is still held,
 * and forgets it if not. False if there is no such result. */
bool results_heard(struct results *results, const char *job, int attempt, bool held, bool awaited);
/* Calls `each` for every kept result. */
void results_each(struct results *results, listed_fn each, void *data);
/* The number of kept results, and the number of those that neither the broker nor the scheduler has accepted yet. */
size_t results_kept(const struct results *results);
size_t results_undelivered(const struct results *results);
/* Sends all undelivered results over HTTP now. */
void results_hurry(struct results *results);

#endif
