/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_KAFKA_KAFKA_GROUPS_H
#define COMMON_KAFKA_KAFKA_GROUPS_H

/*
 * The positions of consumer groups, as the brokers know them. The calls block, and librdkafka can end the process in
 * them, so they are for processes that may end (confluentinc/librdkafka#4605).
 * They need the ACLs Describe of the topics and the groups. kafka_group_commit needs Read of both.
 */

#include "common/kafka/kafka.h"

#define KAFKA_NO_TOPIC "no-topic" /* the `failure` of a topic that does not exist or is not shown to this account */

struct kafka_position {
	int64_t committed;  /* -1: the group has committed nothing */
	int64_t start, end; /* the offsets of the oldest message and of the next one */
};

/* A topic and the group that reads it. The texts are borrowed. */
struct kafka_group_topic {
	const char *group, *topic; /* group "": none reads it */
	/* The results. */
	struct kafka_position *positions; /* by partition */
	size_t partitions;                /* 0: they could not be measured */
	int members;                      /* of the group; -1: unknown */
	const char *failure;              /* why there is no result: a constant word, or NULL */
	const char *refused;              /* what the account may not describe: "topic", "group", or NULL */
};

/* Measures all of them, the groups at the same time. Items of one group stand together. The caller releases each with
 * kafka_group_topic_release. */
void kafka_groups_measure(
	struct kafka_producer *producer, struct kafka_group_topic *items, size_t count, int timeout_ms);
void kafka_group_topic_release(struct kafka_group_topic *item);
/* The number of messages that the group has not committed. A partition of which nothing was committed counts from its
 * oldest message on. */
int64_t kafka_position_lag(const struct kafka_position *position);
int64_t kafka_group_topic_lag(const struct kafka_group_topic *item);
/* Whether a partition has no committed offset. */
bool kafka_group_topic_is_new(const struct kafka_group_topic *item);
/* Commits these offsets, one for each partition, for a group without members. Brokers refuse it for others. */
int kafka_group_commit(struct kafka_producer *producer, const struct kafka_group_topic *item, const int64_t *offsets,
	int timeout_ms, struct err *err);

#endif
