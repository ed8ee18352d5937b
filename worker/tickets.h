/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_TICKETS_H
#define WORKER_TICKETS_H

/*
 * The worker's side of Kafka: the pool's tickets, the control messages, and the results it sends. A worker without
 * brokers has the same functions, and they do nothing.
 *
 * A ticket says that some job waits; it leads to a claim, and its offset is stored when that was answered. Tickets that
 * come while a claim is under way belong to the next one. Without a free slot the partitions are paused; without a job
 * the control topic is not read.
 */

#include "common/json.h"

struct kafka_producer;
struct worker;
struct tickets;
struct err;

/* Opens the producer, if there are brokers. ERR_INVALID for settings that librdkafka doesn't take. */
int tickets_open(struct worker *worker, struct tickets **ret_tickets, struct err *err);
void tickets_free(struct tickets *tickets);
/* NULL without brokers. Borrowed. */
struct kafka_producer *tickets_producer(const struct tickets *tickets);
/* Consumes the pool's topic and the control topic from now on; again with another topic if the pool changed. */
void tickets_subscribe(struct tickets *tickets, const char *topic, const char *pool);
/* A claim was sent: it answers all tickets read so far. */
void tickets_asked(struct tickets *tickets);
/* It was answered: their offsets are stored. */
void tickets_answered(struct tickets *tickets);
/* Pauses or resumes by the slots that are free, and reads what there is. */
void tickets_go_on(struct tickets *tickets);
/* The partitions of the pool's topic that this worker has. A new reference. */
json_t *tickets_partitions(const struct tickets *tickets);

#endif
