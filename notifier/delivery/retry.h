/* SPDX-License-Identifier: MPL-2.0 */
#ifndef NOTIFIER_DELIVERY_RETRY_H
#define NOTIFIER_DELIVERY_RETRY_H

/* Retry times. Pure: the time and the random number are arguments. */

#include <stdint.h>

struct retry {
	int64_t first_ms;     /* after the first failure; doubles with each */
	int64_t max_ms;       /* the upper bound */
	int64_t max_asked_ms; /* the upper bound of a server's Retry-After */
};

/* For requests to services, and for calls to the scheduler. */
extern const struct retry retry_service, retry_scheduler;

/* Returns 75 % to 125 % of the time. `chance` is a random number. */
int64_t jitter(int64_t ms, uint32_t chance);
/* Returns how long to wait after that many failures (1 or more). The server's Retry-After is a lower bound. */
int64_t retry_wait(const struct retry *retry, int failures, int retry_after_s, uint32_t chance);
/* Returns when to retry a request that has failed now, after that wait but never past its give-up time; -1: it is not
 * retried. */
int64_t retry_at(int64_t wait_ms, int64_t now_ms, int64_t give_up_ms);

/* A random number for `chance`. */
uint32_t chance(void);

#endif
