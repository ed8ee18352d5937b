/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_ASIDE_H
#define SCHEDULER_API_ASIDE_H

/*
 * Requests whose handler takes its time: it waits for somebody else's server, or looks at a password. They run in a few
 * threads of their own, so that the threads that answer everything else go on; how many wait for one of those is
 * bounded.
 */

#include "common/httpd.h"

struct err;
struct aside;

/* `answer` fills the answer; it runs in one of the threads. */
typedef void (*aside_fn)(void *data, const struct http_request *http, struct http_answer *answer);

int aside_start(aside_fn answer, void *data, struct aside **ret_aside, struct err *err);
/* Takes a request over from the handler, which returns at once. False if as many wait as may. */
bool aside_take(struct aside *aside, const struct http_request *http);
/* Finishes what runs, answers what waits with 503 and takes nothing more. NULL-safe. */
void aside_stop(struct aside *aside);
/* After aside_stop, once no request can come any more. NULL-safe. */
void aside_free(struct aside *aside);

#endif
