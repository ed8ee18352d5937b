/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_KAFKA_KAFKA_H
#define COMMON_KAFKA_KAFKA_H

/*
 * librdkafka with this project's settings: roundrobin assignor, no batch consume calls, no Nagle,
 * explicit partitions, no idempotence (the claim deduplicates), bounded queues, flush-purge-flush at the end.
 * Broker trouble is logged and counted here and goes away by itself; no call blocks for it.
 */

#include <stdint.h>
#include "common/base.h"

struct err;

struct kafka_settings {
	const char *brokers;    /* "host:port,host:port" */
	const char *client_id;  /* shown in the broker's metrics */
	const char *properties; /* more librdkafka properties, "name=value" separated by line ends or ";" (TLS, SASL) */
	int fetch_wait_ms;      /* how long a fetch may wait at the broker for a first message */
};

/* ---- producing ---- */

struct kafka_producer;

/* `delivered` is called from kafka_producer_poll (or close) once for each message: error is NULL if all replicas
 * have it. `tag` is what kafka_produce was given. */
typedef void (*kafka_delivered_fn)(void *data, uint64_t tag, const char *error);

int kafka_producer_open(const struct kafka_settings *settings, kafka_delivered_fn delivered, void *data,
	struct kafka_producer **ret_producer, struct err *err);
/* Partition -1: by the key's hash, or without a key one by one over the topic's partitions. The payload is copied.
 * -1 with ERR_BUSY: the queue is full. */
int kafka_produce(struct kafka_producer *producer, const char *topic, int partition, const char *key,
	const char *payload, uint64_t tag, struct err *err);
/* Serves delivery reports; waits up to wait_ms for the first. */
void kafka_producer_poll(struct kafka_producer *producer, int wait_ms);
/* Makes fd readable (eventfd) whenever there is something to poll. */
void kafka_producer_wake(struct kafka_producer *producer, int eventfd);
/* Flush, purge, flush, destroy, within about 5 s. */
void kafka_producer_close(struct kafka_producer *producer);

/* ---- consuming ---- */

struct kafka_consumer;

struct kafka_message {
	const char *topic;
	int32_t partition;
	int64_t offset;
	const char *payload; /* not terminated */
	size_t len;
	int64_t sent_ms; /* since 1970, by its producer's clock; -1: unknown */
	void *handle;    /* internal */
};

enum { KAFKA_MOST_TOPICS = 4 };

struct kafka_consumer_spec {
	const struct kafka_settings *settings;
	/* NULL: every message from now on, nothing committed (a broadcast); of what is sent while it is paused, none */
	const char *group;
	const char *topics[KAFKA_MOST_TOPICS]; /* the first ones; the rest is NULL. A broadcast has one */
	int partitions;                        /* of a broadcast's topic */
	/* After each (re)assignment, with the partitions now held; or NULL. Called from kafka_consume. */
	void (*assigned)(void *data, const int32_t *partitions, size_t count);
	void *data;
};

int kafka_consumer_open(const struct kafka_consumer_spec *spec, struct kafka_consumer **ret_consumer, struct err *err);
/* The next message: 1 and *ret_message, to be given back with kafka_message_done; 0 if none came within wait_ms. */
int kafka_consume(struct kafka_consumer *consumer, int wait_ms, struct kafka_message *ret_message);
void kafka_message_done(struct kafka_message *message);
/* The seconds since it was sent; 0 if the clocks differ by more than that. */
double kafka_message_age(const struct kafka_message *message);
/* Remembers that everything up to and with this message is dealt with; committed in the background and at close. */
void kafka_message_store(struct kafka_consumer *consumer, const struct kafka_message *message);
/* Commits what was stored, without waiting. */
void kafka_consumer_commit(struct kafka_consumer *consumer);
/* Holds all partitions, those of a later rebalance too, until kafka_consumer_resume. Idempotent. */
void kafka_consumer_pause(struct kafka_consumer *consumer);
void kafka_consumer_resume(struct kafka_consumer *consumer);
/* Makes fd readable (eventfd) whenever there is something to consume. */
void kafka_consumer_wake(struct kafka_consumer *consumer, int eventfd);
/* Leaves the group and frees it; gives up on a silent coordinator after about 5 s. */
void kafka_consumer_close(struct kafka_consumer *consumer);

/* ---- what an operator sees ---- */

struct kafka_stats {
	int64_t lag; /* messages not yet read, over all assigned partitions; -1: unknown */
	int64_t errors;
	int64_t queued; /* to be sent */
	bool up;        /* a broker is connected */
};
void kafka_producer_stats(const struct kafka_producer *producer, struct kafka_stats *ret_stats);
void kafka_consumer_stats(const struct kafka_consumer *consumer, struct kafka_stats *ret_stats);

/* Deletes a topic, where the broker lets us; what stays there is emptied by its retention. */
void kafka_topic_delete(struct kafka_producer *producer, const char *topic, int timeout_ms);
/* Makes sure that a topic exists; a new one gets that many partitions. Nothing else makes topics on a Kafka broker: a
 * reader that asked for one which was just deleted would make it anew.
 * Returns the number of partitions, or -1 with ERR_UNAVAILABLE. */
int kafka_topic_ensure(struct kafka_producer *producer, const char *topic, int partitions, int64_t retention_ms,
	int timeout_ms, struct err *err);

#endif
