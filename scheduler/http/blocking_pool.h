/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_HTTP_BLOCKING_POOL_H
#define SCHEDULER_HTTP_BLOCKING_POOL_H

/*
 * Threads for slow requests: those whose handlers block on a remote server or verify a password. The threads that
 * answer all other requests do not wait for them. The queue is bounded.
 */

#include "common/http/httpd.h"

struct err;
struct blocking_pool;

/* Fills the answer. Runs in one of the threads. */
typedef void (*blocking_pool_fn)(void *data, const struct http_request *http, struct http_answer *answer);

int blocking_pool_start(blocking_pool_fn answer, void *data, struct blocking_pool **ret_pool, struct err *err);
/* Takes a request over from the handler, which returns at once. Returns false if the queue is full. */
bool blocking_pool_take(struct blocking_pool *pool, const struct http_request *http);
/* Finishes the running requests, answers the queued ones with 503 and takes no more. NULL-safe. */
void blocking_pool_stop(struct blocking_pool *pool);
/* Frees it. Call it after blocking_pool_stop, when no more requests can arrive. NULL-safe. */
void blocking_pool_free(struct blocking_pool *pool);

#endif
