/* SPDX-License-Identifier: MPL-2.0 */
#ifndef NOTIFIER_DELIVERY_RETRY_H
#define NOTIFIER_DELIVERY_RETRY_H

/* When to try again. Pure: time and chance are arguments. */

#include <stdint.h>

struct retry {
	int64_t first_ms;      /* after the first failure; doubles with each */
	int64_t most_ms;       /* its bound */
	int64_t most_asked_ms; /* the bound of what a server asks for with Retry-After */
};

/* For requests to services, and for calls to the scheduler. */
extern const struct retry retry_service, retry_scheduler;

/* Between 75 % and 125 % of the time. `chance` is any random number. */
int64_t jitter(int64_t ms, uint32_t chance);
/* How long to wait after that many failures (1 or more). What the server asked for is a lower bound. */
int64_t retry_wait(const struct retry *retry, int failures, int retry_after_s, uint32_t chance);
/* When the next try of a request is that failed now: never past its give-up time. -1: it is not tried again. */
int64_t retry_at(const struct retry *retry, int failures, int retry_after_s, int64_t now_ms, int64_t give_up_ms,
	uint32_t chance);

/* A random number for `chance`. */
uint32_t chance(void);

#endif
