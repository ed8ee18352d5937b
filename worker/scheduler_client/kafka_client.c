/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/scheduler_client/kafka_client.h"

#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/crypto.h"
#include "common/err.h"
#include "common/http/rate.h"
#include "common/kafka/kafka.h"
#include "common/log.h"
#include "common/loop/loop.h"
#include "proto/mac.h"
#include "proto/topics.h"
#include "worker/metrics.h"
#include "worker/runtime/worker.h"
#include "worker/scheduler_client/claim.h"

enum { MAX_HELD = 64, MAX_PARTITIONS = 256, POLL_MS = 1000 };
enum {
	LISTEN_ON_MS = 10000
}; /* the control topic is read for this time after the last job, so that a busy worker need not resume it for each job
    */
enum { READ_AT_ONCE = 256 }; /* messages read in a row, so that the loop can renew leases meanwhile */
enum { LETTER_TAG = 0 };     /* tag of dead letters; results have tags from 1 on */

struct kafka_client {
	struct worker *worker;
	struct kafka_settings settings;
	struct kafka_producer *producer;
	struct kafka_consumer *pool, *control;
	char *topic, *group;
	int produced_fd, pool_fd, control_fd; /* eventfds */
	struct kafka_message held[MAX_HELD];  /* read messages whose claim is not answered */
	size_t held_count;
	size_t asked; /* the first `asked` of them belong to the claim under way */
	bool reading;
	int32_t partitions[MAX_PARTITIONS];
	size_t partition_count;
	struct loop_timer timer;
	int64_t busy_ms; /* when there was last a job, updated once a second */
	struct rate letters, unproven_lines;
};

static const struct rate_limit dead_letter_limit = {60, 60000};
static const struct rate_limit line_limit = {1, 1000};

/* ---- results ---- */

static void delivered(void *data, uint64_t tag, const char *error)
{
	struct kafka_client *client = data;

	if (tag == LETTER_TAG)
		metric_addf(M_DEAD_LETTERS, 1, "outcome=\"%s\"", error ? "failed" : "ok");
	else if (client->worker->results)
		results_delivered(client->worker->results, tag, error);
}

static void produced(void *data, int fd, unsigned events)
{
	struct kafka_client *client = data;

	(void)events;
	loop_eventfd_clear(fd);
	kafka_producer_poll(client->producer, 0);
}

/* ---- dead letters ---- */

/* Publishes a dead letter. Without the permission to write there, the broker's refusal is counted and logged. */
static void dead_letter_send(struct kafka_client *client, const struct kafka_message *message, const char *why)
{
	const struct dead_letter letter = dead_letter_of(message, client->worker->options.name, why);
	_cleanup_(freep) char *text = dead_letter_encode(&letter);
	const struct kafka_record record = {
		.topic = topics[TOPIC_DEAD_LETTERS].name, .payload = text, .tag = LETTER_TAG};
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

/* ---- control ---- */

/* True if the sender of a stop knows the attempt's token. Otherwise counts the stop, and logs at most one line per
 * second. */
static bool stop_is_proven(struct kafka_client *client, const struct job_stop *stop, const char *token)
{
	char token_hash[SHA256_HEX_SIZE], count[RATE_COUNT_SIZE];

	crypto_sha256_hex(token, strlen(token), token_hash);
	if (job_stop_verify(stop, token_hash))
		return true;
	metric_addf(M_SECURITY_EVENTS, 1, "event=\"unproven-message\",topic=\"%s\"", topics[TOPIC_CONTROL].name);
	if (rate_line_due(&client->unproven_lines, &line_limit, clock_mono_ms(), count))
		log_warn("a stop does not prove its sender and is ignored", "security-event", "unproven-message",
			"topic", topics[TOPIC_CONTROL].name, "job", stop->job.text, "count", count, NULL);
	return false;
}

static void control_take(struct kafka_client *client, const struct kafka_message *message)
{
	const struct job *job;
	struct job_stop stop;
	struct err err = ERR_INIT;

	if (job_stop_decode(message->payload, message->len, &stop, &err) < 0) {
		dead_letter_send(client, message, err.message);
		return;
	}
	metric_addf(M_TICKETS, 1, "kind=\"control\"");
	job = slots_find(client->worker, stop.job.text, stop.attempt);
	if (job && stop_is_proven(client, &stop, job->assignment.token))
		slots_stop(client->worker, stop.job.text, stop.attempt, stop.stop, "kafka");
}

static void control_read(struct kafka_client *client)
{
	struct kafka_message message;
	int count = 0;

	while (client->control && count < READ_AT_ONCE && kafka_consume(client->control, 0, &message)) {
		control_take(client, &message);
		kafka_message_done(&message);
		count++;
	}
	if (count == READ_AT_ONCE)
		loop_eventfd_set(client->control_fd);
}

/* Pauses the control topic without a job: there is nothing to stop, and the topic has the stops of all workers. A
 * stop that is published before the worker reads the topic again arrives over HTTP (control.h). */
static void control_go_on(struct kafka_client *client)
{
	int64_t now = clock_mono_ms();

	if (!client->control)
		return;
	if (client->worker->busy > 0) {
		client->busy_ms = now;
		kafka_consumer_resume(client->control);
	} else if (now - client->busy_ms > LISTEN_ON_MS) {
		kafka_consumer_pause(client->control);
	}
}

static void control_ready(void *data, int fd, unsigned events)
{
	(void)events;
	loop_eventfd_clear(fd);
	control_read(data);
}

/* ---- the pool's job messages ---- */

/* Keeps the message if it is a job message and returns true. A malformed message is released. */
static bool message_take(struct kafka_client *client, struct kafka_message *message)
{
	struct job_message ticket;
	struct err err = ERR_INIT;

	if (job_message_decode(message->payload, message->len, &ticket, &err) == 0) {
		metric_addf(M_TICKETS, 1, "kind=\"job\"");
		metric_observe(M_TICKET_SECONDS, "", kafka_message_age(message));
		log_debug("job message read", "run", ticket.run.text, NULL);
		client->held[client->held_count++] = *message;
		return true;
	}
	dead_letter_send(client, message, err.message);
	kafka_message_store(client->pool, message);
	kafka_message_done(message);
	return false;
}

/* Polls even while paused, because librdkafka handles rebalances in the poll. */
static bool pool_read(struct kafka_client *client)
{
	struct kafka_message message;
	bool found = false;
	int count = 0;

	while (client->pool && client->held_count < MAX_HELD && count < READ_AT_ONCE &&
		kafka_consume(client->pool, 0, &message)) {
		found |= message_take(client, &message);
		count++;
	}
	if (count == READ_AT_ONCE)
		loop_eventfd_set(client->pool_fd);
	return found;
}

void kafka_client_go_on(struct kafka_client *client)
{
	control_go_on(client);
	if (!client->pool || client->reading)
		return;
	if (slots_free(client->worker) > 0 && client->held_count < MAX_HELD)
		kafka_consumer_resume(client->pool);
	else
		kafka_consumer_pause(client->pool);
}

static void pool_check(struct kafka_client *client)
{
	bool found;

	client->reading = true;
	found = pool_read(client);
	client->reading = false;
	if (found)
		claims_message(client->worker->claims);
}

static void pool_ready(void *data, int fd, unsigned events)
{
	(void)events;
	loop_eventfd_clear(fd);
	pool_check(data);
}

void kafka_client_asked(struct kafka_client *client)
{
	client->asked = client->held_count;
}

/* Stores the offsets in order. Within a partition they increase, so the last one remains. */
void kafka_client_answered(struct kafka_client *client)
{
	size_t left = 0;

	for (size_t i = 0; i < client->held_count; i++) {
		if (i >= client->asked) {
			client->held[left++] = client->held[i];
			continue;
		}
		kafka_message_store(client->pool, &client->held[i]);
		kafka_message_done(&client->held[i]);
	}
	client->held_count = left;
	client->asked = 0;
}

static void assigned(void *data, const int32_t *partitions, size_t count)
{
	struct kafka_client *client = data;

	client->partition_count = count < MAX_PARTITIONS ? count : MAX_PARTITIONS;
	for (size_t i = 0; i < client->partition_count; i++)
		client->partitions[i] = partitions[i];
}

json_t *kafka_client_partitions(const struct kafka_client *client)
{
	json_t *list = json_array();

	for (size_t i = 0; i < client->partition_count; i++)
		json_array_append_new(list, json_integer(client->partitions[i]));
	return list;
}

/* ---- the clients ---- */

static void show_client(const char *client, const struct kafka_stats *stats)
{
	char labels[64];

	snprintf(labels, sizeof(labels), "client=\"%s\"", client);
	metric_set(M_KAFKA_UP, labels, stats->up);
	metric_set(M_KAFKA_ERRORS, labels, (double)stats->errors);
	if (stats->lag >= 0)
		metric_set(M_KAFKA_LAG, labels, (double)stats->lag);
}

/* Handles events that an eventfd does not signal: statistics, and rebalances while everything is paused. */
static void serve(void *data)
{
	struct kafka_client *client = data;
	struct kafka_stats stats;

	kafka_producer_poll(client->producer, 0);
	kafka_producer_stats(client->producer, &stats);
	show_client("results", &stats);
	control_go_on(client);
	control_read(client);
	pool_check(client);
	if (client->pool) {
		kafka_consumer_stats(client->pool, &stats);
		show_client("job messages", &stats);
	}
	loop_timer_set(client->worker->loop, &client->timer, POLL_MS, serve, client);
}

static void consumer_open(const struct kafka_consumer_spec *spec, int fd, struct kafka_consumer **ret_consumer)
{
	struct err err = ERR_INIT;

	if (kafka_consumer_open(spec, ret_consumer, &err) < 0) {
		log_error("a topic can't be consumed; this worker claims by itself", "topic", spec->topics[0], "why",
			err.message, NULL);
		return;
	}
	kafka_consumer_wake(*ret_consumer, fd);
}

static void pool_close(struct kafka_client *client)
{
	for (size_t i = 0; i < client->held_count; i++)
		kafka_message_done(&client->held[i]);
	client->held_count = client->asked = client->partition_count = 0;
	kafka_consumer_close(client->pool);
	client->pool = NULL;
	free(client->topic);
	free(client->group);
	client->topic = client->group = NULL;
}

void kafka_client_subscribe(struct kafka_client *client, const char *topic, const char *pool)
{
	const struct kafka_consumer_spec control = {.settings = &client->settings,
		.topics = {topics[TOPIC_CONTROL].name},
		.partitions = topics[TOPIC_CONTROL].partitions};
	struct kafka_consumer_spec spec = {.settings = &client->settings, .assigned = assigned, .data = client};

	if (!client->producer || text_equal(client->topic, topic))
		return;
	pool_close(client);
	client->topic = mem_text(topic);
	client->group = mem_printf("runyard-worker-%s", pool);
	spec.topics[0] = client->topic;
	spec.group = client->group;
	consumer_open(&spec, client->pool_fd, &client->pool);
	if (!client->control)
		consumer_open(&control, client->control_fd, &client->control);
	if (client->control)
		kafka_consumer_pause(client->control); /* until there is a job */
	control_go_on(client);
}

struct kafka_producer *kafka_client_producer(const struct kafka_client *client)
{
	return client->producer;
}

static int producer_open(struct kafka_client *client, struct err *err)
{
	struct loop *loop = client->worker->loop;

	if (kafka_producer_open(&client->settings, delivered, client, &client->producer, err) < 0)
		return -1;
	loop_watch(loop, client->produced_fd, EPOLLIN, produced, client);
	loop_watch(loop, client->pool_fd, EPOLLIN, pool_ready, client);
	loop_watch(loop, client->control_fd, EPOLLIN, control_ready, client);
	kafka_producer_wake(client->producer, client->produced_fd);
	loop_timer_set(loop, &client->timer, POLL_MS, serve, client);
	return 0;
}

int kafka_client_open(struct worker *worker, struct kafka_client **ret_client, struct err *err)
{
	const struct options *options = &worker->options;
	struct kafka_client *client = mem_new(1, sizeof(*client));

	*client = (struct kafka_client){
		.worker = worker,
		.settings = {.brokers = options->brokers,
			.client_id = options->name,
			.properties = options->broker_properties,
			.fetch_wait_ms = (int)options->fetch_wait_ms},
		.produced_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
		.pool_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
		.control_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
	};
	*ret_client = client;
	return *options->brokers ? producer_open(client, err) : 0;
}

void kafka_client_free(struct kafka_client *client)
{
	if (!client)
		return;
	loop_timer_clear(client->worker->loop, &client->timer);
	kafka_producer_close(client->producer);
	pool_close(client);
	kafka_consumer_close(client->control);
	loop_unwatch(client->worker->loop, client->produced_fd);
	loop_unwatch(client->worker->loop, client->pool_fd);
	loop_unwatch(client->worker->loop, client->control_fd);
	closep(&client->produced_fd);
	closep(&client->pool_fd);
	closep(&client->control_fd);
	free(client);
}
