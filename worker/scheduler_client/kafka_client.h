/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_SCHEDULER_CLIENT_KAFKA_CLIENT_H
#define WORKER_SCHEDULER_CLIENT_KAFKA_CLIENT_H

/*
 * The worker's Kafka clients. They read the pool's job messages and the control messages, and publish results. Without
 * brokers these functions do nothing.
 *
 * A job message announces that a job waits. It causes a claim, and its offset is stored when the claim is answered. Job
 * messages that arrive during a claim belong to the next claim. Without a free slot the partitions are paused. Without
 * a job the control topic is not read.
 */

#include "common/json/json.h"

struct kafka_producer;
struct worker;
struct kafka_client;
struct err;

/* Opens the producer, if there are brokers. ERR_INVALID for settings that librdkafka rejects. */
int kafka_client_open(struct worker *worker, struct kafka_client **ret_client, struct err *err);
void kafka_client_free(struct kafka_client *client);
/* NULL without brokers. Borrowed. */
struct kafka_producer *kafka_client_producer(const struct kafka_client *client);
/* Starts to consume the pool's topic and the control topic. To be called again if the pool's topic has changed. */
void kafka_client_subscribe(struct kafka_client *client, const char *topic, const char *pool);
/* To be called when a claim was sent: it covers all job messages read so far. */
void kafka_client_asked(struct kafka_client *client);
/* To be called when the claim was answered: stores the offsets of its job messages. */
void kafka_client_answered(struct kafka_client *client);
/* Pauses or resumes the topics by the number of free slots, and reads the available messages. */
void kafka_client_go_on(struct kafka_client *client);
/* The partitions of the pool's topic that are assigned to this worker. A new reference. */
json_t *kafka_client_partitions(const struct kafka_client *client);

#endif
