/* SPDX-License-Identifier: MPL-2.0 */
#ifndef NOTIFIER_SCHEDULER_CLIENT_KAFKA_CLIENT_H
#define NOTIFIER_SCHEDULER_CLIENT_KAFKA_CLIENT_H

/*
 * Kafka: tickets of requests to be sent come in on runyard.tasks, tickets of results go out on runyard.task-results.
 * An offset is committed after the claim it led to was answered. Without brokers there are no tickets, and all goes on.
 */

#include "common/base.h"

struct bus;
struct err;
struct notifier;

int bus_open(struct notifier *notifier, struct bus **ret_bus, struct err *err);
void bus_free(struct bus *bus);

/* ---- tickets: task results to be claimed ---- */

/* Takes up to `most` ids into `ids` (borrowed until bus_claimed) for a claim; returns how many. */
size_t bus_take(struct bus *bus, size_t most, const char **ids);
/* The oldest `count` that bus_take gave are dealt with. */
void bus_claimed(struct bus *bus, size_t count);
/* How many wait to be claimed. */
size_t bus_waiting(const struct bus *bus);
/* Reads on if there is room, holds the partitions otherwise. */
void bus_go_on(struct bus *bus);

/* ---- results ---- */

/* Called once: whether all replicas have the ticket. */
typedef void (*bus_published_fn)(void *data, bool ok);

struct bus_published {
	bus_published_fn fn;
	void *data;
};

/* Sends the ticket of a task result. `published` (borrowed until it is called) may be NULL. Without brokers it is
 * called at once: the scheduler finds what no ticket tells. */
void bus_publish(struct bus *bus, const char *task_result, const char *run, struct bus_published *published);

#endif
