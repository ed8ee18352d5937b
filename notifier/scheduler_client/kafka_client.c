/* SPDX-License-Identifier: MPL-2.0 */
#include "notifier/scheduler_client/kafka_client.h"

#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/http/rate.h"
#include "common/kafka/kafka.h"
#include "common/log.h"
#include "notifier/metrics.h"
#include "notifier/notifier.h"
#include "proto/messages.h"
#include "proto/topics.h"

enum { MAX_HELD = 2000, POLL_MS = 1000 };
enum { READ_AT_ONCE = 256 }; /* bounds the messages read in one pass, so that the loop gets to its other work */

/* A message that was read and whose offset is not stored yet. */
struct held {
	struct id id;
	int32_t partition;
	int64_t offset;
};

struct kafka_client {
	struct notifier *notifier;
	void (*arrived)(struct notifier *);
	struct kafka_settings settings;
	struct kafka_producer *producer;
	struct kafka_consumer *consumer;
	struct kafka_client_published letter; /* the tag of every dead letter */
	int produced_fd, kafka_client_fd;     /* eventfds */
	struct held held[MAX_HELD]; /* a ring, oldest first: messages given to claims, then messages not claimed yet */
	size_t first, count, taken;
	struct loop_timer timer;
	struct rate letters;
};

static const struct rate_limit dead_letter_limit = {60, 60000};

/* ---- results ---- */

static void delivered(void *data, uint64_t tag, const char *error)
{
	struct kafka_client_published *published = (struct kafka_client_published *)(uintptr_t)tag;
	const struct kafka_client *client = data;

	if (published == &client->letter) {
		metric_addf(M_DEAD_LETTERS, 1, "outcome=\"%s\"", error ? "failed" : "ok");
		return;
	}
	metric_addf(M_PUBLISHED, 1, "outcome=\"%s\"", error ? "failed" : "ok");
	if (published)
		published->fn(published->data, !error);
}

void kafka_client_publish(
	struct kafka_client *client, const char *task_result, const char *run, struct kafka_client_published *published)
{
	struct task_message ticket;
	struct err err = ERR_INIT;
	bool sent = true;

	text_copy(ticket.task_result.text, sizeof(ticket.task_result.text), task_result);
	text_copy(ticket.run.text, sizeof(ticket.run.text), text_or_empty(run));
	if (client->producer) {
		_cleanup_(freep) char *text = task_message_encode(&ticket);
		const struct kafka_record record = {.topic = topics[TOPIC_TASK_RESULTS].name,
			.payload = text,
			.tag = (uint64_t)(uintptr_t)published};

		sent = kafka_produce(client->producer, &record, &err) == 0;
		if (sent)
			return;
		metric_addf(M_PUBLISHED, 1, "outcome=\"failed\"");
	}
	if (published)
		published->fn(published->data, sent);
}

static void produced(void *data, int fd, unsigned events)
{
	struct kafka_client *client = data;

	(void)events;
	loop_eventfd_clear(fd);
	kafka_producer_poll(client->producer, 0);
}

/* ---- messages ---- */

static struct held *held_at(struct kafka_client *client, size_t place)
{
	return &client->held[(client->first + place) % MAX_HELD];
}

static void offset_store(struct kafka_client *client, int32_t partition, int64_t offset)
{
	const struct kafka_message message = {
		.topic = topics[TOPIC_TASKS].name, .partition = partition, .offset = offset};

	kafka_message_store(client->consumer, &message);
}

static void dead_letter_send(struct kafka_client *client, const struct kafka_message *message, const char *why)
{
	const struct dead_letter letter = dead_letter_of(message, client->notifier->options.name, why);
	_cleanup_(freep) char *text = dead_letter_encode(&letter);
	const struct kafka_record record = {
		.topic = topics[TOPIC_DEAD_LETTERS].name, .payload = text, .tag = (uint64_t)(uintptr_t)&client->letter};
	struct err err = ERR_INIT;

	metric_addf(M_TICKETS, 1, "kind=\"malformed\"");
	if (!rate_take(&client->letters, &dead_letter_limit, clock_mono_ms())) {
		metric_addf(M_DEAD_LETTERS, 1, "outcome=\"dropped\"");
		return;
	}
	log_warn("a message can't be read; it goes to the dead letters", "topic", message->topic, "why", why, NULL);
	if (kafka_produce(client->producer, &record, &err) < 0)
		metric_addf(M_DEAD_LETTERS, 1, "outcome=\"failed\"");
}

static void message_take(struct kafka_client *client, const struct kafka_message *message)
{
	struct request_message ticket;
	struct err err = ERR_INIT;

	if (request_message_decode(message->payload, message->len, &ticket, &err) < 0) {
		/* Its offset is stored along with that of the next valid message. */
		dead_letter_send(client, message, err.message);
		return;
	}
	metric_addf(M_TICKETS, 1, "kind=\"%s\"", ticket.notification ? "notification" : "task");
	*held_at(client, client->count++) =
		(struct held){.id = ticket.id, .partition = message->partition, .offset = message->offset};
}

/* Polls even while the partitions are paused: librdkafka handles a rebalance only when it is polled. */
static void kafka_client_read(struct kafka_client *client)
{
	struct kafka_message message;
	size_t before = client->count;
	int count = 0;

	while (client->consumer && client->count < MAX_HELD && count < READ_AT_ONCE &&
		kafka_consume(client->consumer, 0, &message)) {
		message_take(client, &message);
		kafka_message_done(&message);
		count++;
	}
	if (count == READ_AT_ONCE)
		loop_eventfd_set(client->kafka_client_fd);
	kafka_client_go_on(client);
	if (client->count > before)
		client->arrived(client->notifier);
}

static void kafka_client_ready(void *data, int fd, unsigned events)
{
	(void)events;
	loop_eventfd_clear(fd);
	kafka_client_read(data);
}

size_t kafka_client_waiting(const struct kafka_client *client)
{
	return client->count - client->taken;
}

size_t kafka_client_take(struct kafka_client *client, size_t most, const char **ids)
{
	size_t count = kafka_client_waiting(client) < most ? kafka_client_waiting(client) : most;

	for (size_t i = 0; i < count; i++)
		ids[i] = held_at(client, client->taken + i)->id.text;
	client->taken += count;
	return count;
}

void kafka_client_claimed(struct kafka_client *client, size_t count)
{
	if (count == 0)
		return;
	for (size_t i = 0; i < count; i++)
		offset_store(client, held_at(client, i)->partition, held_at(client, i)->offset);
	client->first = (client->first + count) % MAX_HELD;
	client->count -= count;
	client->taken -= count;
	kafka_client_read(client); /* messages left behind when the ring was full raise no new event */
}

void kafka_client_go_on(struct kafka_client *client)
{
	if (!client->consumer)
		return;
	if (client->count < MAX_HELD && !client->notifier->draining)
		kafka_consumer_resume(client->consumer);
	else
		kafka_consumer_pause(client->consumer);
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
	struct kafka_client *client = data;
	struct kafka_stats stats;

	kafka_producer_poll(client->producer, 0);
	kafka_producer_stats(client->producer, &stats);
	show_client("task-results", &stats);
	kafka_client_read(client);
	if (client->consumer) {
		kafka_consumer_stats(client->consumer, &stats);
		show_client("tasks", &stats);
	}
	loop_timer_set(client->notifier->loop, &client->timer, POLL_MS, serve, client);
}

static int clients_open(struct kafka_client *client, struct err *err)
{
	const struct kafka_consumer_spec spec = {
		.settings = &client->settings, .group = "runyard-notifier", .topics = {topics[TOPIC_TASKS].name}};
	struct loop *loop = client->notifier->loop;

	if (kafka_producer_open(&client->settings, delivered, client, &client->producer, err) < 0 ||
		kafka_consumer_open(&spec, &client->consumer, err) < 0)
		return -1;
	loop_watch(loop, client->produced_fd, EPOLLIN, produced, client);
	loop_watch(loop, client->kafka_client_fd, EPOLLIN, kafka_client_ready, client);
	kafka_producer_wake(client->producer, client->produced_fd);
	kafka_consumer_wake(client->consumer, client->kafka_client_fd);
	loop_timer_set(loop, &client->timer, POLL_MS, serve, client);
	return 0;
}

int kafka_client_open(struct notifier *notifier, void (*arrived)(struct notifier *), struct kafka_client **ret_client,
	struct err *err)
{
	const struct options *options = &notifier->options;
	struct kafka_client *client = mem_new(1, sizeof(*client));

	client->notifier = notifier;
	client->arrived = arrived;
	client->settings = (struct kafka_settings){.brokers = options->brokers,
		.client_id = options->name,
		.properties = options->broker_properties,
		.fetch_wait_ms = (int)options->fetch_wait_ms};
	client->produced_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	client->kafka_client_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	*ret_client = client;
	return *options->brokers ? clients_open(client, err) : 0;
}

void kafka_client_free(struct kafka_client *client)
{
	if (!client)
		return;
	loop_timer_clear(client->notifier->loop, &client->timer);
	kafka_producer_close(client->producer);
	kafka_consumer_close(client->consumer);
	loop_unwatch(client->notifier->loop, client->produced_fd);
	loop_unwatch(client->notifier->loop, client->kafka_client_fd);
	closep(&client->produced_fd);
	closep(&client->kafka_client_fd);
	free(client);
}
