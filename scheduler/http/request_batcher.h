/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_HTTP_REQUEST_BATCHER_H
#define SCHEDULER_HTTP_REQUEST_BATCHER_H

/*
 * Batches small requests that each change little. A thread takes all queued requests, handles them in one transaction,
 * and answers each one after the commit. New requests queue during that time, so the batch size follows the load. A
 * single request is not delayed. The queue is bounded.
 */

#include "common/http/httpd.h"

struct err;
struct request_batcher;

enum { BATCHED_REQUESTS_MAX = 128 };

/* A queued request, and what its handler has prepared so far, or NULL. */
struct batched_request {
	const struct http_request *http;
	void *made;
	struct http_pending *pending; /* NULL: passed on with request_batcher_pass */
};

/* Fills the answers of all items that it does not pass on. Runs in one of the threads. */
typedef void (*request_batcher_fn)(
	void *data, struct batched_request *items, struct http_answer *answers, size_t count);

struct request_batcher_spec {
	request_batcher_fn answer;
	void *data;
	int threads; /* with more than one, batches run concurrently and the order of requests is not kept */
	size_t most; /* items in a batch, at most BATCHED_REQUESTS_MAX */
};

int request_batcher_start(
	const struct request_batcher_spec *spec, struct request_batcher **ret_batcher, struct err *err);
/* Takes a request over from the handler, which returns at once. Returns false if the queue is full or the body is
 * larger than 1 MiB: the caller then handles the request itself. */
bool request_batcher_take(struct request_batcher *batcher, struct batched_request item);
/* Moves an item of the current batch to another queue, whose threads answer it. Returns false if that queue is full. */
bool request_batcher_pass(struct request_batcher *batcher, struct batched_request *item);
/* Finishes the queued requests and takes no more. NULL-safe. */
void request_batcher_stop(struct request_batcher *batcher);
/* Frees it. Call it after request_batcher_stop, when no more requests can arrive. NULL-safe. */
void request_batcher_free(struct request_batcher *batcher);

#endif
