/* SPDX-License-Identifier: MPL-2.0 */
#include "common/http/rate.h"

#include <stdio.h>

unsigned long long rate_take(struct rate *rate, const struct rate_limit *limit, int64_t now_ms)
{
	unsigned long long calls;

	if (now_ms >= rate->window_end_ms) {
		rate->window_end_ms = now_ms + limit->window_ms;
		rate->taken = 0;
	}
	if (rate->taken >= limit->max) {
		rate->refused++;
		return 0;
	}
	rate->taken++;
	calls = rate->refused + 1;
	rate->refused = 0;
	return calls;
}

bool rate_line_due(struct rate *rate, const struct rate_limit *limit, int64_t now_ms, char ret_count[RATE_COUNT_SIZE])
{
	unsigned long long calls = rate_take(rate, limit, now_ms);

	if (calls)
		snprintf(ret_count, RATE_COUNT_SIZE, "%llu", calls);
	return calls > 0;
}
