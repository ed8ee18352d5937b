/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_SCHEDULER_CLIENT_KAFKA_CLIENT_H
#define WORKER_SCHEDULER_CLIENT_KAFKA_CLIENT_H

/*
 * The worker's Kafka clients. They read the pool's tickets and the control messages, and publish results. Without
 * brokers these functions do nothing.
 *
 * A ticket announces that a job waits. It causes a claim, and its offset is stored when the claim is answered. Tickets
 * that arrive during a claim belong to the next claim. Without a free slot the partitions are paused. Without a job
 * the control topic is not read.
 */

#include "common/json/json.h"

struct kafka_producer;
struct worker;
struct tickets;
struct err;

/* Opens the producer, if there are brokers. ERR_INVALID for settings that librdkafka rejects. */
int tickets_open(struct worker *worker, struct tickets **ret_tickets, struct err *err);
void tickets_free(struct tickets *tickets);
/* NULL without brokers. Borrowed. */
struct kafka_producer *tickets_producer(const struct tickets *tickets);
/* Starts to consume the pool's topic and the control topic. To be called again if the pool's topic has changed. */
void tickets_subscribe(struct tickets *tickets, const char *topic, const char *pool);
/* To be called when a claim was sent: it covers all tickets read so far. */
void tickets_asked(struct tickets *tickets);
/* To be called when the claim was answered: stores the offsets of its tickets. */
void tickets_answered(struct tickets *tickets);
/* Pauses or resumes the topics by the number of free slots, and reads the available messages. */
void tickets_go_on(struct tickets *tickets);
/* The partitions of the pool's topic that are assigned to this worker. A new reference. */
json_t *tickets_partitions(const struct tickets *tickets);

#endif
