/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_KAFKA_KAFKA_H
#define COMMON_KAFKA_KAFKA_H

/*
 * librdkafka with this project's settings: roundrobin assignor, no batch consume calls, no Nagle, explicit
 * partitions, no idempotence (the claim deduplicates), bounded queues, flush-purge-flush at the end. Errors of
 * brokers are logged and counted here, and librdkafka retries. No call blocks for them.
 */

#include "common/kafka/kafka_types.h"

struct err;

/* ---- producer ---- */

struct kafka_producer;

/* `delivered` is called from kafka_producer_poll (or close) once for each message. `error` is NULL if all in-sync
 * replicas have it. `tag` is the value given to kafka_produce. */
typedef void (*kafka_delivered_fn)(void *data, uint64_t tag, const char *error);

int kafka_producer_open(const struct kafka_settings *settings, kafka_delivered_fn delivered, void *data,
	struct kafka_producer **ret_producer, struct err *err);
/* A message to send. Its texts are borrowed for the call. */
struct kafka_record {
	const char *topic;
	/* NULL: round-robin. "N/M", two digits: round-robin over the N-th (from 0) of M parts of the partitions, so
	 * that each part keeps its own order. Any other key: its hash chooses the partition */
	const char *key;
	const char *payload;
	uint64_t tag; /* for kafka_delivered_fn */
};
/* -1 with ERR_BUSY if the queue is full. */
int kafka_produce(struct kafka_producer *producer, const struct kafka_record *record, struct err *err);
/* Serves delivery reports. Waits up to wait_ms for the first. */
void kafka_producer_poll(struct kafka_producer *producer, int wait_ms);
/* Makes fd (an eventfd) readable whenever there is something to poll. */
void kafka_producer_wake(struct kafka_producer *producer, int eventfd);
/* Flush, purge, flush, destroy, within about 5 s. */
void kafka_producer_close(struct kafka_producer *producer);

/* ---- consumer ---- */

struct kafka_consumer;

struct kafka_message {
	const char *topic;
	int32_t partition;
	int64_t offset;
	const char *payload; /* not terminated */
	size_t len;
	int64_t sent_ms; /* since 1970, by the producer's clock; -1: unknown */
	void *handle;    /* internal */
};

enum { KAFKA_MAX_TOPICS = 4 };

struct kafka_consumer_spec {
	const struct kafka_settings *settings;
	/* NULL: a broadcast. It gets every message from now on, commits nothing, and misses messages sent while
	 * paused. With `partitions` 0 it reads nothing before kafka_broadcast_begin */
	const char *group;
	const char *topics[KAFKA_MAX_TOPICS]; /* terminated by NULL unless full. A broadcast has one */
	int partitions;                       /* of a broadcast's topic */
	/* Called from kafka_consume after each (re)assignment, with the partitions now assigned; or NULL. */
	void (*assigned)(void *data, const int32_t *partitions, size_t count);
	void *data;
};

int kafka_consumer_open(const struct kafka_consumer_spec *spec, struct kafka_consumer **ret_consumer, struct err *err);
/* The offsets of the oldest message of a partition and of the next one. */
struct kafka_span {
	int64_t start, end;
};
/* Asks for the offsets of all partitions of the broadcast's topic, at most `max`. Returns the number of partitions, or
 * -1 with ERR_UNAVAILABLE. Waits for the answers, timeout_ms for each. */
int kafka_broadcast_spans(
	struct kafka_consumer *consumer, int timeout_ms, struct kafka_span *spans, int max, struct err *err);
/* Reads the partitions from these offsets on. If one of them no longer exists, because it was deleted or the topic was
 * created anew, kafka_broadcast_lost is true: messages may be missing, and the caller begins again. */
int kafka_broadcast_begin(struct kafka_consumer *consumer, const int64_t *offsets, int partitions, struct err *err);
bool kafka_broadcast_lost(const struct kafka_consumer *consumer);
/* Reads the next message. Returns 1 with *ret_message, to be released with kafka_message_done; 0 if none came within
 * wait_ms. */
int kafka_consume(struct kafka_consumer *consumer, int wait_ms, struct kafka_message *ret_message);
void kafka_message_done(struct kafka_message *message);
/* The seconds since it was sent; 0 if the clocks differ by more. */
double kafka_message_age(const struct kafka_message *message);
/* Stores the offset: everything up to and including this message is processed. Committed in the background and at
 * close. */
void kafka_message_store(struct kafka_consumer *consumer, const struct kafka_message *message);
/* Stores a position: everything before that offset is processed. */
void kafka_position_store(struct kafka_consumer *consumer, const char *topic, int32_t partition, int64_t offset);
/* Commits the stored offsets, without waiting. */
void kafka_consumer_commit(struct kafka_consumer *consumer);
/* The offset after the last message of a partition that has no messages, so that a position can be committed before the
 * first one; -1: it has messages, or its ends are not known yet. */
int64_t kafka_partition_empty(struct kafka_consumer *consumer, const char *topic, int32_t partition);
/* Pauses or resumes all partitions, including those of a later rebalance. Idempotent. */
void kafka_consumer_pause(struct kafka_consumer *consumer, bool paused);
/* Pauses or resumes one assigned partition. A new assignment resumes it. */
void kafka_partition_pause(struct kafka_consumer *consumer, const char *topic, int32_t partition, bool paused);
/* Makes fd (an eventfd) readable whenever there is something to consume. */
void kafka_consumer_wake(struct kafka_consumer *consumer, int eventfd);
/* Leaves the group and frees the consumer. Gives up on an unavailable coordinator after about 5 s. */
void kafka_consumer_close(struct kafka_consumer *consumer);

/* ---- statistics ---- */

void kafka_producer_stats(const struct kafka_producer *producer, struct kafka_stats *ret_stats);
void kafka_consumer_stats(const struct kafka_consumer *consumer, struct kafka_stats *ret_stats);

/* Deletes a topic if the broker allows it. Otherwise the topic's retention empties it. */
void kafka_topic_delete(struct kafka_producer *producer, const char *topic, int timeout_ms);
struct kafka_topic {
	const char *name;
	int partitions;
	int replication; /* the number of brokers that have each message; 0: three, or all if there are fewer */
	int64_t retention_ms;
};
/* Ensures that a topic exists, and creates it as described if not. Nothing else creates topics on a
 * Kafka broker: a consumer that asks for a topic which was just deleted does not create it again. Returns the number
 * of partitions, or -1 with ERR_UNAVAILABLE. */
int kafka_topic_ensure(
	struct kafka_producer *producer, const struct kafka_topic *topic, int timeout_ms, struct err *err);

/* The number of brokers, asked from one of them. -1 with ERR_UNAVAILABLE if none answers in that time. */
int kafka_brokers(struct kafka_producer *producer, int timeout_ms, struct err *err);

#endif
