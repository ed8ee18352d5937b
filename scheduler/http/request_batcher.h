/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_HTTP_REQUEST_BATCHER_H
#define SCHEDULER_HTTP_REQUEST_BATCHER_H

/*
 * A bounded queue of requests, and threads that answer them. A thread takes all queued requests up to `max`.
 *
 *  - Of small requests that each change little, a batch (http/batch.h) is committed in one transaction. New requests
 *    queue during that time, so the batch size follows the load. A single request is not delayed.
 *  - A slow request, whose handler blocks on a remote server or verifies a password, is a batch of its own. The threads
 *    that answer all other requests do not wait for it.
 */

#include "common/http/httpd.h"

struct err;
struct exchange;
struct request_batcher;

enum { BATCHED_REQUESTS_MAX = 128 };

struct batched_request {
	const struct http_request *http;
	struct exchange *exchange;    /* what the callback needs to answer it; or NULL */
	struct http_pending *pending; /* NULL: moved to another queue with request_batcher_move */
};

/* Answers all requests that it does not move (http_answer_now). Runs in one of the threads. */
typedef void (*request_batcher_fn)(void *data, struct batched_request *requests, size_t count);

struct request_batcher_spec {
	request_batcher_fn answer;
	void *data;
	int threads; /* with more than one, batches run concurrently and the order of requests is not kept */
	size_t max;  /* requests in a batch, at most BATCHED_REQUESTS_MAX */
	/* The threads answer slow requests. They do not count for /healthz (common/loop/progress.h). Of slow requests,
	 * fewer are queued, bodies may have any size, and those in the queue are refused at the stop. */
	bool slow;
};

int request_batcher_start(
	const struct request_batcher_spec *spec, struct request_batcher **ret_batcher, struct err *err);
/* Takes a request over from the handler, which returns at once. Returns false if the queue is full or the body of a
 * request that is not slow is larger than 1 MiB: the caller then answers the request itself. */
bool request_batcher_take(struct request_batcher *batcher, const struct http_request *http, struct exchange *exchange);
/* Moves a request of the current batch to another queue, whose threads answer it. Returns false if that queue is full.
 */
bool request_batcher_move(struct request_batcher *batcher, struct batched_request *request);
/* Finishes the queued requests, or refuses slow ones with 503, and takes no more. NULL-safe. */
void request_batcher_stop(struct request_batcher *batcher);
/* Frees it. Call it after request_batcher_stop, when no more requests can arrive. NULL-safe. */
void request_batcher_free(struct request_batcher *batcher);

#endif
