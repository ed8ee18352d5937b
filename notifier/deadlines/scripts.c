/* SPDX-License-Identifier: MPL-2.0 */
#include "notifier/deadlines/scripts.h"

#include <stdio.h>
#include <string.h>

#include "common/err.h"
#include "notifier/deadlines/redis.h"

/* All keys are in one hash slot, so that a cluster accepts scripts that use all of them. */
#define WAITING "{runyard.deadlines}:waiting"
#define FIRED   "{runyard.deadlines}:fired"
#define WHOLE   "{runyard.deadlines}:whole"

#define NOW                                                                                                            \
	"local time = redis.call('TIME')\n"                                                                            \
	"local now = time[1] * 1000 + math.floor(time[2] / 1000)\n"

/* ARGV: id, milliseconds from now or -1, id, ... */
static const char change_script[] = NOW "for i = 1, #ARGV, 2 do\n"
					"  redis.call('ZREM', KEYS[2], ARGV[i])\n"
					"  if tonumber(ARGV[i + 1]) < 0 then\n"
					"    redis.call('ZREM', KEYS[1], ARGV[i])\n"
					"  else\n"
					"    redis.call('ZADD', KEYS[1], now + ARGV[i + 1], ARGV[i])\n"
					"  end\n"
					"end\n"
					"return 0\n";

/* ARGV: the most to claim, the visibility time, how long the sets count as complete. Returns {next or -1, 1 if they
 * must be listed else 0, id, ...}. */
static const char claim_script[] =
	NOW "for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now, 'LIMIT', 0, ARGV[1])) do\n"
	    "  redis.call('ZREM', KEYS[2], id)\n"
	    "  redis.call('ZADD', KEYS[1], 'NX', now, id)\n"
	    "end\n"
	    "local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, ARGV[1])\n"
	    "for _, id in ipairs(due) do\n"
	    "  redis.call('ZREM', KEYS[1], id)\n"
	    "  redis.call('ZADD', KEYS[2], now + ARGV[2], id)\n"
	    "end\n"
	    "local first = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')\n"
	    "local list = redis.call('SET', KEYS[3], now, 'NX', 'PX', ARGV[3])\n"
	    "return {first[2] and math.max(0, math.floor(first[2] - now)) or -1, list and 1 or 0, unpack(due)}\n";

enum { CHANGES_AT_ONCE = 500, NUMBER_SIZE = 24, KEYS = 3 };

static redisReply *script_run(struct redis *redis, const char *script, const char **argv, size_t argc, struct err *err)
{
	argv[0] = "EVAL";
	argv[1] = script;
	argv[2] = "3";
	argv[3] = WAITING;
	argv[4] = FIRED;
	argv[5] = WHOLE;
	return redis_run(redis, argc, argv, err);
}

static int change_some(struct redis *redis, const struct deadline_change *changes, size_t count, struct err *err)
{
	const char *argv[3 + KEYS + CHANGES_AT_ONCE * 2];
	char numbers[CHANGES_AT_ONCE][NUMBER_SIZE];
	size_t argc = 3 + KEYS;
	redisReply *reply;

	for (size_t i = 0; i < count; i++) {
		snprintf(numbers[i], NUMBER_SIZE, "%lld", (long long)changes[i].in_ms);
		argv[argc++] = changes[i].id;
		argv[argc++] = numbers[i];
	}
	reply = script_run(redis, change_script, argv, argc, err);
	if (!reply)
		return -1;
	freeReplyObject(reply);
	return 0;
}

int scripts_change(struct redis *redis, const struct deadline_change *changes, size_t count, struct err *err)
{
	for (size_t done = 0; done < count; done += CHANGES_AT_ONCE)
		if (change_some(redis, changes + done,
			    count - done < CHANGES_AT_ONCE ? count - done : (size_t)CHANGES_AT_ONCE, err) < 0)
			return -1;
	return 0;
}

static int claim_read(const redisReply *reply, struct deadline_claim *ret_claim, struct err *err)
{
	if (reply->type != REDIS_REPLY_ARRAY || reply->elements < 2)
		return err_set(err, ERR_INTERNAL, "Redis answers something else than the script returns");
	ret_claim->next_ms = reply->element[0]->integer;
	ret_claim->list = reply->element[1]->integer == 1;
	ret_claim->count = 0;
	for (size_t i = 2; i < reply->elements && ret_claim->count < MAX_CLAIM; i++)
		text_copy(ret_claim->due[ret_claim->count++], sizeof(ret_claim->due[0]),
			text_or_empty(reply->element[i]->str));
	return 0;
}

int scripts_claim(
	struct redis *redis, int64_t visible_ms, int64_t whole_ms, struct deadline_claim *ret_claim, struct err *err)
{
	const char *argv[3 + KEYS + 3];
	char max[NUMBER_SIZE], visible[NUMBER_SIZE], whole[NUMBER_SIZE];
	redisReply *reply;
	int result;

	snprintf(max, sizeof(max), "%d", MAX_CLAIM);
	snprintf(visible, sizeof(visible), "%lld", (long long)visible_ms);
	snprintf(whole, sizeof(whole), "%lld", (long long)whole_ms);
	argv[6] = max;
	argv[7] = visible;
	argv[8] = whole;
	reply = script_run(redis, claim_script, argv, ARRAY_LEN(argv), err);
	if (!reply)
		return -1;
	result = claim_read(reply, ret_claim, err);
	freeReplyObject(reply);
	return result;
}

int scripts_unlisted(struct redis *redis, struct err *err)
{
	const char *argv[] = {"DEL", WHOLE};
	redisReply *reply = redis_run(redis, ARRAY_LEN(argv), argv, err);

	if (!reply)
		return -1;
	freeReplyObject(reply);
	return 0;
}
