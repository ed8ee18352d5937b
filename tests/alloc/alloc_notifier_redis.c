/* SPDX-License-Identifier: MPL-2.0 */
/* ALLOC_REDIS_URL: a Redis to use. hiredis 0.14 allocates a buffer at the end of each command and does not check the
 * result. */
#include <stdlib.h>

#include "common/err.h"
#include "notifier/deadlines/redis.h"
#include "tests/alloc/alloc.h"

static void drop_list(void)
{
	const char *drop[] = {"DEL", "short-list"};
	struct redis redis = {0};
	struct err err = ERR_INIT;
	redisReply *reply;

	HOLDS(redis_parse(getenv("ALLOC_REDIS_URL"), &redis, &err) == 0);
	reply = redis_run(&redis, 2, drop, &err);
	HOLDS(reply);
	freeReplyObject(reply);
	redis_release(&redis);
}

static void check_list(const redisReply *reply)
{
	HOLDS(reply->type == REDIS_REPLY_ARRAY && (reply->elements == 0 || reply->elements == 3));
	for (size_t i = 0; i < reply->elements; i++)
		HOLDS(reply->element[i] && reply->element[i]->str);
}

/* Each command is answered, or fails as unavailable. The next one works, on a new connection if necessary. */
static void commands(void)
{
	const char *set[] = {"SET", "short", "value"};
	const char *fill[] = {"RPUSH", "short-list", "a", "b", "c"};
	const char *get[] = {"LRANGE", "short-list", "0", "-1"};
	struct redis redis = {0};
	struct err err = ERR_INIT;
	redisReply *reply;

	alloc_prepare(drop_list);
	HOLDS(redis_parse(getenv("ALLOC_REDIS_URL"), &redis, &err) == 0);
	for (int turn = 0; turn < 3; turn++) {
		static const size_t counts[] = {3, 5, 4};
		const char **const commands[] = {set, fill, get};

		reply = redis_run(&redis, counts[turn], commands[turn], &err);
		HOLDS(reply || err.kind == ERR_UNAVAILABLE);
		if (reply && turn == 2)
			check_list(reply);
		if (reply)
			freeReplyObject(reply);
	}
	alloc_faults_end();
	reply = redis_run(&redis, 3, set, &err);
	HOLDS(reply && reply->type == REDIS_REPLY_STATUS);
	freeReplyObject(reply);
	redis_release(&redis);
}

const struct alloc_case alloc_cases[] = {
	{.name = "commands", .libraries = "libhiredis", .run = commands, .ends_itself = true},
	{0},
};
