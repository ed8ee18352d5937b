/* SPDX-License-Identifier: MPL-2.0 */
#ifndef NOTIFIER_DEADLINES_REDIS_H
#define NOTIFIER_DEADLINES_REDIS_H

/*
 * A Redis client on hiredis' blocking calls, with a timeout on each, for a thread of loop_work. hiredis'
 * asynchronous client is not used. It resolves names in the calling thread and has no timeouts, so it could block
 * the loop.
 */

#include <hiredis/hiredis.h>

#include "common/base.h"

struct err;

enum { REDIS_SENTINELS_MAX = 9 };

struct redis_address {
	char *host;
	int port;
};

struct redis {
	struct redis_address addresses[REDIS_SENTINELS_MAX]; /* the server; with `master`: the sentinels */
	int count;
	char *master;          /* the name by which sentinels know the server, or NULL */
	char *path;            /* of a UNIX socket, or NULL */
	char *user, *password; /* or NULL */
	long long database;
	redisContext *context; /* NULL: not connected */
};

/* Parses "redis://[[user]:password@]host[:port][/database]", "unix:/path", or
 * "redis+sentinel://[[user]:password@]host[:port][,host[:port]...]/master[/database]": then each connection is to the
 * master that the first answering sentinel names. Sentinels get no password. -1 with ERR_INVALID; the message does not
 * contain the password. */
int redis_parse(const char *url, struct redis *ret_redis, struct err *err);
void redis_release(struct redis *redis);

/* Runs a command and connects first if necessary. Returns the reply, to be freed with freeReplyObject. NULL with
 * ERR_UNAVAILABLE; if the connection failed, it is closed. */
redisReply *redis_run(struct redis *redis, size_t argc, const char **argv, struct err *err);

#endif
