/* SPDX-License-Identifier: MPL-2.0 */
#ifndef NOTIFIER_DELIVERY_DISPATCH_H
#define NOTIFIER_DELIVERY_DISPATCH_H

/*
 * The deliveries that this notifier has claimed. Sends each request until it is acknowledged, its time is over, or
 * its service has reported its result. Reports every try to the scheduler.
 *
 * A service may send its callback before it answers the request. No lock is held while a request is in flight, so
 * the callback is processed at once. kinds.h says which statuses acknowledge a request.
 */

#include "common/json/json.h"

struct buf;
struct delivery;
struct dispatch;
struct notifier;

struct dispatch_events {
	/* The scheduler has stored the end of a run task's request. Its service must report before the deadline;
	 * -1: there is none. */
	void (*deadline)(void *data, const char *id, int64_t due_in_ms);
	/* The scheduler has stored a report: there may be room for another delivery. */
	void (*room)(void *data);
	void *data;
};

struct dispatch *dispatch_new(struct notifier *notifier, const struct dispatch_events *events);
void dispatch_free(struct dispatch *dispatch);

/* Starts an item of a claim's answer. Skips an item that is malformed or that is here already. */
void dispatch_take(struct dispatch *dispatch, const json_t *claimed);
/* The request's task result is final, or this notifier has lost that attempt (0: any attempt). No more tries are
 * made. */
void dispatch_settle(struct dispatch *dispatch, const char *id, int attempt);
/* Returns how many more deliveries fit. */
size_t dispatch_room(const struct dispatch *dispatch);
/* Returns the number of deliveries that are in flight to a service or to the scheduler. */
size_t dispatch_busy(const struct dispatch *dispatch);
/* {"id","attempt"} of all. A new reference. */
json_t *dispatch_names(struct dispatch *dispatch);
/* The lease has expired: drops the deliveries that are not in flight. */
void dispatch_lose(struct dispatch *dispatch);
/* Drops the deliveries that are not in flight, and with `all` those in flight as well. Returns the names to hand
 * back. */
json_t *dispatch_hand_back(struct dispatch *dispatch, bool all);
/* The circuits as JSON, for operators. A new reference. */
json_t *dispatch_circuits(struct dispatch *dispatch);

#endif
