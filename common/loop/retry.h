/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_LOOP_RETRY_H
#define COMMON_LOOP_RETRY_H

/* Retry times. They double up to a limit, and are spread at random, so that clients that lost the same server do not
 * return at the same moment. With the random number as an argument the functions are pure. */

#include <stdint.h>

struct retry {
	int64_t first_ms;     /* after the first failure; doubles with each */
	int64_t max_ms;       /* the upper bound */
	int64_t max_asked_ms; /* the upper bound of a server's Retry-After */
};

/* For a notifier's requests to services and its calls to the scheduler. */
extern const struct retry retry_service, retry_scheduler;

/* Returns how long to wait after that many failures (1 or more). The server's Retry-After is a lower bound. */
int64_t retry_wait(const struct retry *retry, int failures, int retry_after_s, uint32_t chance);
/* Returns when to retry a request that has failed now, after that wait but never past its give-up time; -1: it is not
 * retried. */
int64_t retry_at(int64_t wait_ms, int64_t now_ms, int64_t give_up_ms);
/* A random number for `chance`. */
uint32_t chance(void);
/* A random time between 75 % and 125 % of `ms`. */
int64_t jitter(int64_t ms);

/* The failures in a row of a worker's requests to the scheduler. */
struct backoff {
	int failures;
};
/* Counts one more failure, and returns how long to wait. `retry_after_s` is the server's request, or 0. */
int64_t backoff_next(struct backoff *backoff, int retry_after_s);

#endif
