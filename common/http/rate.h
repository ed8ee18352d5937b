/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_HTTP_RATE_H
#define COMMON_HTTP_RATE_H

/*
 * Limits how often events from outside make this process write something, such as a log line or a row. Pure: the
 * caller passes the time. For one thread at a time. Zero-initialize it.
 */

#include <stdbool.h>
#include <stdint.h>

struct rate_limit {
	unsigned max;      /* in each window */
	int64_t window_ms; /* a window begins with the first call after the last one */
};

struct rate {
	int64_t window_end_ms;
	unsigned taken;
	unsigned long long refused; /* since the last granted call */
};

/* Returns 0 if the call is refused. Otherwise returns the number of calls that this one stands for: itself and those
 * refused before it. */
unsigned long long rate_take(struct rate *rate, const struct rate_limit *limit, int64_t now_ms);

enum { RATE_COUNT_SIZE = 24 };
/* The same for a log line: true if it may be written, with that number as its "count". */
bool rate_line_due(struct rate *rate, const struct rate_limit *limit, int64_t now_ms, char ret_count[RATE_COUNT_SIZE]);

#endif
