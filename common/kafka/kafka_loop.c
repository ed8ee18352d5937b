/* SPDX-License-Identifier: MPL-2.0 */
#include "common/kafka/kafka_loop.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "common/loop/loop.h"
#include "common/metrics.h"

enum { SERVE_MS = 1000 };
enum { READ_AT_ONCE = 256 }; /* bounds the messages read in one pass, so that the loop gets to its other work */

static void stats_show(const struct kafka_shown *shown, const struct kafka_stats *stats)
{
	if (!shown->client)
		return;
	metric_setf(shown->up, stats->up, "client=\"%s\"", shown->client);
	if (stats->lag >= 0)
		metric_setf(shown->lag, (double)stats->lag, "client=\"%s\"", shown->client);
}

/* ---- sender ---- */

struct kafka_sender {
	struct loop *loop;
	struct kafka_producer *producer;
	struct kafka_shown shown;
	int fd;
	struct loop_timer timer;
};

static void sender_ready(void *data, int fd, unsigned events)
{
	struct kafka_sender *sender = data;

	(void)events;
	loop_eventfd_clear(fd);
	kafka_producer_poll(sender->producer, 0);
}

static void sender_serve(void *data)
{
	struct kafka_sender *sender = data;
	struct kafka_stats stats;

	kafka_producer_poll(sender->producer, 0);
	kafka_producer_stats(sender->producer, &stats);
	stats_show(&sender->shown, &stats);
	loop_timer_set(sender->loop, &sender->timer, SERVE_MS, sender_serve, sender);
}

int kafka_sender_open(const struct kafka_sender_spec *spec, struct kafka_sender **ret_sender, struct err *err)
{
	struct kafka_settings settings = *spec->settings;
	struct kafka_producer *producer = NULL;
	struct kafka_sender *sender;

	settings.label = spec->shown.client;
	if (kafka_producer_open(&settings, spec->delivered, spec->data, &producer, err) < 0)
		return -1;
	sender = mem_new(1, sizeof(*sender));
	*sender = (struct kafka_sender){.loop = spec->loop,
		.producer = producer,
		.shown = spec->shown,
		.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
	loop_watch(sender->loop, sender->fd, EPOLLIN, sender_ready, sender);
	kafka_producer_wake(producer, sender->fd);
	loop_timer_set(sender->loop, &sender->timer, SERVE_MS, sender_serve, sender);
	*ret_sender = sender;
	return 0;
}

int kafka_sender_send(struct kafka_sender *sender, const struct kafka_record *record, struct err *err)
{
	return kafka_produce(sender->producer, record, err);
}

bool kafka_sender_connected(const struct kafka_sender *sender)
{
	struct kafka_stats stats;

	kafka_producer_stats(sender->producer, &stats);
	return stats.up || stats.errors == 0;
}

void kafka_sender_free(struct kafka_sender *sender)
{
	if (!sender)
		return;
	loop_timer_clear(sender->loop, &sender->timer);
	kafka_producer_close(sender->producer);
	loop_unwatch(sender->loop, sender->fd);
	closep(&sender->fd);
	free(sender);
}

/* ---- reader ---- */

struct kafka_reader {
	struct kafka_reader_spec spec;
	struct kafka_consumer *consumer;
	int fd;
	struct loop_timer timer;
};

/* Polls even while the partitions are paused: librdkafka handles a rebalance only when it is polled. */
void kafka_reader_read(struct kafka_reader *reader)
{
	const struct kafka_reader_spec *spec = &reader->spec;
	struct kafka_message message;
	int count = 0;

	while (count < READ_AT_ONCE && (!spec->has_room || spec->has_room(spec->data)) &&
		kafka_consume(reader->consumer, 0, &message)) {
		spec->take(spec->data, &message);
		count++;
	}
	if (count == READ_AT_ONCE)
		loop_eventfd_set(reader->fd);
	if (spec->passed)
		spec->passed(spec->data);
}

static void reader_ready(void *data, int fd, unsigned events)
{
	(void)events;
	loop_eventfd_clear(fd);
	kafka_reader_read(data);
}

static void reader_serve(void *data)
{
	struct kafka_reader *reader = data;
	struct kafka_stats stats;

	kafka_reader_read(reader);
	kafka_consumer_stats(reader->consumer, &stats);
	stats_show(&reader->spec.shown, &stats);
	loop_timer_set(reader->spec.loop, &reader->timer, SERVE_MS, reader_serve, reader);
}

int kafka_reader_open(const struct kafka_reader_spec *spec, struct kafka_reader **ret_reader, struct err *err)
{
	struct kafka_settings settings = *spec->consumer.settings;
	struct kafka_consumer_spec own = spec->consumer;
	struct kafka_consumer *consumer = NULL;
	struct kafka_reader *reader;

	settings.label = spec->shown.client;
	own.settings = &settings;
	if (kafka_consumer_open(&own, &consumer, err) < 0)
		return -1;
	reader = mem_new(1, sizeof(*reader));
	*reader = (struct kafka_reader){
		.spec = *spec, .consumer = consumer, .fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
	loop_watch(spec->loop, reader->fd, EPOLLIN, reader_ready, reader);
	kafka_consumer_wake(consumer, reader->fd);
	loop_timer_set(spec->loop, &reader->timer, SERVE_MS, reader_serve, reader);
	*ret_reader = reader;
	return 0;
}

void kafka_reader_free(struct kafka_reader *reader)
{
	if (!reader)
		return;
	loop_timer_clear(reader->spec.loop, &reader->timer);
	kafka_consumer_close(reader->consumer);
	loop_unwatch(reader->spec.loop, reader->fd);
	closep(&reader->fd);
	free(reader);
}

void kafka_reader_pause(struct kafka_reader *reader, bool paused)
{
	if (reader)
		kafka_consumer_pause(reader->consumer, paused);
}

struct kafka_consumer *kafka_reader_consumer(struct kafka_reader *reader)
{
	return reader->consumer;
}
