/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_SCHEDULER_CLIENT_KAFKA_CLIENT_H
#define WORKER_SCHEDULER_CLIENT_KAFKA_CLIENT_H

/* The settings, the sender and the dead letters that the worker's uses of Kafka share. */

#include "common/kafka/kafka_loop.h"
#include "proto/dead_letters.h"

struct loop;
struct options;

struct kafka_client {
	struct kafka_settings settings;
	struct kafka_sender *sender; /* NULL: there are no brokers */
	struct dead_letters dead_letters;
	kafka_delivered_fn delivered;
	void *data;
};

/* Opens the sender if --brokers is set. `delivered` and `data` are set by the caller: they get the delivery reports of
 * all messages but dead letters. ERR_INVALID for settings that librdkafka rejects. */
int kafka_client_open(struct kafka_client *client, struct loop *loop, const struct options *options, struct err *err);
void kafka_client_close(struct kafka_client *client);
/* For readers: the worker's metrics with that label. */
struct kafka_shown kafka_client_shown(const char *label);
/* Counts a message that can't be read, and sends it to the dead letters. */
void kafka_client_malformed(struct kafka_client *client, const struct kafka_message *message, const char *why);

#endif
