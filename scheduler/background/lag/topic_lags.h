/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_BACKGROUND_LAG_TOPIC_LAGS_H
#define SCHEDULER_BACKGROUND_LAG_TOPIC_LAGS_H

/*
 * All topics with the groups that read them, measured at the broker. librdkafka can end the process that measures
 * (common/kafka/kafka_groups.h). So that process prints the results, a line of JSON for each topic, and another process
 * reads them:
 *
 *     {"topic","group","pool","members","failure","expected","refused","positions":[[committed, start, end],...]}
 *
 * `group` is "" if none reads the topic. `pool` is a name, or null. `failure` (kafka_groups.h) says why there are no
 * positions, and `expected` that the topic is not needed yet. `refused` is what the account is not allowed to describe
 * ("topic" or "group"). Absent members are unknown.
 */

#include <stdio.h>

#include "common/buf.h"
#include "common/json/json.h"
#include "common/kafka/kafka_groups.h"
#include "scheduler/store/workers/pool_topics.h"

struct topic_lags {
	struct pool_topics pools;        /* read by the caller (pool_topics_read) */
	struct kafka_group_topic *items; /* those of the pools, in their order, and then the rows of proto/topics.def */
	size_t count;
	struct kafka_producer *client;
	json_t *lines; /* that were read; the items borrow their texts */
};
#define TOPIC_LAGS_INIT                                                                                                \
	{                                                                                                              \
		.items = NULL                                                                                          \
	}

/* Measures the topics of the pools that were read, and those that all pools share. `timeout_ms` bounds each call. */
int topic_lags_measure(struct topic_lags *lags, const struct kafka_settings *kafka, int timeout_ms, struct err *err);
void topic_lags_print(const struct topic_lags *lags, FILE *out);
/* Reads the lines that another process printed. A topic without a line has the failure `missing`, which is borrowed. */
void topic_lags_take(struct topic_lags *lags, struct buf *output, const char *missing);
/* The positions of a line. The caller releases them with kafka_group_topic_release. */
void topic_lags_positions(const json_t *line, struct kafka_group_topic *ret_item);

/* The pool of an item; NULL: all pools share the topic. */
struct pool_topic *topic_lags_pool(const struct topic_lags *lags, size_t item);
void topic_lags_release(struct topic_lags *lags);

#endif
