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
#include "common/kafka/kafka.h"
#include "common/log.h"
#include "common/loop/loop.h"
#include "common/http/rate.h"
#include "proto/mac.h"
#include "proto/topics.h"
#include "worker/scheduler_client/claim.h"
#include "worker/metrics.h"
#include "worker/runtime/worker.h"

enum { MOST_HELD = 64, MOST_PARTITIONS = 256, POLL_MS = 1000 };
enum {
	LISTEN_ON_MS = 10000
}; /* the control topic is read for this time after the last job, so that a busy worker need not resume it for each job
    */
enum { READ_AT_ONCE = 256 }; /* messages read in a row, so that the loop can renew leases meanwhile */
enum { LETTER_TAG = 0 };     /* tag of dead letters; results have tags from 1 on */

struct tickets {
	struct worker *worker;
	struct kafka_settings settings;
	struct kafka_producer *producer;
	struct kafka_consumer *pool, *control;
	char *topic, *group;
	int produced_fd, pool_fd, control_fd; /* eventfds */
	struct kafka_message held[MOST_HELD]; /* read messages whose claim is not answered */
	size_t held_count;
	size_t asked; /* the first `asked` of them belong to the claim under way */
	bool reading;
	int32_t partitions[MOST_PARTITIONS];
	size_t partition_count;
	struct loop_timer timer;
	int64_t busy_ms; /* when there was last a job, updated once a second */
	struct rate letters, unproven_lines;
};

static const struct rate_limit letter_limit = {60, 60000};
static const struct rate_limit line_limit = {1, 1000};

/* ---- results ---- */

static void delivered(void *data, uint64_t tag, const char *error)
{
	struct tickets *tickets = data;

	if (tag == LETTER_TAG)
		metric_addf(M_DEAD_LETTERS, 1, "outcome=\"%s\"", error ? "failed" : "ok");
	else if (tickets->worker->results)
		results_delivered(tickets->worker->results, tag, error);
}

static void produced(void *data, int fd, unsigned events)
{
	struct tickets *tickets = data;

	(void)events;
	loop_eventfd_clear(fd);
	kafka_producer_poll(tickets->producer, 0);
}

/* ---- dead letters ---- */

/* Publishes a dead letter. Without the permission to write there, the broker's refusal is counted and logged. */
static void letter_send(struct tickets *tickets, const struct kafka_message *message, const char *why)
{
	const struct dead_letter letter = dead_letter_of(message, tickets->worker->options.name, why);
	_cleanup_(freep) char *text = dead_letter_encode(&letter);
	struct err err = ERR_INIT;

	metric_addf(M_TICKETS, 1, "kind=\"malformed\"");
	if (!rate_take(&tickets->letters, &letter_limit, clock_mono_ms())) {
		metric_addf(M_DEAD_LETTERS, 1, "outcome=\"dropped\"");
		return;
	}
	log_warn("a message can't be read; it goes to the dead letters", "topic", message->topic, "why", why, NULL);
	if (kafka_produce(tickets->producer, topics[TOPIC_DEAD_LETTERS].name, -1, NULL, text, LETTER_TAG, &err) < 0)
		metric_addf(M_DEAD_LETTERS, 1, "outcome=\"failed\"");
}

/* ---- control ---- */

/* True if the sender of a stop knows the attempt's token. Otherwise counts the stop, and logs at most one line per
 * second. */
static bool stop_is_proven(struct tickets *tickets, const struct job_stop *stop, const char *token)
{
	char token_hash[SHA256_HEX_SIZE], count[RATE_COUNT_SIZE];

	crypto_sha256_hex(token, strlen(token), token_hash);
	if (job_stop_verify(stop, token_hash))
		return true;
	metric_addf(M_SECURITY_EVENTS, 1, "event=\"unproven-message\",topic=\"%s\"", topics[TOPIC_CONTROL].name);
	if (rate_line_due(&tickets->unproven_lines, &line_limit, clock_mono_ms(), count))
		log_warn("a stop does not prove its sender and is ignored", "security-event", "unproven-message",
			"topic", topics[TOPIC_CONTROL].name, "job", stop->job.text, "count", count, NULL);
	return false;
}

static void control_take(struct tickets *tickets, const struct kafka_message *message)
{
	const struct job *job;
	struct job_stop stop;
	struct err err = ERR_INIT;

	if (job_stop_decode(message->payload, message->len, &stop, &err) < 0) {
		letter_send(tickets, message, err.message);
		return;
	}
	metric_addf(M_TICKETS, 1, "kind=\"control\"");
	job = slots_find(tickets->worker, stop.job.text, stop.attempt);
	if (job && stop_is_proven(tickets, &stop, job->assignment.token))
		slots_stop(tickets->worker, stop.job.text, stop.attempt, stop.stop, "kafka");
}

static void control_read(struct tickets *tickets)
{
	struct kafka_message message;
	int count = 0;

	while (tickets->control && count < READ_AT_ONCE && kafka_consume(tickets->control, 0, &message)) {
		control_take(tickets, &message);
		kafka_message_done(&message);
		count++;
	}
	if (count == READ_AT_ONCE)
		loop_eventfd_set(tickets->control_fd);
}

/* Pauses the control topic without a job: there is nothing to stop, and the topic has the stops of all workers. A
 * stop that is published before the worker reads the topic again arrives over HTTP (control.h). */
static void control_go_on(struct tickets *tickets)
{
	int64_t now = clock_mono_ms();

	if (!tickets->control)
		return;
	if (tickets->worker->busy > 0) {
		tickets->busy_ms = now;
		kafka_consumer_resume(tickets->control);
	} else if (now - tickets->busy_ms > LISTEN_ON_MS) {
		kafka_consumer_pause(tickets->control);
	}
}

static void control_ready(void *data, int fd, unsigned events)
{
	(void)events;
	loop_eventfd_clear(fd);
	control_read(data);
}

/* ---- the pool's tickets ---- */

/* Keeps the message if it is a ticket and returns true. A malformed message is released. */
static bool ticket_take(struct tickets *tickets, struct kafka_message *message)
{
	struct job_ticket ticket;
	struct err err = ERR_INIT;

	if (job_ticket_decode(message->payload, message->len, &ticket, &err) == 0) {
		metric_addf(M_TICKETS, 1, "kind=\"job\"");
		metric_observe(M_TICKET_SECONDS, "", kafka_message_age(message));
		log_debug("ticket read", "run", ticket.run.text, NULL);
		tickets->held[tickets->held_count++] = *message;
		return true;
	}
	letter_send(tickets, message, err.message);
	kafka_message_store(tickets->pool, message);
	kafka_message_done(message);
	return false;
}

/* Polls even while paused, because librdkafka handles rebalances in the poll. */
static bool pool_read(struct tickets *tickets)
{
	struct kafka_message message;
	bool found = false;
	int count = 0;

	while (tickets->pool && tickets->held_count < MOST_HELD && count < READ_AT_ONCE &&
		kafka_consume(tickets->pool, 0, &message)) {
		found |= ticket_take(tickets, &message);
		count++;
	}
	if (count == READ_AT_ONCE)
		loop_eventfd_set(tickets->pool_fd);
	return found;
}

void tickets_go_on(struct tickets *tickets)
{
	control_go_on(tickets);
	if (!tickets->pool || tickets->reading)
		return;
	if (slots_free(tickets->worker) > 0 && tickets->held_count < MOST_HELD)
		kafka_consumer_resume(tickets->pool);
	else
		kafka_consumer_pause(tickets->pool);
}

static void pool_check(struct tickets *tickets)
{
	bool found;

	tickets->reading = true;
	found = pool_read(tickets);
	tickets->reading = false;
	if (found)
		claims_ticket(tickets->worker->claims);
}

static void pool_ready(void *data, int fd, unsigned events)
{
	(void)events;
	loop_eventfd_clear(fd);
	pool_check(data);
}

void tickets_asked(struct tickets *tickets)
{
	tickets->asked = tickets->held_count;
}

/* Stores the offsets in order. Within a partition they increase, so the last one remains. */
void tickets_answered(struct tickets *tickets)
{
	size_t left = 0;

	for (size_t i = 0; i < tickets->held_count; i++) {
		if (i >= tickets->asked) {
			tickets->held[left++] = tickets->held[i];
			continue;
		}
		kafka_message_store(tickets->pool, &tickets->held[i]);
		kafka_message_done(&tickets->held[i]);
	}
	tickets->held_count = left;
	tickets->asked = 0;
}

static void assigned(void *data, const int32_t *partitions, size_t count)
{
	struct tickets *tickets = data;

	tickets->partition_count = count < MOST_PARTITIONS ? count : MOST_PARTITIONS;
	for (size_t i = 0; i < tickets->partition_count; i++)
		tickets->partitions[i] = partitions[i];
}

json_t *tickets_partitions(const struct tickets *tickets)
{
	json_t *list = json_array();

	for (size_t i = 0; i < tickets->partition_count; i++)
		json_array_append_new(list, json_integer(tickets->partitions[i]));
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
	struct tickets *tickets = data;
	struct kafka_stats stats;

	kafka_producer_poll(tickets->producer, 0);
	kafka_producer_stats(tickets->producer, &stats);
	show_client("results", &stats);
	control_go_on(tickets);
	control_read(tickets);
	pool_check(tickets);
	if (tickets->pool) {
		kafka_consumer_stats(tickets->pool, &stats);
		show_client("tickets", &stats);
	}
	loop_timer_set(tickets->worker->loop, &tickets->timer, POLL_MS, serve, tickets);
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

static void pool_close(struct tickets *tickets)
{
	for (size_t i = 0; i < tickets->held_count; i++)
		kafka_message_done(&tickets->held[i]);
	tickets->held_count = tickets->asked = tickets->partition_count = 0;
	kafka_consumer_close(tickets->pool);
	tickets->pool = NULL;
	free(tickets->topic);
	free(tickets->group);
	tickets->topic = tickets->group = NULL;
}

void tickets_subscribe(struct tickets *tickets, const char *topic, const char *pool)
{
	const struct kafka_consumer_spec control = {.settings = &tickets->settings,
		.topics = {topics[TOPIC_CONTROL].name},
		.partitions = topics[TOPIC_CONTROL].partitions};
	struct kafka_consumer_spec spec = {.settings = &tickets->settings, .assigned = assigned, .data = tickets};

	if (!tickets->producer || text_equal(tickets->topic, topic))
		return;
	pool_close(tickets);
	tickets->topic = mem_text(topic);
	tickets->group = mem_printf("runyard-worker-%s", pool);
	spec.topics[0] = tickets->topic;
	spec.group = tickets->group;
	consumer_open(&spec, tickets->pool_fd, &tickets->pool);
	if (!tickets->control)
		consumer_open(&control, tickets->control_fd, &tickets->control);
	if (tickets->control)
		kafka_consumer_pause(tickets->control); /* until there is a job */
	control_go_on(tickets);
}

struct kafka_producer *tickets_producer(const struct tickets *tickets)
{
	return tickets->producer;
}

static int producer_open(struct tickets *tickets, struct err *err)
{
	struct loop *loop = tickets->worker->loop;

	if (kafka_producer_open(&tickets->settings, delivered, tickets, &tickets->producer, err) < 0)
		return -1;
	loop_watch(loop, tickets->produced_fd, EPOLLIN, produced, tickets);
	loop_watch(loop, tickets->pool_fd, EPOLLIN, pool_ready, tickets);
	loop_watch(loop, tickets->control_fd, EPOLLIN, control_ready, tickets);
	kafka_producer_wake(tickets->producer, tickets->produced_fd);
	loop_timer_set(loop, &tickets->timer, POLL_MS, serve, tickets);
	return 0;
}

int tickets_open(struct worker *worker, struct tickets **ret_tickets, struct err *err)
{
	const struct options *options = &worker->options;
	struct tickets *tickets = mem_new(1, sizeof(*tickets));

	*tickets = (struct tickets){
		.worker = worker,
		.settings = {.brokers = options->brokers,
			.client_id = options->name,
			.properties = options->broker_properties,
			.fetch_wait_ms = (int)options->fetch_wait_ms},
		.produced_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
		.pool_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
		.control_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
	};
	*ret_tickets = tickets;
	return *options->brokers ? producer_open(tickets, err) : 0;
}

void tickets_free(struct tickets *tickets)
{
	if (!tickets)
		return;
	loop_timer_clear(tickets->worker->loop, &tickets->timer);
	kafka_producer_close(tickets->producer);
	pool_close(tickets);
	kafka_consumer_close(tickets->control);
	loop_unwatch(tickets->worker->loop, tickets->produced_fd);
	loop_unwatch(tickets->worker->loop, tickets->pool_fd);
	loop_unwatch(tickets->worker->loop, tickets->control_fd);
	closep(&tickets->produced_fd);
	closep(&tickets->pool_fd);
	closep(&tickets->control_fd);
	free(tickets);
}
