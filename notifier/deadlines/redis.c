/* SPDX-License-Identifier: MPL-2.0 */
#include "notifier/deadlines/redis.h"

#include <stdio.h>
#include <string.h>

#include "common/err.h"

static const struct timeval connect_bound = {.tv_sec = 2}, call_bound = {.tv_sec = 5};

/* ---- the URL ---- */

static int hex(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = c ? strchr(digits, c | 0x20) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* Decodes %XX. The caller frees the result. */
static char *unescape(const char *text, size_t len)
{
	char *plain = mem_new(len + 1, 1);
	size_t used = 0;

	for (size_t i = 0; i < len; i++) {
		if (text[i] == '%' && i + 2 < len && hex(text[i + 1]) >= 0 && hex(text[i + 2]) >= 0) {
			plain[used++] = (char)(hex(text[i + 1]) * 16 + hex(text[i + 2]));
			i += 2;
		} else {
			plain[used++] = text[i];
		}
	}
	return plain;
}

static void parse_user(const char *text, size_t len, struct redis *redis)
{
	const char *colon = memchr(text, ':', len);
	size_t user = colon ? (size_t)(colon - text) : 0;

	if (user > 0)
		redis->user = unescape(text, user);
	/* "redis://secret@host" is a common form for a password without a user. */
	redis->password = colon ? unescape(colon + 1, len - user - 1) : unescape(text, len);
}

static int parse_host(const char *text, size_t len, struct redis *redis, struct err *err)
{
	char host[256];
	const char *end, *colon;
	long long port = 6379;

	if (len == 0 || len >= sizeof(host))
		return err_set(err, ERR_INVALID, "no host is named");
	text_copy(host, len + 1, text);
	end = *host == '[' ? strchr(host, ']') : NULL;
	colon = strrchr(end ? end : host, ':');
	if (colon && text_number(colon + 1, 1, 65535, &port) < 0)
		return err_set(err, ERR_INVALID, "the port is not a number from 1 to 65535");
	if (colon)
		host[colon - host] = '\0';
	if (end)
		host[end - host] = '\0';
	redis->host = mem_text(end ? host + 1 : host);
	redis->port = (int)port;
	return 0;
}

static int parse_tcp(const char *text, struct redis *redis, struct err *err)
{
	size_t len = strcspn(text, "/?");
	const char *at = memrchr(text, '@', len);
	const char *host = at ? at + 1 : text;

	if (at)
		parse_user(text, (size_t)(at - text), redis);
	if (text[len] == '/' && text[len + 1] && text_number(text + len + 1, 0, 1 << 20, &redis->database) < 0)
		return err_set(err, ERR_INVALID, "the database after the last / is not a number");
	return parse_host(host, (size_t)(text + len - host), redis, err);
}

int redis_parse(const char *url, struct redis *ret_redis, struct err *err)
{
	struct redis redis = {0};
	int result = 0;

	if (text_starts(url, "unix:/"))
		redis.path = mem_text(text_starts(url, "unix:///") ? url + strlen("unix://") : url + strlen("unix:"));
	else if (text_starts(url, "redis://"))
		result = parse_tcp(url + strlen("redis://"), &redis, err);
	else
		result = err_set(err, ERR_INVALID, "it must begin with redis:// or unix:/");
	if (result < 0) {
		redis_release(&redis);
		return err_context(err, "--redis-url");
	}
	*ret_redis = redis;
	return 0;
}

void redis_release(struct redis *redis)
{
	if (redis->context)
		redisFree(redis->context);
	free(redis->host);
	free(redis->path);
	free(redis->user);
	free(redis->password);
	*redis = (struct redis){0};
}

/* ---- commands ---- */

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

static int connect_now(struct redis *redis, struct err *err)
{
	redisContext *context = redis->path ? redisConnectUnixWithTimeout(redis->path, connect_bound)
					    : redisConnectWithTimeout(redis->host, redis->port, connect_bound);

	if (!context || context->err) {
		err_set(err, ERR_UNAVAILABLE, "Redis: %s", context ? context->errstr : "no memory");
		if (context)
			redisFree(context);
		return -1;
	}
	redis->context = context;
	redisSetTimeout(context, call_bound);
	if (greet(redis, err) == 0)
		return 0;
	disconnect(redis);
	return -1;
}

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
		freeReplyObject(reply);
		reply = NULL;
	}
	return reply;
}
