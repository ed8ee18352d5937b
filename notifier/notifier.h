/* SPDX-License-Identifier: MPL-2.0 */
#ifndef NOTIFIER_NOTIFIER_H
#define NOTIFIER_NOTIFIER_H

/* The parts of one notifier process, which main.c creates. Unless a comment says otherwise, only the loop's thread uses
 * them. */

#include <stdatomic.h>

#include "common/loop/loop.h"
#include "notifier/lane.h"
#include "notifier/options.h"
#include "notifier/scheduler_client/scheduler.h"

struct kafka_client;
struct callbacks;
struct claims;
struct deadlines;
struct dispatch;
struct guard;
struct server;
struct lease;

struct notifier {
	struct options options;
	char *public_url;   /* without a trailing slash */
	char *internal_url; /* likewise; for schedulers. The host "*" stands for the address that the scheduler sees */
	struct loop *loop;
	struct scheduler scheduler; /* scheduler_client/scheduler.h: calls to the scheduler */
	struct guard *guard;
	struct guard *proxies;       /* --trusted-proxies */
	struct lanes lanes;          /* lane.h: reports to the scheduler */
	struct dispatch *dispatch;   /* dispatch/: requests in delivery */
	struct claims *claims;       /* claims.h: claims of requests */
	struct lease *lease;         /* lease.h: heartbeats */
	struct kafka_client *client; /* scheduler_client/kafka_client.h: Kafka */
	struct deadlines *deadlines; /* deadlines/: Redis */
	struct callbacks *callbacks; /* callback/: the callbacks of services */
	struct server *server;       /* callback/server.h */
	atomic_bool draining;        /* for any thread */
};

#endif
