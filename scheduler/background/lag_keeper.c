/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/background/lag_keeper.h"

#include "common/err.h"
#include "common/json/json.h"
#include "common/kafka/kafka_groups.h"
#include "common/log.h"
#include "proto/topics.h"
#include "scheduler/store/workers/pool_topics.h"

enum { CALL_MS = 4000 };

/* The topics that a group reads, those of pools last. */
struct keeping {
	struct store *store;
	struct kafka_producer *client;
	struct pool_topics pools;
	struct kafka_group_topic *items;
	size_t count, first_pool;
};

static void keeping_release(struct keeping *keeping)
{
	for (size_t i = 0; i < keeping->count; i++)
		kafka_group_topic_release(&keeping->items[i]);
	free(keeping->items);
	pool_topics_release(&keeping->pools);
	kafka_producer_close(keeping->client);
}

static void delivered(void *data, uint64_t tag, const char *error)
{
	(void)data;
	(void)tag;
	(void)error;
}

static int keeping_begin(struct keeping *keeping, const struct kafka_settings *kafka, struct err *err)
{
	if (pool_topics_read(keeping->store, &keeping->pools, err) < 0 ||
		kafka_producer_open(kafka, delivered, NULL, &keeping->client, err) < 0)
		return -1;
	keeping->items = mem_new(TOPIC_COUNT + keeping->pools.count, sizeof(*keeping->items));
	for (int i = 0; i < TOPIC_COUNT; i++)
		if (i != TOPIC_JOBS && *topics[i].group)
			keeping->items[keeping->count++] =
				(struct kafka_group_topic){.group = topics[i].group, .topic = topics[i].name};
	keeping->first_pool = keeping->count;
	for (size_t i = 0; i < keeping->pools.count; i++)
		keeping->items[keeping->count++] = (struct kafka_group_topic){
			.group = keeping->pools.rows[i].group, .topic = keeping->pools.rows[i].topic};
	return 0;
}

/* ---- the lines ---- */

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
	if (item->failure && !failure_is_expected(item, pool))
		json_object_set_new(line, "failure", json_string(item->failure));
	if (item->refused)
		json_object_set_new(line, "refused", json_string(item->refused));
	text = json_text(line);
	fprintf(out, "%s\n", text);
}

static void items_print(const struct keeping *keeping, FILE *out)
{
	for (size_t i = 0; i < keeping->count; i++)
		item_print(&keeping->items[i],
			i < keeping->first_pool ? NULL : &keeping->pools.rows[i - keeping->first_pool], out);
	fflush(out);
}

/* ---- groups without members ---- */

static void group_commit(
	const struct keeping *keeping, const struct kafka_group_topic *item, bool ends, struct pool_topic *pool)
{
	_cleanup_(freep) int64_t *offsets = mem_new(item->partitions, sizeof(*offsets));
	struct err err = ERR_INIT;

	for (size_t p = 0; p < item->partitions; p++) {
		const struct kafka_position *position = &item->positions[p];

		offsets[p] = position->committed >= 0 ? position->committed : position->start;
		if (ends)
			offsets[p] = position->end;
	}
	if (kafka_group_commit(keeping->client, item, offsets, CALL_MS, &err) == 0)
		pool->rewound = ends;
	else
		log_warn("the offsets of a group without members can't be set", "group", item->group, "error",
			err.message, NULL);
}

/* A pool is passed to the end only if one round can announce all its jobs again. The positions are older than the
 * number of waiting jobs, so each job that waits is announced again or behind that end. */
static void pool_keep(const struct keeping *keeping, const struct kafka_group_topic *item, struct pool_topic *pool)
{
	pool->lag = item->partitions ? kafka_group_topic_lag(item) : text_equal(item->failure, KAFKA_NO_TOPIC) ? 0 : -1;
	if (!item->partitions || pool->is_read || item->members > 0)
		return;
	if (pool->lag > pool->waiting && pool->waiting <= POOL_TOPICS_ANNOUNCED)
		group_commit(keeping, item, true, pool);
	else if (kafka_group_topic_is_new(item))
		group_commit(keeping, item, false, pool);
}

int lag_keep(struct store *store, const struct kafka_settings *kafka, FILE *out, struct err *err)
{
	_cleanup_(keeping_release) struct keeping keeping = {.store = store};

	if (keeping_begin(&keeping, kafka, err) < 0)
		return -1;
	kafka_groups_measure(keeping.client, keeping.items, keeping.count, CALL_MS);
	items_print(&keeping, out);
	if (pool_topics_count(store, &keeping.pools, err) < 0)
		return -1;
	for (size_t i = 0; i < keeping.pools.count; i++)
		pool_keep(&keeping, &keeping.items[keeping.first_pool + i], &keeping.pools.rows[i]);
	return pool_topics_announce(store, &keeping.pools, err);
}
