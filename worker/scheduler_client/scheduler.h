/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_SCHEDULER_CLIENT_SCHEDULER_H
#define WORKER_SCHEDULER_CLIENT_SCHEDULER_H

/*
 * The worker's own requests to the scheduler (/api/worker/v1, proto/README.md): registration, claims, heartbeats and
 * long polls. Requests of a job use its token (upload/channel.h). Only the scheduler's own answers count
 * (common/http/origin.h).
 */

#include "common/http/fetch.h"
#include "common/json/json.h"

struct scheduler;

struct scheduler_spec {
	struct fetcher *fetcher;
	const char *url, *pool_token; /* borrowed */
	/* An answer says that the scheduler does not know this worker: it has to register again. */
	void (*forgotten)(void *data);
	/* An answer refuses the pool's token for good. Called once. */
	void (*refused)(void *data);
	void *data;
};

struct scheduler *scheduler_new(const struct scheduler_spec *spec);
void scheduler_free(struct scheduler *scheduler);

struct scheduler_call {
	const char *path;
	json_t *body;    /* consumed */
	bool own_token;  /* the worker's own token, which works even if the pool's is revoked; else the pool's */
	long timeout_ms; /* 0: that of a usual call */
	bool introduces; /* fetch.h */
};

/* The timeout of a long poll, which the scheduler may hold for most of a minute. */
enum { SCHEDULER_POLL_MS = 40 * 1000 };

/* POST. The handle is fetch_start's. */
struct fetch *scheduler_post(struct scheduler *scheduler, const struct scheduler_call *call, fetch_fn fn, void *data);

/* The worker's id, or NULL if it is not registered. Borrowed. */
const char *scheduler_worker(const struct scheduler *scheduler);
/* The worker has registered: its id and its own token. */
void scheduler_registered(struct scheduler *scheduler, const char *worker, const char *token);
/* True if the worker is registered and its last call succeeded. For any thread. */
bool scheduler_ready(const struct scheduler *scheduler);

/* Handles an answer's status and returns true for a success. */
bool scheduler_heard(struct scheduler *scheduler, const struct fetch_answer *answer);
/* Handles the answer of a registration that failed. False if the scheduler refuses this worker for good. */
bool scheduler_failed(struct scheduler *scheduler, const struct fetch_answer *answer);

#endif
