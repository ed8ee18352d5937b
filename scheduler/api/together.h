/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_TOGETHER_H
#define SCHEDULER_API_TOGETHER_H

/*
 * Small requests that change little each, and are done together: a thread takes all that wait, has them done in one
 * transaction, and answers each after its commit. While that goes on the next ones gather, so there are as many in a
 * commit as there is load, and a lone request waits for nobody. How many wait is bounded.
 */

#include "common/httpd.h"

struct err;
struct together;

enum { TOGETHER_MOST = 128 };

/* One of those that wait: its request, and what the handler has made of it so far, or NULL. */
struct together_item {
	const struct http_request *http;
	void *made;
};

/* Fills the answers. It runs in one of the threads. */
typedef void (*together_fn)(void *data, const struct together_item *items, struct http_answer *answers, size_t count);

/* Several threads go on while one waits for its commit; then nothing may depend on the requests' order. */
int together_start(together_fn answer, void *data, int threads, struct together **ret_together, struct err *err);
/* Takes a request over from the handler, which returns at once. False if as many wait as may, or it is large: whoever
 * asks does it alone. */
bool together_take(struct together *together, struct together_item item);
/* Finishes what waits and takes nothing more. NULL-safe. */
void together_stop(struct together *together);
/* After together_stop, once no request can come any more. NULL-safe. */
void together_free(struct together *together);

#endif
