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
	struct http_pending *pending; /* NULL: passed on */
};

/* Fills the answers of those that it does not pass on. It runs in one of the threads. */
typedef void (*together_fn)(void *data, struct together_item *items, struct http_answer *answers, size_t count);

struct together_spec {
	together_fn answer;
	void *data;
	int threads; /* several go on while one waits; then nothing may depend on the requests' order */
	size_t most; /* at a time, TOGETHER_MOST at most */
};

int together_start(const struct together_spec *spec, struct together **ret_together, struct err *err);
/* Takes a request over from the handler, which returns at once. False if as many wait as may, or it is large: whoever
 * asks does it alone. */
bool together_take(struct together *together, struct together_item item);
/* Passes one that is being done on to others, who answer it; false if as many wait there as may. */
bool together_pass(struct together *together, struct together_item *item);
/* Finishes what waits and takes nothing more. NULL-safe. */
void together_stop(struct together *together);
/* After together_stop, once no request can come any more. NULL-safe. */
void together_free(struct together *together);

#endif
