/* SPDX-License-Identifier: MPL-2.0 */
#include "notifier/scheduler_client/kafka_client.h"

#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/kafka/kafka.h"
#include "common/log.h"
#include "common/http/rate.h"
#include "notifier/scheduler_client/claims.h"
#include "notifier/metrics.h"
#include "notifier/notifier.h"
#include "proto/messages.h"
#include "proto/topics.h"

enum { MOST_HELD = 2000, POLL_MS = 1000 };
enum { READ_AT_ONCE = 256 }; /* bounds the messages read in one pass, so that the loop gets to its other work */

/* A ticket that was read and whose offset is not stored yet. */
struct held {
	struct id id;
	int32_t partition;
	int64_t offset;
};

struct bus {
	struct notifier *notifier;
	struct kafka_settings settings;
	struct kafka_producer *producer;
	struct kafka_consumer *consumer;
	struct bus_published letter; /* the tag of every dead letter */
	int produced_fd, tickets_fd; /* eventfds */
	struct held held[MOST_HELD]; /* a ring, oldest first: tickets given to claims, then tickets not claimed yet */
	size_t first, count, taken;
	struct loop_timer timer;
	struct rate letters;
};

static const struct rate_limit letter_limit = {60, 60000};

/* ---- results ---- */

static void delivered(void *data, uint64_t tag, const char *error)
{
	struct bus_published *published = (struct bus_published *)(uintptr_t)tag;
	const struct bus *bus = data;

	if (published == &bus->letter) {
		metric_addf(M_DEAD_LETTERS, 1, "outcome=\"%s\"", error ? "failed" : "ok");
		return;
	}
	metric_addf(M_PUBLISHED, 1, "outcome=\"%s\"", error ? "failed" : "ok");
	if (published)
		published->fn(published->data, !error);
}

void bus_publish(struct bus *bus, const char *task_result, const char *run, struct bus_published *published)
{
	struct task_ticket ticket;
	struct err err = ERR_INIT;
	bool sent = true;

	text_copy(ticket.task_result.text, sizeof(ticket.task_result.text), task_result);
	text_copy(ticket.run.text, sizeof(ticket.run.text), text_or_empty(run));
	if (bus->producer) {
		_cleanup_(freep) char *text = task_ticket_encode(&ticket);

		sent = kafka_produce(bus->producer, topics[TOPIC_TASK_RESULTS].name, -1, NULL, text,
			       (uint64_t)(uintptr_t)published, &err) == 0;
		if (sent)
			return;
		metric_addf(M_PUBLISHED, 1, "outcome=\"failed\"");
	}
	if (published)
		published->fn(published->data, sent);
}

static void produced(void *data, int fd, unsigned events)
{
	struct bus *bus = data;

	(void)events;
	loop_eventfd_clear(fd);
	kafka_producer_poll(bus->producer, 0);
}

/* ---- tickets ---- */

static struct held *held_at(struct bus *bus, size_t place)
{
	return &bus->held[(bus->first + place) % MOST_HELD];
}

static void offset_store(struct bus *bus, int32_t partition, int64_t offset)
{
	const struct kafka_message message = {
		.topic = topics[TOPIC_TASKS].name, .partition = partition, .offset = offset};

	kafka_message_store(bus->consumer, &message);
}

static void letter_send(struct bus *bus, const struct kafka_message *message, const char *why)
{
	const struct dead_letter letter = dead_letter_of(message, bus->notifier->options.name, why);
	_cleanup_(freep) char *text = dead_letter_encode(&letter);
	struct err err = ERR_INIT;

	metric_addf(M_TICKETS, 1, "kind=\"malformed\"");
	if (!rate_take(&bus->letters, &letter_limit, clock_mono_ms())) {
		metric_addf(M_DEAD_LETTERS, 1, "outcome=\"dropped\"");
		return;
	}
	log_warn("a message can't be read; it goes to the dead letters", "topic", message->topic, "why", why, NULL);
	if (kafka_produce(bus->producer, topics[TOPIC_DEAD_LETTERS].name, -1, NULL, text,
		    (uint64_t)(uintptr_t)&bus->letter, &err) < 0)
		metric_addf(M_DEAD_LETTERS, 1, "outcome=\"failed\"");
}

static void ticket_take(struct bus *bus, const struct kafka_message *message)
{
	struct request_ticket ticket;
	struct err err = ERR_INIT;

	if (request_ticket_decode(message->payload, message->len, &ticket, &err) < 0) {
		/* Its offset is stored along with that of the next valid ticket. */
		letter_send(bus, message, err.message);
		return;
	}
	metric_addf(M_TICKETS, 1, "kind=\"%s\"", ticket.notification ? "notification" : "task");
	*held_at(bus, bus->count++) =
		(struct held){.id = ticket.id, .partition = message->partition, .offset = message->offset};
}

/* Polls even while the partitions are paused: librdkafka handles a rebalance only when it is polled. */
static void tickets_read(struct bus *bus)
{
	struct kafka_message message;
	size_t before = bus->count;
	int count = 0;

	while (bus->consumer && bus->count < MOST_HELD && count < READ_AT_ONCE &&
		kafka_consume(bus->consumer, 0, &message)) {
		ticket_take(bus, &message);
		kafka_message_done(&message);
		count++;
	}
	if (count == READ_AT_ONCE)
		loop_eventfd_set(bus->tickets_fd);
	bus_go_on(bus);
	if (bus->count > before)
		claims_wake(bus->notifier->claims);
}

static void tickets_ready(void *data, int fd, unsigned events)
{
	(void)events;
	loop_eventfd_clear(fd);
	tickets_read(data);
}

size_t bus_waiting(const struct bus *bus)
{
	return bus->count - bus->taken;
}

size_t bus_take(struct bus *bus, size_t most, const char **ids)
{
	size_t count = bus_waiting(bus) < most ? bus_waiting(bus) : most;

	for (size_t i = 0; i < count; i++)
		ids[i] = held_at(bus, bus->taken + i)->id.text;
	bus->taken += count;
	return count;
}

void bus_claimed(struct bus *bus, size_t count)
{
	if (count == 0)
		return;
	for (size_t i = 0; i < count; i++)
		offset_store(bus, held_at(bus, i)->partition, held_at(bus, i)->offset);
	bus->first = (bus->first + count) % MOST_HELD;
	bus->count -= count;
	bus->taken -= count;
	tickets_read(bus); /* messages left behind when the ring was full raise no new event */
}

void bus_go_on(struct bus *bus)
{
	if (!bus->consumer)
		return;
	if (bus->count < MOST_HELD && !bus->notifier->draining)
		kafka_consumer_resume(bus->consumer);
	else
		kafka_consumer_pause(bus->consumer);
}

/* ---- the clients ---- */

static void show_client(const char *client, const struct kafka_stats *stats)
{
	metric_setf(M_KAFKA_UP, stats->up, "client=\"%s\"", client);
	metric_setf(M_KAFKA_ERRORS, (double)stats->errors, "client=\"%s\"", client);
	if (stats->lag >= 0)
		metric_setf(M_KAFKA_LAG, (double)stats->lag, "client=\"%s\"", client);
}

/* Handles what raises no event on an eventfd: statistics, and rebalances while all partitions are paused. */
static void serve(void *data)
{
	struct bus *bus = data;
	struct kafka_stats stats;

	kafka_producer_poll(bus->producer, 0);
	kafka_producer_stats(bus->producer, &stats);
	show_client("task-results", &stats);
	tickets_read(bus);
	if (bus->consumer) {
		kafka_consumer_stats(bus->consumer, &stats);
		show_client("tasks", &stats);
	}
	loop_timer_set(bus->notifier->loop, &bus->timer, POLL_MS, serve, bus);
}

static int clients_open(struct bus *bus, struct err *err)
{
	const struct kafka_consumer_spec spec = {
		.settings = &bus->settings, .group = "runyard-notifier", .topics = {topics[TOPIC_TASKS].name}};
	struct loop *loop = bus->notifier->loop;

	if (kafka_producer_open(&bus->settings, delivered, bus, &bus->producer, err) < 0 ||
		kafka_consumer_open(&spec, &bus->consumer, err) < 0)
		return -1;
	loop_watch(loop, bus->produced_fd, EPOLLIN, produced, bus);
	loop_watch(loop, bus->tickets_fd, EPOLLIN, tickets_ready, bus);
	kafka_producer_wake(bus->producer, bus->produced_fd);
	kafka_consumer_wake(bus->consumer, bus->tickets_fd);
	loop_timer_set(loop, &bus->timer, POLL_MS, serve, bus);
	return 0;
}

int bus_open(struct notifier *notifier, struct bus **ret_bus, struct err *err)
{
	const struct options *options = &notifier->options;
	struct bus *bus = mem_new(1, sizeof(*bus));

	bus->notifier = notifier;
	bus->settings = (struct kafka_settings){.brokers = options->brokers,
		.client_id = options->name,
		.properties = options->broker_properties,
		.fetch_wait_ms = (int)options->fetch_wait_ms};
	bus->produced_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	bus->tickets_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	*ret_bus = bus;
	return *options->brokers ? clients_open(bus, err) : 0;
}

void bus_free(struct bus *bus)
{
	if (!bus)
		return;
	loop_timer_clear(bus->notifier->loop, &bus->timer);
	kafka_producer_close(bus->producer);
	kafka_consumer_close(bus->consumer);
	loop_unwatch(bus->notifier->loop, bus->produced_fd);
	loop_unwatch(bus->notifier->loop, bus->tickets_fd);
	closep(&bus->produced_fd);
	closep(&bus->tickets_fd);
	free(bus);
}
