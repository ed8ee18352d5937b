/* SPDX-License-Identifier: MPL-2.0 */
#ifndef NOTIFIER_DEADLINES_REDIS_H
#define NOTIFIER_DEADLINES_REDIS_H

/*
 * Redis by hiredis' plain blocking calls, each bounded in time, for a thread of loop_work: hiredis' asynchronous client
 * resolves names in the calling thread and gives its calls no timeout, so it could hold up the loop.
 */

#include <hiredis/hiredis.h>

#include "common/base.h"

struct err;

struct redis {
	char *host; /* NULL: a UNIX socket */
	int port;
	char *path;
	char *user, *password; /* or NULL */
	long long database;
	redisContext *context; /* NULL: not connected */
};

/* "redis://[[user]:password@]host[:port][/database]" or "unix:/path". -1 with ERR_INVALID; the password is not told. */
int redis_parse(const char *url, struct redis *ret_redis, struct err *err);
void redis_release(struct redis *redis);

/* Runs a command, connecting first if need be. NULL with ERR_UNAVAILABLE, and disconnected if that is why; else the
 * reply, to be freed with freeReplyObject. */
redisReply *redis_run(struct redis *redis, size_t argc, const char **argv, struct err *err);

#endif
