/* SPDX-License-Identifier: MPL-2.0 */
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "common/clock.h"
#include "common/log.h"
#include "scheduler/events/hub_state.h"
#include "scheduler/store/runs/logs.h"
#include "scheduler/store/runs/logs.sql.h"

enum {
	SENT_EVERY_MS = 100, /* so a log has at most 10 events a second */
	LOOK_EVERY_MS = 10,  /* if the last look found nothing to send: the first lines of a new log are sent at once */
	PART_MAX = 32 << 10  /* bytes of one event; more makes a gap, which clients read by themselves */
};

/* Watched logs, and those of them that have grown: sets of operation ids. */
struct tails {
	struct event_hub *hub;
	struct loop_timer timer;
	int wake;
	int64_t sent_ms, looked_ms;
	pthread_mutex_t mutex;
	json_t *watched, *grown; /* under the mutex */
};

static void tails_send(void *data);

static void tails_ready(void *data, int fd, unsigned events)
{
	struct tails *tails = data;
	int64_t sent_ms = tails->sent_ms + SENT_EVERY_MS, looked_ms = tails->looked_ms + LOOK_EVERY_MS;
	int64_t due_ms = sent_ms > looked_ms ? sent_ms : looked_ms, now = clock_mono_ms();

	(void)events;
	loop_eventfd_clear(fd);
	if (!tails->timer.due_ms)
		loop_timer_set(tails->hub->loop, &tails->timer, due_ms > now ? due_ms - now : 0, tails_send, tails);
}

struct tails *tails_new(struct event_hub *hub)
{
	struct tails *tails = mem_new(1, sizeof(*tails));

	*tails = (struct tails){.hub = hub,
		.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
		.watched = json_object(),
		.grown = json_object()};
	pthread_mutex_init(&tails->mutex, NULL);
	loop_watch(hub->loop, tails->wake, EPOLLIN, tails_ready, tails);
	return tails;
}

void tails_free(struct tails *tails)
{
	if (!tails)
		return;
	loop_timer_clear(tails->hub->loop, &tails->timer);
	loop_unwatch(tails->hub->loop, tails->wake);
	closep(&tails->wake);
	json_decref(tails->watched);
	json_decref(tails->grown);
	pthread_mutex_destroy(&tails->mutex);
	free(tails);
}

void tails_watch(struct event_hub *hub, const char *operation_id)
{
	struct tails *tails = hub->tails;

	pthread_mutex_lock(&tails->mutex);
	json_object_set_new(tails->watched, operation_id, json_true());
	json_object_set_new(tails->grown, operation_id, json_true());
	pthread_mutex_unlock(&tails->mutex);
	loop_eventfd_set(tails->wake);
}

void tails_grew(struct tails *tails, const char *operation_id)
{
	bool watched;

	pthread_mutex_lock(&tails->mutex);
	watched = json_object_get(tails->watched, operation_id) != NULL;
	if (watched)
		json_object_set_new(tails->grown, operation_id, json_true());
	pthread_mutex_unlock(&tails->mutex);
	if (watched)
		loop_eventfd_set(tails->wake);
}

/* Logs without subscribers are no longer watched. */
static bool log_is_watched(struct tails *tails, const char *operation_id)
{
	if (channels_first(tails->hub->channels, operation_id))
		return true;
	pthread_mutex_lock(&tails->mutex);
	json_object_del(tails->watched, operation_id);
	pthread_mutex_unlock(&tails->mutex);
	return false;
}

/* ---- sending ---- */

/* A log that has grown. */
struct growth {
	const char *id;
	long long length; /* of its stream */
	bool ended, stored;
	long long start; /* of what is sent */
	struct buf bytes;
};

static json_t *bytes_json(struct growth *growth, long long from)
{
	const char *bytes = growth->bytes.data + (from - growth->start);
	size_t len = growth->bytes.len - (size_t)(from - growth->start);
	json_t *text = json_stringn(bytes, len);
	json_t *data = json_pack("{ss sI}", "id", growth->id, "offset", (json_int_t)from);

	if (text) {
		json_object_set_new(data, "text", text);
	} else {
		_cleanup_(freep) char *encoded = crypto_base64(bytes, len);

		json_object_set_new(data, "base64", json_string(encoded));
	}
	return data;
}

static void log_send(struct event_hub *hub, struct growth *growth, struct stream_topic *topic)
{
	long long end = growth->start + (long long)growth->bytes.len;
	long long from = topic->topic.offset > growth->start ? topic->topic.offset : growth->start;
	bool over = growth->ended && end >= growth->length;
	json_t *data;

	if (from > end || (from == end && !over))
		return;
	data = from < end ? bytes_json(growth, from)
			  : json_pack("{ss sI}", "id", growth->id, "offset", (json_int_t)end);
	if (over)
		json_object_set_new(data, "ended", json_true());
	topic->topic.offset = end;
	hub->tails->sent_ms = hub->now_ms;
	stream_tell(hub, topic->subscription.stream, "log", data);
	if (over)
		stream_unsubscribe(hub, topic);
}

/* Reads the part that the subscribers lack, at most PART_MAX bytes from the end. The content of an ended log may be in
 * the object store: clients read it by themselves. */
static int growth_read(struct event_hub *hub, struct growth *growth, struct err *err)
{
	struct subscription *at = channels_first(hub->channels, growth->id);
	struct log_range range = {.operation_id = growth->id, .offset = growth->length};

	for (; at; at = at->next) {
		long long offset = ((struct stream_topic *)at)->topic.offset;

		range.offset = offset < range.offset ? offset : range.offset;
	}
	if (range.offset < growth->length - PART_MAX)
		range.offset = growth->length - PART_MAX;
	if (!growth->stored)
		range.offset = growth->length;
	growth->start = range.offset;
	range.limit = growth->length - range.offset;
	return range.limit > 0 ? log_read(&hub->store, &range, &growth->bytes, err) : 0;
}

static void growth_send(struct event_hub *hub, struct growth *growth, struct err *err)
{
	_cleanup_(stream_list_release) struct stream_list streams = {.count = 0};
	struct subscription *next, *at;

	for (at = channels_first(hub->channels, growth->id); at; at = at->next)
		stream_list_add(&streams, at->stream);
	if (access_check(hub, &streams) < 0 || growth_read(hub, growth, err) < 0)
		return;
	for (at = channels_first(hub->channels, growth->id); at; at = next) {
		next = at->next;
		if (!at->stream->over && access_is_fresh(hub, at->stream))
			log_send(hub, growth, (struct stream_topic *)at);
	}
}

static void growths_send(struct event_hub *hub, struct db_array *ids)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct err err = ERR_INIT;

	if (logs_lengths(&hub->store, ids, &rows, &err) < 0) {
		log_warn("watched logs can't be read", "error", err.message, NULL);
		return;
	}
	for (int i = 0; i < rows.count; i++) {
		const struct logs_lengths_row *log = row_of(logs_lengths, &rows, i);
		struct growth growth = {.id = log->id,
			.length = log->length,
			.ended = log->ended,
			.stored = log->stored,
			.bytes = BUF_INIT(2 * PART_MAX)};

		growth_send(hub, &growth, &err);
		buf_release(&growth.bytes);
	}
	streams_sweep(hub);
}

static void tails_send(void *data)
{
	_cleanup_(db_array_release) struct db_array ids = DB_ARRAY_INIT;
	struct tails *tails = data;
	json_t *grown, *value;
	const char *id;

	tails->looked_ms = tails->hub->now_ms = clock_mono_ms();
	pthread_mutex_lock(&tails->mutex);
	grown = tails->grown;
	tails->grown = json_object();
	pthread_mutex_unlock(&tails->mutex);
	json_object_foreach(grown, id, value)
	{
		if (log_is_watched(tails, id))
			db_array_add(&ids, id);
	}
	json_decref(grown);
	if (ids.count)
		growths_send(tails->hub, &ids);
}

void tails_serve(struct event_hub *hub)
{
	struct tails *tails = hub->tails;
	bool any;

	pthread_mutex_lock(&tails->mutex);
	any = json_object_size(tails->watched) > 0;
	if (any)
		json_object_update(tails->grown, tails->watched);
	pthread_mutex_unlock(&tails->mutex);
	if (any)
		loop_eventfd_set(tails->wake);
}
