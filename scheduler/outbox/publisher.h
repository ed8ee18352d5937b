/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_OUTBOX_PUBLISHER_H
#define SCHEDULER_OUTBOX_PUBLISHER_H

/*
 * The thread that publishes the outbox to Kafka. It receives the rows that this process committed through memory, and
 * polls the table every second for rows that a dead replica left. It deletes the rows that all replicas of the broker
 * have. A message is delivered at least once.
 */

#include "common/kafka/kafka.h"
#include "proto/topics.h"
#include "scheduler/db/db.h"

struct publisher;

/* Applies to topics when they are created. */
struct topic_settings {
	int job_partitions;  /* of the topic of each pool */
	int replication;     /* 0: three brokers, or all if there are fewer */
	int retention_hours; /* 0: as in proto/topics.def */
};

struct publisher_spec {
	struct topic_settings topics;
	const char *database_url;
	const struct kafka_settings *kafka;
};

/* Creates the topics, waiting a moment for the broker, and starts the thread. */
int publisher_start(const struct publisher_spec *spec, struct publisher **ret_publisher, struct err *err);
/* Sends the remaining rows, waits a few seconds for their delivery, and ends the thread. Undelivered rows stay in the
 * outbox. */
void publisher_stop(struct publisher *publisher);
/* Hands over a committed row; copies the texts. Never blocks: if the queue is full, the poll finds the row later. */
void publisher_offer(
	struct publisher *publisher, long long id, const char *topic, const char *key, const char *payload);
/* The number of rows that this process has handed over. */
long long publisher_offered(void);
/* Wakes the thread after the caller's last offer. */
void publisher_wake(struct publisher *publisher);
/* Makes sure that a topic exists before a process subscribes to it, within about a second: a consumer that subscribes
 * earlier would find the topic only much later. If the broker does not answer, a later message tries again. A topic
 * that an operator deleted is created again within a minute. */
void publisher_topic(struct publisher *publisher, const char *name, const struct topic_row *row);
/* Deletes a topic that is no longer used, within about a second, if the broker permits it. */
void publisher_topic_gone(struct publisher *publisher, const char *name);

#endif
