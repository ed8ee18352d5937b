/* SPDX-License-Identifier: MPL-2.0 */
#include "notifier/deadlines/redis.h"

#include <stdio.h>
#include <string.h>

#include "common/err.h"

static const struct timeval connect_bound = {.tv_sec = 2}, call_bound = {.tv_sec = 5};

void redis_release(struct redis *redis)
{
	if (redis->context)
		redisFree(redis->context);
	for (int i = 0; i < REDIS_SENTINELS_MAX; i++)
		free(redis->addresses[i].host);
	free(redis->master);
	free(redis->path);
	free(redis->user);
	free(redis->password);
	*redis = (struct redis){0};
}

/* ---- connections ---- */

static void disconnect(struct redis *redis)
{
	redisFree(redis->context);
	redis->context = NULL;
}

/* Takes the reply. */
static int reply_check(redisReply *reply, const char *what, struct err *err)
{
	bool refused = reply && reply->type == REDIS_REPLY_ERROR;

	if (reply && !refused) {
		freeReplyObject(reply);
		return 0;
	}
	err_set(err, ERR_UNAVAILABLE, "Redis: %s: %s", what, refused ? reply->str : "no answer");
	if (reply)
		freeReplyObject(reply);
	return -1;
}

static int greet(struct redis *redis, struct err *err)
{
	redisContext *context = redis->context;

	if (redis->user &&
		reply_check(redisCommand(context, "AUTH %s %s", redis->user, redis->password), "AUTH", err) < 0)
		return -1;
	if (!redis->user && redis->password &&
		reply_check(redisCommand(context, "AUTH %s", redis->password), "AUTH", err) < 0)
		return -1;
	if (!redis->database)
		return 0;
	return reply_check(redisCommand(context, "SELECT %lld", redis->database), "SELECT", err);
}

static int take_context(redisContext *context, redisContext **ret_context, struct err *err)
{
	if (!context || context->err) {
		err_set(err, ERR_UNAVAILABLE, "Redis: %s", context ? context->errstr : "no memory");
		if (context)
			redisFree(context);
		return -1;
	}
	redisSetTimeout(context, call_bound);
	*ret_context = context;
	return 0;
}

static int connect_greet(struct redis *redis, redisContext *context, struct err *err)
{
	if (take_context(context, &redis->context, err) < 0)
		return -1;
	if (greet(redis, err) == 0)
		return 0;
	disconnect(redis);
	return -1;
}

/* ---- sentinels: https://redis.io/docs/latest/develop/reference/sentinel-clients/ ---- */

static redisContext *connect_address(const struct redis_address *address)
{
	return redisConnectWithTimeout(address->host, address->port, connect_bound);
}

/* Asks a sentinel for the master's address. The caller frees the host. */
static int ask_sentinel(const struct redis *redis, const struct redis_address *sentinel,
	struct redis_address *ret_master, struct err *err)
{
	redisContext *context;
	redisReply *reply;
	long long port;
	int result = -1;

	if (take_context(connect_address(sentinel), &context, err) < 0)
		return -1;
	reply = redisCommand(context, "SENTINEL get-master-addr-by-name %s", redis->master);
	if (!reply)
		err_set(err, ERR_UNAVAILABLE, "Redis: a sentinel does not answer: %s", context->errstr);
	else if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 2 ||
		text_number(reply->element[1]->str, 1, 65535, &port) < 0)
		err_set(err, ERR_UNAVAILABLE, "Redis: a sentinel does not know the master %s", redis->master);
	else
		result = 0;
	if (result == 0)
		*ret_master = (struct redis_address){mem_text(reply->element[0]->str), (int)port};
	freeReplyObject(reply);
	redisFree(context);
	return result;
}

/* A sentinel that was cut off may name a server that is no master any more. */
static int check_master(struct redis *redis, struct err *err)
{
	redisReply *reply = redisCommand(redis->context, "ROLE");
	bool is_master = reply && reply->type == REDIS_REPLY_ARRAY && reply->elements > 0 &&
		text_equal(reply->element[0]->str, "master");

	freeReplyObject(reply);
	if (is_master)
		return 0;
	disconnect(redis);
	return err_set(err, ERR_UNAVAILABLE, "Redis: the server that a sentinel named is not the master");
}

static int connect_by_sentinel(struct redis *redis, const struct redis_address *sentinel, struct err *err)
{
	struct redis_address master;
	int result;

	if (ask_sentinel(redis, sentinel, &master, err) < 0)
		return -1;
	result = connect_greet(redis, connect_address(&master), err);
	free(master.host);
	return result < 0 ? -1 : check_master(redis, err);
}

static int connect_now(struct redis *redis, struct err *err)
{
	if (redis->path)
		return connect_greet(redis, redisConnectUnixWithTimeout(redis->path, connect_bound), err);
	if (!redis->master)
		return connect_greet(redis, connect_address(&redis->addresses[0]), err);
	for (int i = 0; i < redis->count; i++)
		if (connect_by_sentinel(redis, &redis->addresses[i], err) == 0)
			return 0;
	return -1;
}

/* ---- commands ---- */

redisReply *redis_run(struct redis *redis, size_t argc, const char **argv, struct err *err)
{
	redisReply *reply;

	if (!redis->context && connect_now(redis, err) < 0)
		return NULL;
	reply = redisCommandArgv(redis->context, (int)argc, argv, NULL);
	if (!reply) {
		err_set(err, ERR_UNAVAILABLE, "Redis: %s", redis->context->errstr);
		disconnect(redis);
	} else if (reply->type == REDIS_REPLY_ERROR) {
		err_set(err, ERR_UNAVAILABLE, "Redis: %s", reply->str);
		/* The server was a master, and is a replica now. */
		if (text_starts(reply->str, "READONLY"))
			disconnect(redis);
		freeReplyObject(reply);
		reply = NULL;
	}
	return reply;
}
