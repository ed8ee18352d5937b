/* SPDX-License-Identifier: MPL-2.0 */
#ifndef NOTIFIER_DELIVERY_HOSTS_H
#define NOTIFIER_DELIVERY_HOSTS_H

/*
 * Who may be sent next. Requests wait in a queue of their host: libcurl's own queue would count the waiting against
 * their timeouts. Hosts take turns, so that one with thousands of requests does not hold up the others.
 *
 * Bounds: requests in flight altogether, in flight at one host, and connections being opened at one host (few until one
 * was opened, since each may hold a resolver's thread and a dead host holds them for long).
 */

#include "notifier/delivery/circuit.h"
#include "notifier/delivery/delivery.h"

struct host {
	struct table_entry entry; /* by origin */
	char *origin;             /* "https://host:port" */
	struct delivery *head, **tail;
	size_t queued, in_flight, opening;
	size_t idle;  /* connections that were kept, as far as is known */
	bool proven;  /* a connection was opened, and the last attempt at one did not fail */
	size_t users; /* deliveries that lead here, whatever their state */
	bool in_turn; /* in the ring of those that may send */
	struct host *next_in_turn;
	int64_t used_ms;
};

/* One URL. */
struct route {
	struct table_entry entry; /* by URL */
	char *url;
	struct circuit circuit;
	bool secret; /* its path is not shown */
	size_t users;
	int64_t used_ms;
};

struct hosts {
	struct table hosts, routes;
	struct host *turn_first, **turn_last;
	size_t in_flight, most, per_host;
};

void hosts_init(struct hosts *hosts, size_t most, size_t per_host);
void hosts_release(struct hosts *hosts);

/* Gives the delivery its host and route. */
void hosts_assign(struct hosts *hosts, struct delivery *delivery, const char *url, int64_t now_ms);
/* The delivery is about to be freed. */
void hosts_leave(struct hosts *hosts, struct delivery *delivery, int64_t now_ms);

void hosts_queue(struct hosts *hosts, struct delivery *delivery);
void hosts_unqueue(struct hosts *hosts, struct delivery *delivery);
/* The next delivery that may be sent, taken out of its queue and counted as in flight and opening; or NULL. */
struct delivery *hosts_next(struct hosts *hosts);
/* It is not sent after all. */
void hosts_put_back(struct hosts *hosts, struct host *host);
/* Its connection is open. */
void hosts_opened(struct hosts *hosts, struct host *host);
/* It was sent, or failed. `opening`: before its connection was open. */
void hosts_sent(struct hosts *hosts, struct host *host, bool opening);

/* Forgets the hosts and URLs that nobody used for minutes. */
void hosts_sweep(struct hosts *hosts, int64_t now_ms);

#endif
