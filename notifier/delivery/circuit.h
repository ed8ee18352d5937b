/* SPDX-License-Identifier: MPL-2.0 */
#ifndef NOTIFIER_DELIVERY_CIRCUIT_H
#define NOTIFIER_DELIVERY_CIRCUIT_H

/*
 * A circuit breaker for one URL. After several consecutive failures it opens, and no requests are sent for a while.
 * Then one request is sent as a probe. If the probe succeeds the circuit closes, otherwise it stays open for longer.
 *
 * A failure is no answer, 429 or 5xx: the service is in trouble, whatever the request was. Pure: the time and the
 * random number are arguments.
 */

#include "common/base.h"

enum circuit_state { CIRCUIT_CLOSED, CIRCUIT_OPEN, CIRCUIT_PROBING, CIRCUIT_STATES };

struct circuit {
	enum circuit_state state;
	int failures;     /* consecutive */
	int opened;       /* consecutive times that it opened */
	int64_t until_ms; /* while open */
};

extern const char *const circuit_names[CIRCUIT_STATES];

/* Returns whether a request may be sent now. If the open time of the circuit is over, that request is the probe. */
bool circuit_take(struct circuit *circuit, int64_t now_ms);
/* Records the result of a request that circuit_take allowed. Returns true if this opened the circuit. */
bool circuit_result(struct circuit *circuit, bool well, int64_t now_ms, uint32_t chance);
/* A request was aborted without a result. If it was the probe, the next request becomes the probe. */
void circuit_aborted(struct circuit *circuit, int64_t now_ms);
/* Returns how long to wait before calling circuit_take; 0: a request may be sent. */
int64_t circuit_wait(const struct circuit *circuit, int64_t now_ms);

#endif
