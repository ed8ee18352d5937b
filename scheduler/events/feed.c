/* SPDX-License-Identifier: MPL-2.0 */
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "common/clock.h"
#include "common/kafka/kafka.h"
#include "common/log.h"
#include "proto/topics.h"
#include "scheduler/events/hub_state.h"
#include "scheduler/metrics.h"

enum {
	READ_AT_ONCE = 256,
	TAIL = 512,          /* messages of each partition that are read at the start */
	ASK_MS = 500,        /* for an answer of the broker */
	RETRY_MS = 1000,     /* between two attempts to begin */
	STATISTICS_MS = 5000 /* the first statistics arrive within this time */
};

struct feed {
	struct event_hub *hub;
	struct kafka_consumer *consumer;
	int wake;
	bool begun;
	int64_t begun_ms, next_try_ms;
	struct cursor goal; /* the end of the topic when the feed began */
	bool reached;       /* the goal */
};

/* ---- the begin ---- */

/* Begins with the last messages of each partition, so that streams of other schedulers can be resumed here. */
static int begin(struct feed *feed, struct err *err)
{
	struct kafka_span spans[CURSOR_PARTITIONS];
	struct cursor start;
	int count = kafka_broadcast_spans(feed->consumer, ASK_MS, spans, CURSOR_PARTITIONS, err);

	if (count < 0)
		return -1;
	start.count = feed->goal.count = count;
	for (int i = 0; i < count; i++) {
		int64_t tail = spans[i].end - TAIL;

		start.next[i] = tail > spans[i].start ? tail : spans[i].start;
		feed->goal.next[i] = spans[i].end;
	}
	if (kafka_broadcast_begin(feed->consumer, start.next, count, err) < 0)
		return -1;
	event_ring_begin(feed->hub->ring, &start);
	feed->begun = true;
	feed->reached = false;
	feed->begun_ms = clock_mono_ms();
	return 0;
}

static void begin_try(struct feed *feed)
{
	struct err err = ERR_INIT;

	if (clock_mono_ms() < feed->next_try_ms)
		return;
	feed->next_try_ms = clock_mono_ms() + RETRY_MS;
	if (begin(feed, &err) < 0)
		log_debug("event streams wait for the broker", "error", err.message, NULL);
}

/* ---- messages ---- */

static bool is_reached(const struct feed *feed)
{
	const struct cursor *end = event_ring_end(feed->hub->ring);

	for (int i = 0; i < feed->goal.count; i++)
		if (end->next[i] < feed->goal.next[i])
			return false;
	return feed->begun;
}

struct batch {
	struct delivered events[READ_AT_ONCE];
	char *cursors[READ_AT_ONCE];
	size_t count;
};

static void batch_add(struct feed *feed, struct batch *batch, const struct kafka_message *message)
{
	struct event *event = event_of_message(message->payload, message->len);
	const struct event *kept;
	char cursor[CURSOR_TEXT_SIZE];

	if (!event)
		metric_add(M_STREAM_UNREADABLE, "", 1);
	kept = event_ring_add(feed->hub->ring, message->partition, message->offset, event);
	if (!kept)
		return;
	cursor_text(event_ring_end(feed->hub->ring), cursor);
	batch->cursors[batch->count] = mem_text(cursor);
	batch->events[batch->count] = (struct delivered){.event = kept,
		.cursor = batch->cursors[batch->count],
		.partition = message->partition,
		.offset = message->offset};
	batch->count++;
}

static bool is_expected(const struct feed *feed, const struct kafka_message *message)
{
	const struct cursor *end = event_ring_end(feed->hub->ring);

	return feed->begun && message->partition < end->count && message->offset >= end->next[message->partition];
}

static void feed_lose(struct feed *feed)
{
	feed->begun = false;
	feed_changed(feed->hub, false, true);
}

static void feed_read(struct feed *feed)
{
	struct batch batch = {.count = 0};
	struct kafka_message message;
	int count = 0;

	while (count < READ_AT_ONCE && kafka_consume(feed->consumer, 0, &message)) {
		if (is_expected(feed, &message))
			batch_add(feed, &batch, &message);
		kafka_message_done(&message);
		count++;
	}
	deliver(feed->hub, batch.events, batch.count);
	for (size_t i = 0; i < batch.count; i++)
		free(batch.cursors[i]);
	if (feed->begun && kafka_broadcast_lost(feed->consumer))
		feed_lose(feed);
	if (count == READ_AT_ONCE)
		loop_eventfd_set(feed->wake);
}

static void online_check(struct feed *feed)
{
	struct kafka_stats stats;

	kafka_consumer_stats(feed->consumer, &stats);
	feed->reached = feed->reached || is_reached(feed);
	feed_changed(feed->hub,
		feed->begun && feed->reached && (stats.up || clock_mono_ms() < feed->begun_ms + STATISTICS_MS), false);
}

static void feed_ready(void *data, int fd, unsigned events)
{
	struct feed *feed = data;

	(void)events;
	loop_eventfd_clear(fd);
	feed_read(feed);
	if (!feed->hub->online)
		online_check(feed);
}

void feed_serve(struct event_hub *hub)
{
	struct feed *feed = hub->feed;

	if (!feed->begun)
		begin_try(feed);
	feed_read(feed);
	online_check(feed);
}

/* ---- start and stop ---- */

int feed_start(struct event_hub *hub, const struct kafka_settings *kafka, struct err *err)
{
	struct kafka_settings settings = *kafka;
	const struct kafka_consumer_spec spec = {.settings = &settings, .topics = {topics[TOPIC_EVENTS].name}};
	struct feed *feed = mem_new(1, sizeof(*feed));

	settings.label = "events";
	feed->hub = hub;
	if (kafka_consumer_open(&spec, &feed->consumer, err) < 0) {
		free(feed);
		return -1;
	}
	feed->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	loop_watch(hub->loop, feed->wake, EPOLLIN, feed_ready, feed);
	kafka_consumer_wake(feed->consumer, feed->wake);
	hub->feed = feed;
	return 0;
}

void feed_stop(struct feed *feed)
{
	if (!feed)
		return;
	loop_unwatch(feed->hub->loop, feed->wake);
	kafka_consumer_close(feed->consumer);
	closep(&feed->wake);
	free(feed);
}
