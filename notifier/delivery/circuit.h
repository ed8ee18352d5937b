/* SPDX-License-Identifier: MPL-2.0 */
#ifndef NOTIFIER_DELIVERY_CIRCUIT_H
#define NOTIFIER_DELIVERY_CIRCUIT_H

/*
 * A circuit breaker: after several failures in a row no more requests go to a URL for a while; then one goes as a
 * probe. If that is answered the circuit closes, else it stays open for longer. Pure: time and chance are arguments. A
 * failure is no answer, 429 or 5xx: what says that the service is in trouble, and not that it dislikes one request.
 */

#include "common/base.h"

enum circuit_state { CIRCUIT_CLOSED, CIRCUIT_OPEN, CIRCUIT_PROBING, CIRCUIT_STATES };

struct circuit {
	enum circuit_state state;
	int failures;     /* in a row */
	int opened;       /* times in a row that it opened */
	int64_t until_ms; /* while open */
};

extern const char *const circuit_names[CIRCUIT_STATES];

/* Whether a request may go now. The one that may while the time of an open circuit is over is the probe. */
bool circuit_take(struct circuit *circuit, int64_t now_ms);
/* How a request ended that circuit_take let go. True if the circuit opened because of it. */
bool circuit_heard(struct circuit *circuit, bool well, int64_t now_ms, uint32_t chance);
/* The request was given up without an end: if it was the probe, the next one is. */
void circuit_unheard(struct circuit *circuit, int64_t now_ms);
/* How long to wait before asking again; 0: a request may go. */
int64_t circuit_wait(const struct circuit *circuit, int64_t now_ms);

#endif
