/* SPDX-License-Identifier: MPL-2.0 */
#ifndef NOTIFIER_NOTIFIER_H
#define NOTIFIER_NOTIFIER_H

/* The parts of one notifier process, as main.c puts them together. All live in the loop's thread but for `ready`. */

#include <stdatomic.h>

#include "common/loop/loop.h"
#include "common/http/origin.h"
#include "notifier/lane.h"
#include "notifier/options.h"

struct bus;
struct callbacks;
struct claims;
struct deadlines;
struct dispatch;
struct fetcher;
struct guard;
struct server;
struct lease;

struct notifier {
	struct options options;
	char *public_url;   /* without a slash at its end */
	char *internal_url; /* likewise; for schedulers. With the host "*": at the address that they see */
	struct loop *loop;
	struct origin origin;    /* the scheduler, whose answers alone count */
	struct fetcher *fetcher; /* for calls to the scheduler */
	struct guard *guard;
	struct guard *proxies;       /* --trusted-proxies */
	struct lanes lanes;          /* lane.h: reports to the scheduler */
	struct dispatch *dispatch;   /* dispatch/: requests to services */
	struct claims *claims;       /* claims.h: what is to be sent */
	struct lease *lease;         /* lease.h: heartbeats */
	struct bus *bus;             /* bus.h: Kafka */
	struct deadlines *deadlines; /* deadlines/: Redis */
	struct callbacks *callbacks; /* callback/: what services report */
	struct server *server;       /* callback/server.h */
	atomic_bool ready;           /* the scheduler answers, and this process is not about to end */
	bool scheduler_away;
	bool draining;
};

#endif
