/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_KAFKA_KAFKA_LOOP_H
#define COMMON_KAFKA_KAFKA_LOOP_H

/*
 * Kafka clients that an event loop serves: a sender and a reader, each with an eventfd that wakes the loop. Once a
 * second both are also served without an event, for statistics and for rebalances while a reader is paused.
 */

#include "common/kafka/kafka.h"

struct loop;

/* The process's metrics of its Kafka clients, and the label of one client. */
struct kafka_shown {
	const char *client;
	int up, lag; /* numbers of the metrics (metrics.h) */
};

/* ---- sender ---- */

struct kafka_sender;

struct kafka_sender_spec {
	struct loop *loop;
	const struct kafka_settings *settings;
	struct kafka_shown shown;
	kafka_delivered_fn delivered;
	void *data;
};

/* ERR_INVALID for settings that librdkafka rejects. */
int kafka_sender_open(const struct kafka_sender_spec *spec, struct kafka_sender **ret_sender, struct err *err);
/* As kafka_produce. */
int kafka_sender_send(struct kafka_sender *sender, const struct kafka_record *record, struct err *err);
/* Whether a broker is probably reachable. Statistics arrive only every few seconds, so a new sender counts as
 * connected. */
bool kafka_sender_connected(const struct kafka_sender *sender);
/* As kafka_producer_close. */
void kafka_sender_free(struct kafka_sender *sender);

/* ---- reader ---- */

struct kafka_reader;

struct kafka_reader_spec {
	struct loop *loop;
	struct kafka_consumer_spec consumer;
	struct kafka_shown shown; /* `client` NULL: its statistics are not shown */
	/* Takes a message: the function, or later its owner, calls kafka_message_done. */
	void (*take)(void *data, struct kafka_message *message);
	/* Or NULL. Returns whether another message may be read. */
	bool (*has_room)(void *data);
	/* Or NULL. Called after messages were read, and once a second. */
	void (*passed)(void *data);
	void *data;
};

int kafka_reader_open(const struct kafka_reader_spec *spec, struct kafka_reader **ret_reader, struct err *err);
void kafka_reader_free(struct kafka_reader *reader);
/* Reads the messages that wait. To be called when there is room again, because those raise no new event. */
void kafka_reader_read(struct kafka_reader *reader);
/* Pauses or resumes all partitions. NULL: nothing happens. */
void kafka_reader_pause(struct kafka_reader *reader, bool paused);
/* Its consumer, for pauses and positions of partitions. Borrowed. */
struct kafka_consumer *kafka_reader_consumer(struct kafka_reader *reader);

#endif
