/* SPDX-License-Identifier: MPL-2.0 */
#ifndef NOTIFIER_SCHEDULER_CLIENT_KAFKA_CLIENT_H
#define NOTIFIER_SCHEDULER_CLIENT_KAFKA_CLIENT_H

/*
 * Kafka: reads tickets of requests to send from runyard.tasks and writes tickets of results to runyard.task-results.
 * An offset is stored after the scheduler has answered the claim for its ticket. Without brokers there are no
 * tickets, and the notifier relies on its periodic claims.
 */

#include "common/base.h"

struct bus;
struct err;
struct notifier;

int bus_open(struct notifier *notifier, struct bus **ret_bus, struct err *err);
void bus_free(struct bus *bus);

/* ---- tickets: requests to claim ---- */

/* Takes up to `most` ids into `ids` (borrowed until bus_claimed) for a claim; returns how many. */
size_t bus_take(struct bus *bus, size_t most, const char **ids);
/* The claim for the oldest `count` tickets that bus_take returned was answered; stores their offsets. */
void bus_claimed(struct bus *bus, size_t count);
/* Returns the number of tickets that no claim has taken yet. */
size_t bus_waiting(const struct bus *bus);
/* Resumes the partitions if the ring has room, pauses them otherwise. */
void bus_go_on(struct bus *bus);

/* ---- results ---- */

/* Called once. `ok`: all in-sync replicas have acknowledged the ticket. */
typedef void (*bus_published_fn)(void *data, bool ok);

struct bus_published {
	bus_published_fn fn;
	void *data;
};

/* Sends the ticket of a task result. `published` (borrowed until it is called) may be NULL. Without brokers it is
 * called at once with `ok`: the scheduler finds results without tickets by polling. */
void bus_publish(struct bus *bus, const char *task_result, const char *run, struct bus_published *published);

#endif
