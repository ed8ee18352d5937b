/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/background/topic_lags.h"

#include "proto/topics.h"

static void delivered(void *data, uint64_t tag, const char *error)
{
	(void)data;
	(void)tag;
	(void)error;
}

static void item_add(struct topic_lags *lags, const char *topic, const char *group)
{
	lags->items[lags->count++] = (struct kafka_group_topic){.group = group, .topic = topic};
}

int topic_lags_measure(struct topic_lags *lags, const struct kafka_settings *kafka, int timeout_ms, struct err *err)
{
	if (kafka_producer_open(kafka, delivered, NULL, &lags->client, err) < 0)
		return -1;
	lags->items = mem_new(lags->pools.count + TOPIC_COUNT, sizeof(*lags->items));
	for (size_t i = 0; i < lags->pools.count; i++)
		item_add(lags, lags->pools.rows[i].topic, lags->pools.rows[i].group);
	for (int i = 0; i < TOPIC_COUNT; i++)
		if (i != TOPIC_JOBS)
			item_add(lags, topics[i].name, topics[i].group);
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
	pool_topics_release(&lags->pools);
	kafka_producer_close(lags->client);
	*lags = (struct topic_lags)TOPIC_LAGS_INIT;
}
