/* SPDX-License-Identifier: MPL-2.0 */
#include "notifier/deadlines/redis.h"

#include <string.h>

#include <curl/curl.h>

#include "common/err.h"

enum { REDIS_PORT = 6379, SENTINEL_PORT = 26379 };

/* Decodes %XX. The caller frees the result. */
static char *unescape(const char *text, size_t len)
{
	return mem_check(curl_easy_unescape(NULL, text, (int)len, NULL));
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

/* Parses host[:port]. */
static int parse_address(const char *text, size_t len, struct redis_address *ret_address, struct err *err)
{
	long long port = ret_address->port;
	char host[256];
	const char *end, *colon;

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
	ret_address->host = mem_text(end ? host + 1 : host);
	ret_address->port = (int)port;
	return 0;
}

/* Parses host[:port],... */
static int parse_addresses(const char *text, size_t len, struct redis *redis, struct err *err)
{
	for (const char *end = text + len, *next; text <= end; text = next + 1) {
		const char *comma = memchr(text, ',', (size_t)(end - text));
		struct redis_address *address = &redis->addresses[redis->count];

		next = comma ? comma : end;
		if (redis->count == (redis->master ? REDIS_SENTINELS_MAX : 1))
			return err_set(err, ERR_INVALID, "it names more than %d addresses",
				redis->master ? REDIS_SENTINELS_MAX : 1);
		address->port = redis->master ? SENTINEL_PORT : REDIS_PORT;
		if (parse_address(text, (size_t)(next - text), address, err) < 0)
			return -1;
		redis->count++;
	}
	return 0;
}

/* Parses "/master" and leaves the rest. */
static int parse_master(const char **path, struct redis *redis, struct err *err)
{
	const char *name = **path == '/' ? *path + 1 : *path;
	size_t len = strcspn(name, "/?");

	if (len == 0)
		return err_set(err, ERR_INVALID, "the name of the master is missing after the sentinels");
	redis->master = unescape(name, len);
	*path = name + len;
	return 0;
}

static int parse_tcp(const char *text, bool has_master, struct redis *redis, struct err *err)
{
	size_t len = strcspn(text, "/?");
	const char *at = memrchr(text, '@', len), *path = text + len;
	const char *host = at ? at + 1 : text;

	if (at)
		parse_user(text, (size_t)(at - text), redis);
	if (has_master && parse_master(&path, redis, err) < 0)
		return -1;
	if (*path == '/' && path[1] && text_number(path + 1, 0, 1 << 20, &redis->database) < 0)
		return err_set(err, ERR_INVALID, "the database after the last / is not a number");
	return parse_addresses(host, (size_t)(text + len - host), redis, err);
}

int redis_parse(const char *url, struct redis *ret_redis, struct err *err)
{
	struct redis redis = {0};
	int result = 0;

	if (text_starts(url, "unix:/"))
		redis.path = mem_text(text_starts(url, "unix:///") ? url + strlen("unix://") : url + strlen("unix:"));
	else if (text_starts(url, "redis://"))
		result = parse_tcp(url + strlen("redis://"), false, &redis, err);
	else if (text_starts(url, "redis+sentinel://"))
		result = parse_tcp(url + strlen("redis+sentinel://"), true, &redis, err);
	else
		result = err_set(err, ERR_INVALID, "it must begin with redis://, redis+sentinel:// or unix:/");
	if (result < 0) {
		redis_release(&redis);
		return err_context(err, "--redis-url");
	}
	*ret_redis = redis;
	return 0;
}
