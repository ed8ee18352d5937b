/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/background/lag_keeper.h"

#include "common/err.h"
#include "common/json/json.h"
#include "common/log.h"
#include "scheduler/background/topic_lags.h"

enum { CALL_MS = 4000 };

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

static void items_print(const struct topic_lags *lags, FILE *out)
{
	for (size_t i = 0; i < lags->count; i++)
		if (*lags->items[i].group)
			item_print(&lags->items[i], topic_lags_pool(lags, i), out);
	fflush(out);
}

/* ---- groups without members ---- */

static void group_commit(
	const struct topic_lags *lags, const struct kafka_group_topic *item, bool ends, struct pool_topic *pool)
{
	_cleanup_(freep) int64_t *offsets = mem_new(item->partitions, sizeof(*offsets));
	struct err err = ERR_INIT;

	for (size_t p = 0; p < item->partitions; p++) {
		const struct kafka_position *position = &item->positions[p];

		offsets[p] = position->committed >= 0 ? position->committed : position->start;
		if (ends)
			offsets[p] = position->end;
	}
	if (kafka_group_commit(lags->client, item, offsets, CALL_MS, &err) == 0)
		pool->rewound = ends;
	else
		log_warn("the offsets of a group without members can't be set", "group", item->group, "error",
			err.message, NULL);
}

/* A pool is passed to the end only if one round can announce all its jobs again. The positions are older than the
 * number of waiting jobs, so each job that waits is announced again or behind that end. */
static void pool_keep(const struct topic_lags *lags, const struct kafka_group_topic *item, struct pool_topic *pool)
{
	pool->lag = item->partitions ? kafka_group_topic_lag(item) : text_equal(item->failure, KAFKA_NO_TOPIC) ? 0 : -1;
	if (!item->partitions || pool->is_read || item->members > 0)
		return;
	if (pool->lag > pool->waiting && pool->waiting <= POOL_TOPICS_ANNOUNCED)
		group_commit(lags, item, true, pool);
	else if (kafka_group_topic_is_new(item))
		group_commit(lags, item, false, pool);
}

int lag_keep(struct store *store, const struct kafka_settings *kafka, FILE *out, struct err *err)
{
	_cleanup_(topic_lags_release) struct topic_lags lags = TOPIC_LAGS_INIT;

	if (pool_topics_read(store, &lags.pools, err) < 0 || topic_lags_measure(&lags, kafka, CALL_MS, err) < 0)
		return -1;
	items_print(&lags, out);
	if (pool_topics_count(store, &lags.pools, err) < 0)
		return -1;
	for (size_t i = 0; i < lags.pools.count; i++)
		pool_keep(&lags, &lags.items[i], topic_lags_pool(&lags, i));
	return pool_topics_announce(store, &lags.pools, err);
}
