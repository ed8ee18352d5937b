/* SPDX-License-Identifier: MPL-2.0 */
#ifndef NOTIFIER_DELIVERY_SEND_H
#define NOTIFIER_DELIVERY_SEND_H

/*
 * Sends one request to a service, or one mail, with libcurl's multi interface in the loop. Requests are signed and
 * guarded (common/http/guard.h), have timeouts and a bound on the size of the answer. Redirects and the environment's
 * proxies are not used. TLS certificates are verified.
 */

#include "common/http/mail.h"
#include "notifier/delivery/delivery.h"

struct buf;
struct guard;
struct loop;
struct outcome;
struct sender;

struct sender_events {
	void *data;
	/* The connection is open and the request is being sent. The function must not start a request. */
	void (*opened)(void *data, struct delivery *delivery);
	/* The request has ended. Called from within sender_start if the request can't be sent at all. */
	void (*ended)(void *data, struct delivery *delivery, const struct outcome *outcome);
};

struct sender_spec {
	struct loop *loop;
	const struct guard *guard;
	const char *proxy;       /* or "" */
	const char *public_url;  /* in the User-Agent */
	struct mail_server mail; /* the operator's; url: "" for none. A mail may name another one (proto/README.md) */
	size_t max;              /* connections that are open or idle */
	long connect_ms, response_ms;
	struct sender_events events;
};

struct sender *sender_new(const struct sender_spec *spec);
/* Aborts the requests that are running. */
void sender_free(struct sender *sender);
/* `fresh`: no connection to that host is idle, so libcurl need not search for one. `keep`: the connection may be
 * kept. */
void sender_start(struct sender *sender, struct delivery *delivery, bool fresh, bool keep);
/* Aborts the request without calling `ended`. Must not be called from within `opened`. */
void sender_abort(struct sender *sender, struct delivery *delivery);
/* True while its connection is not open yet. */
bool sending_opens(const struct sending *sending);
/* True if its connection may be kept. */
bool sending_keeps(const struct sending *sending);

/* ---- what requests have in common that workers send (forwarder.h) ---- */

/* The headers of the request, "Name: value". A new reference. */
json_t *sender_headers(const struct sender *sender, const struct delivery *delivery);
/* The most bytes of the answer, and the reason when it has more. */
size_t delivery_answer_limit(const struct delivery *delivery);
const char *delivery_too_large(const struct delivery *delivery);
/* Calls `ended`. Adds to the outcome what may be shown of the answer's bytes, and removes headers that may not. */
void delivery_ended(
	struct delivery *delivery, struct outcome outcome, const struct buf *bytes, const struct sender_events *events);

#endif
