/* SPDX-License-Identifier: MPL-2.0 */
#ifndef NOTIFIER_DELIVERY_SEND_H
#define NOTIFIER_DELIVERY_SEND_H

/*
 * One request to a service, or one mail, over libcurl's multi interface in the loop: signed, under guard, bounded in
 * time, its answer bounded in size. No redirects, no proxies of the environment, TLS verified.
 */

#include "notifier/delivery/delivery.h"

struct guard;
struct loop;
struct sender;

/* The operator's mail server's. */
struct sender_mail {
	const char *from, *user, *password; /* no user: no login */
	bool plain;                         /* without TLS */
};

struct sender_spec {
	struct loop *loop;
	const struct guard *guard;
	const char *proxy;      /* or "" */
	const char *public_url; /* in the User-Agent */
	struct sender_mail mail;
	size_t most; /* connections that are open or kept */
	long connect_ms, response_ms;
	void *data;
	/* The connection is open and the request goes out. Nothing may be started from within. */
	void (*opened)(void *data, struct delivery *delivery);
	/* Its end; may come from within sender_start for what can't be sent at all. */
	void (*ended)(void *data, struct delivery *delivery, const struct outcome *outcome);
};

struct sender *sender_new(const struct sender_spec *spec);
/* Aborts what runs. */
void sender_free(struct sender *sender);
/* `fresh`: no connection to that host is known to be idle, so none is looked for. `keep`: the connection may be kept.
 */
void sender_start(struct sender *sender, struct delivery *delivery, bool fresh, bool keep);
/* Breaks the request off without `ended`. Not from within `opened`. */
void sender_abort(struct sender *sender, struct delivery *delivery);
/* True while its connection is not open yet. */
bool sending_opens(const struct sending *sending);
/* True if its connection may be kept. */
bool sending_keeps(const struct sending *sending);

#endif
