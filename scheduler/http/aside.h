/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_HTTP_ASIDE_H
#define SCHEDULER_HTTP_ASIDE_H

/*
 * Threads for slow requests: those whose handlers block on a remote server or verify a password. The threads that
 * answer all other requests do not wait for them. The queue is bounded.
 */

#include "common/http/httpd.h"

struct err;
struct aside;

/* Fills the answer. Runs in one of the threads. */
typedef void (*aside_fn)(void *data, const struct http_request *http, struct http_answer *answer);

int aside_start(aside_fn answer, void *data, struct aside **ret_aside, struct err *err);
/* Takes a request over from the handler, which returns at once. Returns false if the queue is full. */
bool aside_take(struct aside *aside, const struct http_request *http);
/* Finishes the running requests, answers the queued ones with 503 and takes no more. NULL-safe. */
void aside_stop(struct aside *aside);
/* Frees it. Call it after aside_stop, when no more requests can arrive. NULL-safe. */
void aside_free(struct aside *aside);

#endif
