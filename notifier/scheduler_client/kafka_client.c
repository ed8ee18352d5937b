/* SPDX-License-Identifier: MPL-2.0 */
#include "notifier/scheduler_client/kafka_client.h"

#include "common/err.h"
#include "common/kafka/kafka_loop.h"
#include "notifier/metrics.h"
#include "notifier/notifier.h"
#include "proto/dead_letters.h"
#include "proto/messages.h"
#include "proto/topics.h"

enum { MAX_HELD = 2000 };

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
	struct kafka_sender *sender;
	struct kafka_reader *reader;
	struct dead_letters dead_letters;
	struct held held[MAX_HELD]; /* a ring, oldest first: messages given to claims, then messages not claimed yet */
	size_t first, count, taken;
	bool unannounced; /* messages were read since `arrived` was last called */
};

/* ---- results ---- */

static void delivered(void *data, uint64_t tag, const char *error)
{
	struct kafka_client_published *published = (struct kafka_client_published *)(uintptr_t)tag;
	const struct kafka_client *client = data;

	if (tag == DEAD_LETTER_TAG) {
		dead_letters_delivered(&client->dead_letters, error);
		return;
	}
	metric_addf(M_PUBLISHED, 1, "outcome=\"%s\"", error ? "failed" : "ok");
	if (published)
		published->fn(published->data, !error);
}

void kafka_client_publish(
	struct kafka_client *client, const char *task_result, const char *run, struct kafka_client_published *published)
{
	struct task_message report;
	struct err err = ERR_INIT;
	bool sent = true;

	text_copy(report.task_result.text, sizeof(report.task_result.text), task_result);
	text_copy(report.run.text, sizeof(report.run.text), text_or_empty(run));
	if (client->sender) {
		_cleanup_(freep) char *text = task_message_encode(&report);
		const struct kafka_record record = {.topic = topics[TOPIC_TASK_RESULTS].name,
			.payload = text,
			.tag = (uint64_t)(uintptr_t)published};

		sent = kafka_sender_send(client->sender, &record, &err) == 0;
		if (sent)
			return;
		metric_addf(M_PUBLISHED, 1, "outcome=\"failed\"");
	}
	if (published)
		published->fn(published->data, sent);
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

	kafka_message_store(kafka_reader_consumer(client->reader), &message);
}

static void message_take(void *data, struct kafka_message *message)
{
	struct kafka_client *client = data;
	struct request_message request;
	struct err err = ERR_INIT;

	if (request_message_decode(message->payload, message->len, &request, &err) < 0) {
		/* Its offset is stored along with that of the next valid message. */
		metric_addf(M_MESSAGES, 1, "kind=\"malformed\"");
		dead_letters_send(&client->dead_letters, message, err.message);
	} else {
		metric_addf(M_MESSAGES, 1, "kind=\"%s\"", request.notification ? "notification" : "task");
		*held_at(client, client->count++) =
			(struct held){.id = request.id, .partition = message->partition, .offset = message->offset};
		client->unannounced = true;
	}
	kafka_message_done(message);
}

static bool has_room(void *data)
{
	const struct kafka_client *client = data;

	return client->count < MAX_HELD;
}

static void passed(void *data)
{
	struct kafka_client *client = data;

	kafka_client_go_on(client);
	if (!client->unannounced)
		return;
	client->unannounced = false;
	client->arrived(client->notifier);
}

size_t kafka_client_waiting(const struct kafka_client *client)
{
	return client->count - client->taken;
}

size_t kafka_client_take(struct kafka_client *client, size_t max, const char **ids)
{
	size_t count = kafka_client_waiting(client) < max ? kafka_client_waiting(client) : max;

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
	kafka_reader_read(client->reader); /* messages left behind when the ring was full raise no new event */
}

void kafka_client_go_on(struct kafka_client *client)
{
	kafka_reader_pause(client->reader, client->count == MAX_HELD || client->notifier->draining);
}

/* ---- the clients ---- */

static struct kafka_shown shown(const char *client)
{
	return (struct kafka_shown){.client = client, .up = M_KAFKA_UP, .lag = M_KAFKA_LAG};
}

static int clients_open(struct kafka_client *client, struct err *err)
{
	const struct kafka_sender_spec sender = {.loop = client->notifier->loop,
		.settings = &client->settings,
		.shown = shown("task-results"),
		.delivered = delivered,
		.data = client};
	const struct kafka_reader_spec reader = {.loop = client->notifier->loop,
		.consumer = {.settings = &client->settings,
			.group = topics[TOPIC_TASKS].group,
			.topics = {topics[TOPIC_TASKS].name}},
		.shown = shown("tasks"),
		.take = message_take,
		.has_room = has_room,
		.passed = passed,
		.data = client};

	if (kafka_sender_open(&sender, &client->sender, err) < 0)
		return -1;
	client->dead_letters = (struct dead_letters){
		.sender = client->sender, .reader = client->settings.client_id, .metric = M_DEAD_LETTERS};
	return kafka_reader_open(&reader, &client->reader, err);
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
	*ret_client = client;
	return *options->brokers ? clients_open(client, err) : 0;
}

void kafka_client_free(struct kafka_client *client)
{
	if (!client)
		return;
	kafka_sender_free(client->sender);
	kafka_reader_free(client->reader);
	free(client);
}
