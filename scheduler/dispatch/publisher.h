/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_DISPATCH_PUBLISHER_H
#define SCHEDULER_DISPATCH_PUBLISHER_H

/*
 * The thread that brings the outbox to Kafka: it takes what this process committed from memory, looks every 200 ms for
 * what a dead replica left, and deletes what all replicas of the broker have. A message may go out twice, never not at
 * all.
 */

#include "common/kafka.h"
#include "proto/topics.h"
#include "scheduler/store/store.h"

struct publisher;

struct publisher_spec {
	const char *database_url;
	const struct kafka_settings *kafka;
};

/* Brings up the topics, waiting a moment for the broker, and starts the thread. */
int publisher_start(const struct publisher_spec *spec, struct publisher **ret_publisher, struct err *err);
/* Sends what is left, waits for its delivery for a few seconds, and ends the thread. What is not delivered stays in the
 * outbox. */
void publisher_stop(struct publisher *publisher);
/* Hands over a committed row; copies the texts. Never blocks: with its queue full, the poll finds the row. */
void publisher_offer(
	struct publisher *publisher, long long id, const char *topic, const char *key, const char *payload);
/* Wakes the thread after a number of offers. */
void publisher_wake(struct publisher *publisher);
/* Makes sure that a topic exists before somebody reads it, within about a second: a reader that comes first would look
 * again only much later. If the broker does not answer, a later message tries again. A topic that an operator deleted
 * comes back within a minute. */
void publisher_topic(struct publisher *publisher, const char *name, const struct topic_row *row);
/* Deletes a topic that nobody will read any more, within about a second, if the broker lets us. */
void publisher_topic_gone(struct publisher *publisher, const char *name);
/* True while a broker is connected. */
bool publisher_up(const struct publisher *publisher);

#endif
