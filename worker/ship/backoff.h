/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_SHIP_BACKOFF_H
#define WORKER_SHIP_BACKOFF_H

#include <stdint.h>

/* How long to wait before trying again: doubles up to a bound, with jitter, so that workers that lost the same server
 * do not come back to it at the same moment. */
struct backoff {
	int64_t wait_ms; /* 0: no failure yet */
};

/* The next wait in milliseconds. `retry_after` (seconds) is what the server asked for, or 0; it is a lower bound,
 * itself bounded. */
int64_t backoff_next(struct backoff *backoff, int retry_after);
void backoff_reset(struct backoff *backoff);
/* Between 75 % and 125 % of the time. */
int64_t jitter(int64_t ms);

#endif
