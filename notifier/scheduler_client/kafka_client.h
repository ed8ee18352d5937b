/* SPDX-License-Identifier: MPL-2.0 */
#ifndef NOTIFIER_SCHEDULER_CLIENT_KAFKA_CLIENT_H
#define NOTIFIER_SCHEDULER_CLIENT_KAFKA_CLIENT_H

/*
 * Kafka: reads messages of requests to send from runyard.tasks and writes messages of results to runyard.task-results.
 * An offset is stored after the scheduler has answered the claim for its message. Without brokers there are no
 * messages, and the notifier relies on its periodic claims.
 */

#include "common/base.h"

struct kafka_client;
struct err;
struct notifier;

/* `arrived` is called when messages were read that no claim has taken yet. */
int kafka_client_open(struct notifier *notifier, void (*arrived)(struct notifier *), struct kafka_client **ret_client,
	struct err *err);
void kafka_client_free(struct kafka_client *client);

/* ---- messages: requests to claim ---- */

/* Takes up to `max` ids into `ids` (borrowed until kafka_client_claimed) for a claim; returns how many. */
size_t kafka_client_take(struct kafka_client *client, size_t max, const char **ids);
/* The claim for the oldest `count` messages that kafka_client_take returned was answered; stores their offsets. */
void kafka_client_claimed(struct kafka_client *client, size_t count);
/* Returns the number of messages that no claim has taken yet. */
size_t kafka_client_waiting(const struct kafka_client *client);
/* Resumes the partitions if the ring has room, pauses them otherwise. */
void kafka_client_go_on(struct kafka_client *client);

/* ---- results ---- */

/* Called once. `ok`: all in-sync replicas have acknowledged the message. */
typedef void (*kafka_client_published_fn)(void *data, bool ok);

struct kafka_client_published {
	kafka_client_published_fn fn;
	void *data;
};

/* Sends the message of a task result. `published` (borrowed until it is called) may be NULL. Without brokers it is
 * called at once with `ok`: the scheduler finds results without messages by polling. */
void kafka_client_publish(struct kafka_client *client, const char *task_result, const char *run,
	struct kafka_client_published *published);

#endif
