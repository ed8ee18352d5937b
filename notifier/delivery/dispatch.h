/* SPDX-License-Identifier: MPL-2.0 */
#ifndef NOTIFIER_DELIVERY_DISPATCH_H
#define NOTIFIER_DELIVERY_DISPATCH_H

/*
 * The deliveries that are this notifier's: sends each one's request until it is acknowledged, until its time is over,
 * or until its service has reported, and tells the scheduler of every try.
 *
 * Nothing is locked while a request is under way: services report before they answer it. Only 200 acknowledges.
 */

#include "common/json/json.h"

struct buf;
struct delivery;
struct dispatch;
struct notifier;

int dispatch_open(struct notifier *notifier, struct dispatch **ret_dispatch);
void dispatch_free(struct dispatch *dispatch);

/* Starts what a claim brought (an item of its answer). What can't be read, or is here already, is skipped. */
void dispatch_take(struct dispatch *dispatch, const json_t *claimed);
/* The request's task result came to its end, or that attempt (0: any) is not this notifier's any more: no more tries.
 */
void dispatch_settle(struct dispatch *dispatch, const char *id, int attempt);
/* How many more deliveries fit. */
size_t dispatch_room(const struct dispatch *dispatch);
/* How many there are, and how many of them are on the way to a service or to the scheduler. */
size_t dispatch_count(const struct dispatch *dispatch);
size_t dispatch_busy(const struct dispatch *dispatch);
/* {"id","attempt"} of all. A new reference. */
json_t *dispatch_names(struct dispatch *dispatch);
/* The lease is over: what is not on its way is not this notifier's any more. */
void dispatch_lose(struct dispatch *dispatch);
/* Stops what is not on its way, and with `all` what is; returns the names of those that are to be handed back. */
json_t *dispatch_hand_back(struct dispatch *dispatch, bool all);
/* The circuits as JSON, for people. */
json_t *dispatch_circuits(struct dispatch *dispatch);

#endif
