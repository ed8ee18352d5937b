/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_BACKGROUND_TOPIC_LAGS_H
#define SCHEDULER_BACKGROUND_TOPIC_LAGS_H

/* All topics with the groups that read them, measured at the broker. librdkafka can end the process that measures
 * (common/kafka/kafka_groups.h). */

#include "common/kafka/kafka_groups.h"
#include "scheduler/store/workers/pool_topics.h"

struct topic_lags {
	struct pool_topics pools;        /* read by the caller (pool_topics_read) */
	struct kafka_group_topic *items; /* those of the pools, in their order, and then the rows of proto/topics.def */
	size_t count;
	struct kafka_producer *client;
};
#define TOPIC_LAGS_INIT                                                                                                \
	{                                                                                                              \
		.items = NULL                                                                                          \
	}

/* Measures the topics of the pools that were read, and those that all pools share. `timeout_ms` bounds each call. */
int topic_lags_measure(struct topic_lags *lags, const struct kafka_settings *kafka, int timeout_ms, struct err *err);
/* The pool of an item; NULL: all pools share the topic. */
struct pool_topic *topic_lags_pool(const struct topic_lags *lags, size_t item);
void topic_lags_release(struct topic_lags *lags);

#endif
