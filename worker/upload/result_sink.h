/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_UPLOAD_RESULT_SINK_H
#define WORKER_UPLOAD_RESULT_SINK_H

/*
 * The way of the results of ended jobs to the scheduler. Each is kept until the scheduler has confirmed it
 * (proto/README).
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
struct kafka_sender;
struct result_sink;

struct result_sink_spec {
	struct loop *loop;
	struct fetcher *fetcher;
	const char *scheduler_url;
	struct kafka_sender *sender;   /* to Kafka, or NULL */
	void (*delivered)(void *data); /* the broker or the scheduler has accepted a result; or NULL */
	/* The scheduler has that result, or no longer wants it; or NULL. `awaited`: the result came too late, and
	 * the scheduler waits for the attempt's last state. */
	void (*confirmed)(void *data, const char *job, int attempt, bool awaited);
	void *data;
};

/* Borrows what the spec points to. */
struct result_sink *result_sink_new(const struct result_sink_spec *spec);
void result_sink_free(struct result_sink *sink);

/* An attempt in a heartbeat's list. */
struct listed_attempt {
	const char *job, *token, *run;
	int attempt;
	bool applies;
};

typedef void (*listed_fn)(void *data, const struct listed_attempt *listed);

/* Publishes a result. `token` is the job's; copied. `applies`: the job is an apply that had begun. */
void result_sink_add(struct result_sink *sink, const struct job_result *result, const char *token, bool applies);
/* The broker's delivery report for the message with this tag. */
void result_sink_delivered(struct result_sink *sink, uint64_t tag, const char *error);
/* Handles what a heartbeat's answer says about an ended job: sends the result again if the attempt is still held,
 * and forgets it if not. False if there is no such result. */
bool result_sink_heard(struct result_sink *sink, const char *job, int attempt, bool held, bool awaited);
/* Calls `each` for every kept result. */
void result_sink_each(struct result_sink *sink, listed_fn each, void *data);
/* The number of kept results, and the number of those that neither the broker nor the scheduler has accepted yet. */
size_t result_sink_kept(const struct result_sink *sink);
size_t result_sink_undelivered(const struct result_sink *sink);
/* Sends all undelivered results over HTTP now. */
void result_sink_hurry(struct result_sink *sink);

#endif
