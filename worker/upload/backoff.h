/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_UPLOAD_BACKOFF_H
#define WORKER_UPLOAD_BACKOFF_H

#include <stdint.h>

/* Retry delays: they double up to a limit, with jitter, so that workers that lost the same server do not return at
 * the same moment. */
struct backoff {
	int64_t wait_ms; /* 0: no failure yet */
};

/* The next delay in milliseconds. `retry_after` (seconds) is the server's request, or 0. It is a lower bound, itself
 * limited. */
int64_t backoff_next(struct backoff *backoff, int retry_after);
void backoff_reset(struct backoff *backoff);
/* A random time between 75 % and 125 % of `ms`. */
int64_t jitter(int64_t ms);

#endif
