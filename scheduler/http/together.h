/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_HTTP_TOGETHER_H
#define SCHEDULER_HTTP_TOGETHER_H

/*
 * Batches small requests that each change little. A thread takes all queued requests, handles them in one transaction,
 * and answers each one after the commit. New requests queue during that time, so the batch size follows the load. A
 * single request is not delayed. The queue is bounded.
 */

#include "common/http/httpd.h"

struct err;
struct together;

enum { TOGETHER_MOST = 128 };

/* A queued request, and what its handler has prepared so far, or NULL. */
struct together_item {
	const struct http_request *http;
	void *made;
	struct http_pending *pending; /* NULL: passed on with together_pass */
};

/* Fills the answers of all items that it does not pass on. Runs in one of the threads. */
typedef void (*together_fn)(void *data, struct together_item *items, struct http_answer *answers, size_t count);

struct together_spec {
	together_fn answer;
	void *data;
	int threads; /* with more than one, batches run concurrently and the order of requests is not kept */
	size_t most; /* items in a batch, at most TOGETHER_MOST */
};

int together_start(const struct together_spec *spec, struct together **ret_together, struct err *err);
/* Takes a request over from the handler, which returns at once. Returns false if the queue is full or the body is
 * larger than 1 MiB: the caller then handles the request itself. */
bool together_take(struct together *together, struct together_item item);
/* Moves an item of the current batch to another queue, whose threads answer it. Returns false if that queue is full. */
bool together_pass(struct together *together, struct together_item *item);
/* Finishes the queued requests and takes no more. NULL-safe. */
void together_stop(struct together *together);
/* Frees it. Call it after together_stop, when no more requests can arrive. NULL-safe. */
void together_free(struct together *together);

#endif
