/* SPDX-License-Identifier: MPL-2.0 */
#ifndef NOTIFIER_DELIVERY_FORWARDER_H
#define NOTIFIER_DELIVERY_FORWARDER_H

/*
 * Sends requests by workers of an agent pool, through the scheduler (proto/README.md, "Requests that workers send").
 * Each try of a delivery is a request of its own with its own id. Its outcome is the same as that of send.h: retries,
 * circuits and reports do not differ.
 */

#include "notifier/delivery/send.h"

struct forwarder;
struct scheduler;

struct forwarder_spec {
	struct scheduler *scheduler; /* borrowed */
	const struct sender *sender; /* for the headers; borrowed */
	long connect_ms, response_ms;
	/* `opened`: the scheduler has accepted the request, since a worker of the pool is there. */
	struct sender_events events;
};

struct forwarder *forwarder_new(const struct forwarder_spec *spec);
/* Forgets the requests that are running. NULL-safe. */
void forwarder_free(struct forwarder *forwarder);
/* Starts the request of a delivery that has a pool. Never calls `ended` from within. */
void forwarder_start(struct forwarder *forwarder, struct delivery *delivery);
/* Forgets the request without calling `ended`. A worker may send it nevertheless. */
void forwarder_abort(struct forwarder *forwarder, struct delivery *delivery);
/* True while the scheduler has not accepted the request. */
bool forwarding_opens(const struct forwarding *forwarding);

#endif
