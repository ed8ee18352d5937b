/* SPDX-License-Identifier: MPL-2.0 */
#ifndef NOTIFIER_DELIVERY_HOSTS_H
#define NOTIFIER_DELIVERY_HOSTS_H

/*
 * Decides which request is sent next. Each host has a queue: in libcurl's own queue, the waiting would count against
 * the timeouts of requests. Hosts take turns, so that a host with thousands of requests does not delay the others.
 *
 * Bounds:
 *
 *  - requests in flight altogether;
 *  - requests in flight at one host;
 *  - connections being opened at one host. This bound is low until a connection has been opened, since each attempt
 *    may occupy a resolver's thread, and an unreachable host occupies it for long.
 */

#include "notifier/delivery/circuit.h"
#include "notifier/delivery/delivery.h"

struct host {
	struct table_entry entry; /* by origin */
	char *origin;             /* "https://host:port"; "POOL https://host:port" if workers of a pool send */
	struct delivery *head, **tail;
	size_t queued, in_flight, opening;
	size_t idle;  /* estimate of the idle connections */
	bool proven;  /* a connection was opened, and the last attempt at one did not fail */
	size_t users; /* deliveries to this host, in any state */
	bool in_turn; /* in the ring of hosts that may send */
	struct host *next_in_turn;
	int64_t used_ms;
};

/* One URL. An address of a pool's network is another one than the same address elsewhere. */
struct route {
	struct table_entry entry; /* by name */
	char *name;               /* the URL, after its pool as in an origin */
	const char *url;          /* in `name` */
	struct circuit circuit;
	bool secret; /* its path is redacted */
	size_t users;
	int64_t used_ms;
};

struct hosts {
	struct table hosts, routes;
	struct host *turn_first, **turn_last;
	size_t in_flight, max, per_host;
	size_t behind; /* queued deliveries that have `per_host` others of their host before them */
};

void hosts_init(struct hosts *hosts, size_t max, size_t per_host);
void hosts_release(struct hosts *hosts);

/* Sets the delivery's host and route. */
void hosts_assign(struct hosts *hosts, struct delivery *delivery, const char *url, int64_t now_ms);
/* Must be called before the delivery is freed. */
void hosts_leave(struct hosts *hosts, struct delivery *delivery, int64_t now_ms);

void hosts_queue(struct hosts *hosts, struct delivery *delivery);
void hosts_unqueue(struct hosts *hosts, struct delivery *delivery);
/* Takes the next delivery that may be sent out of its queue, and counts it as in flight and opening. NULL if none. */
struct delivery *hosts_next(struct hosts *hosts);
/* The delivery that hosts_next returned is not sent after all. */
void hosts_put_back(struct hosts *hosts, struct host *host);
/* The connection of a delivery is open. */
void hosts_opened(struct hosts *hosts, struct host *host);
/* A delivery was sent or has failed. `opening`: its connection was not open yet. */
void hosts_sent(struct hosts *hosts, struct host *host, bool opening);

/* Frees the hosts and URLs that have not been used for ten minutes. */
void hosts_sweep(struct hosts *hosts, int64_t now_ms);

#endif
