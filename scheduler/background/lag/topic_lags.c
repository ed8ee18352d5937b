/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/background/lag/topic_lags.h"

#include <string.h>

#include "common/err.h"
#include "proto/topics.h"

static void delivered(void *data, uint64_t tag, const char *error)
{
	(void)data;
	(void)tag;
	(void)error;
}

static void item_add(struct topic_lags *lags, const char *topic, const char *group)
{
	lags->items[lags->count++] = (struct kafka_group_topic){.group = group, .topic = topic, .members = -1};
}

static void items_list(struct topic_lags *lags)
{
	lags->items = mem_new(lags->pools.count + TOPIC_COUNT, sizeof(*lags->items));
	for (size_t i = 0; i < lags->pools.count; i++)
		item_add(lags, lags->pools.rows[i].topic, lags->pools.rows[i].group);
	for (int i = 0; i < TOPIC_COUNT; i++)
		if (i != TOPIC_JOBS)
			item_add(lags, topics[i].name, topics[i].group);
}

int topic_lags_measure(struct topic_lags *lags, const struct kafka_settings *kafka, int timeout_ms, struct err *err)
{
	if (kafka_producer_open(kafka, delivered, NULL, &lags->client, err) < 0)
		return -1;
	items_list(lags);
	kafka_groups_measure(lags->client, lags->items, lags->count, timeout_ms);
	return 0;
}

struct pool_topic *topic_lags_pool(const struct topic_lags *lags, size_t item)
{
	return item < lags->pools.count ? &lags->pools.rows[item] : NULL;
}

void topic_lags_release(struct topic_lags *lags)
{
	for (size_t i = 0; i < lags->count; i++)
		kafka_group_topic_release(&lags->items[i]);
	free(lags->items);
	json_decref(lags->lines);
	pool_topics_release(&lags->pools);
	kafka_producer_close(lags->client);
	*lags = (struct topic_lags)TOPIC_LAGS_INIT;
}

/* ---- printing ---- */

/* A pool's topic is created with its first worker or job. */
static bool failure_is_expected(const struct kafka_group_topic *item, const struct pool_topic *pool)
{
	return pool && !pool->waiting && !pool->is_read && text_equal(item->failure, KAFKA_NO_TOPIC);
}

static void item_print(const struct kafka_group_topic *item, const struct pool_topic *pool, FILE *out)
{
	json_auto_t *line = json_pack("{ss ss so}", "topic", item->topic, "group", item->group, "pool",
		json_string_or_null(pool ? pool->name : NULL));
	json_t *positions = json_array();
	_cleanup_(freep) char *text = NULL;

	for (size_t p = 0; p < item->partitions; p++)
		json_array_append_new(positions,
			json_pack("[I, I, I]", (json_int_t)item->positions[p].committed,
				(json_int_t)item->positions[p].start, (json_int_t)item->positions[p].end));
	json_object_set_new(line, "positions", positions);
	if (item->members >= 0)
		json_object_set_new(line, "members", json_integer(item->members));
	if (item->failure)
		json_object_update_new(line,
			json_pack("{ss sb}", "failure", item->failure, "expected", failure_is_expected(item, pool)));
	if (item->refused)
		json_object_set_new(line, "refused", json_string(item->refused));
	text = json_text(line);
	fprintf(out, "%s\n", text);
}

void topic_lags_print(const struct topic_lags *lags, FILE *out)
{
	for (size_t i = 0; i < lags->count; i++)
		item_print(&lags->items[i], topic_lags_pool(lags, i), out);
	fflush(out);
}

/* ---- reading ---- */

void topic_lags_positions(const json_t *line, struct kafka_group_topic *ret_item)
{
	const json_t *list = json_at(line, "positions"), *position;
	size_t p;

	ret_item->partitions = json_array_size(list);
	ret_item->positions = mem_new(ret_item->partitions + 1, sizeof(*ret_item->positions));
	json_array_foreach((json_t *)list, p, position)
	{
		ret_item->positions[p] =
			(struct kafka_position){.committed = json_integer_value(json_array_get(position, 0)),
				.start = json_integer_value(json_array_get(position, 1)),
				.end = json_integer_value(json_array_get(position, 2))};
	}
}

static void item_take(struct kafka_group_topic *item, const json_t *line)
{
	const json_t *members = json_at(line, "members");

	item->failure = json_string_at(line, "failure");
	item->members = members ? (int)json_integer_value(members) : -1;
	topic_lags_positions(line, item);
}

/* Both have the same order, but for pools that were made or deleted in between. */
static void items_take(struct topic_lags *lags, const char *missing)
{
	size_t from = 0, lines = json_array_size(lags->lines);

	for (size_t i = 0; i < lags->count; i++) {
		size_t at = from;

		while (at < lines &&
			!text_equal(json_string_at(json_array_get(lags->lines, at), "topic"), lags->items[i].topic))
			at++;
		if (at == lines) {
			lags->items[i].failure = missing;
			continue;
		}
		item_take(&lags->items[i], json_array_get(lags->lines, at));
		from = at + 1;
	}
}

void topic_lags_take(struct topic_lags *lags, struct buf *output, const char *missing)
{
	char *rest = NULL;

	lags->lines = json_array();
	for (char *text = strtok_r((char *)buf_str(output), "\n", &rest); text; text = strtok_r(NULL, "\n", &rest)) {
		struct err err = ERR_INIT;
		json_t *line;

		if (json_parse(text, strlen(text), &line, &err) == 0)
			json_array_append_new(lags->lines, line);
	}
	items_list(lags);
	items_take(lags, missing);
}
