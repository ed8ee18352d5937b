/* SPDX-License-Identifier: MPL-2.0 */
#include <string.h>

#include "common/clock.h"
#include "scheduler/events/hub_state.h"
#include "scheduler/metrics.h"

enum { EVENT_LIMIT = 32 << 10 };

/* ---- the receivers of events ---- */

typedef void (*receiver_fn)(void *data, const struct delivered *delivered, struct event_stream *stream);

static bool is_receiver(const struct delivered *delivered, const struct event_stream *stream)
{
	if (stream->over || stream->waits)
		return false;
	return !stream->since || delivered->offset >= stream->since->next[delivered->partition];
}

/* Calls `each` once for each stream with a topic of the event. */
static void receivers_each(struct event_hub *hub, const struct delivered *delivered, receiver_fn each, void *data)
{
	const struct event *event = delivered->event;
	const char *keys[] = {event->run.text, event->workspace.text, event->organization.text, CHANNEL_OF_SITE};

	hub->marks++;
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		struct subscription *next, *at = *keys[i] ? channels_first(hub->channels, keys[i]) : NULL;

		for (; at; at = next) {
			next = at->next;
			if (at->stream->mark == hub->marks || !is_receiver(delivered, at->stream))
				continue;
			at->stream->mark = hub->marks;
			each(data, delivered, at->stream);
		}
	}
}

static struct access_question question_of(const struct event_stream *stream, const struct event *event)
{
	return (struct access_question){.stream = stream,
		.permission = event->permission,
		.place = {.organization = event->organization.text, .workspace = event->workspace.text}};
}

/* ---- sending ---- */

/* While the hub is behind the stream's position, the client keeps the id that it has. */
static void event_send(struct event_hub *hub, struct event_stream *stream, const struct delivered *delivered)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(EVENT_LIMIT);

	buf_append(&text, delivered->event->text.data, delivered->event->text.len);
	if (stream->since)
		buf_text(&text, "\n");
	else
		buf_printf(&text, "id: %s\n\n", delivered->cursor);
	stream_write(hub, stream, text.data, text.len);
	metric_add(M_STREAM_EVENTS, "", 1);
}

/* The streams and questions that a delivery collects before it sends. */
struct delivery {
	struct event_hub *hub;
	struct stream_list streams; /* whose check is too old */
	struct access_question *questions;
	size_t count, room;
};

static void stale_add(void *data, const struct delivered *delivered, struct event_stream *stream)
{
	struct delivery *delivery = data;

	(void)delivered;
	if (stream->listed || access_is_fresh(delivery->hub, stream))
		return;
	stream->listed = true;
	stream_list_add(&delivery->streams, stream);
}

static void question_add(struct delivery *delivery, const struct access_question *question)
{
	if (watcher_may(&question->stream->watcher, question->permission, &question->place) != WATCHER_MAY_BY_WORKSPACE)
		return;
	if (delivery->count == delivery->room) {
		delivery->room = delivery->room ? 2 * delivery->room : 64;
		delivery->questions = mem_resize(delivery->questions, delivery->room, sizeof(*question));
	}
	delivery->questions[delivery->count++] = *question;
}

static void question_collect(void *data, const struct delivered *delivered, struct event_stream *stream)
{
	const struct access_question question = question_of(stream, delivered->event);

	if (!access_is_fresh(((struct delivery *)data)->hub, stream))
		return;
	question_add(data, &question);
}

/* A stream that could not be checked misses the event. Once it is checked again, it gets a reset. */
static void receiver_send(void *data, const struct delivered *delivered, struct event_stream *stream)
{
	struct event_hub *hub = ((struct delivery *)data)->hub;
	const struct access_question question = question_of(stream, delivered->event);

	if (!access_is_fresh(hub, stream)) {
		stream->missed = true;
	} else if (stream->missed) {
		stream->missed = false;
		metric_add(M_STREAM_RESETS, "reason=\"unchecked\"", 1);
		stream_tell_position(hub, stream, "reset");
	} else if (access_may(hub, &question)) {
		event_send(hub, stream, delivered);
	}
}

static void events_each(
	struct event_hub *hub, const struct delivered *events, size_t count, receiver_fn each, void *data)
{
	for (size_t i = 0; i < count; i++)
		if (events[i].event->text.len)
			receivers_each(hub, &events[i], each, data);
}

static void questions_fail(struct delivery *delivery)
{
	for (size_t i = 0; i < delivery->count; i++)
		((struct event_stream *)(uintptr_t)delivery->questions[i].stream)->checked_ms = 0;
}

/* Checks the streams of users whose access has ended now, and not when the next event or comment is due. */
static void suspended_check(struct event_hub *hub, const struct delivered *events, size_t count)
{
	_cleanup_(stream_list_release) struct stream_list list = {.count = 0};

	for (size_t i = 0; i < count; i++) {
		const char *user = events[i].event->suspended.text;

		for (struct event_stream *at = *user ? hub->streams : NULL; at; at = at->next)
			if (!at->over && text_equal(at->watcher.user.text, user))
				stream_list_add(&list, at);
	}
	access_check(hub, &list);
}

void deliver(struct event_hub *hub, const struct delivered *events, size_t count)
{
	struct delivery delivery = {.hub = hub};

	hub->now_ms = clock_mono_ms();
	for (size_t i = 0; i < count; i++)
		if (events[i].event->changes_access)
			access_changed(hub);
	suspended_check(hub, events, count);
	events_each(hub, events, count, stale_add, &delivery);
	access_check(hub, &delivery.streams);
	for (size_t i = 0; i < delivery.streams.count; i++)
		delivery.streams.items[i]->listed = false;
	events_each(hub, events, count, question_collect, &delivery);
	if (access_prepare(hub, delivery.questions, delivery.count) < 0)
		questions_fail(&delivery);
	events_each(hub, events, count, receiver_send, &delivery);
	stream_list_release(&delivery.streams);
	free(delivery.questions);
	streams_sweep(hub);
}

/* ---- resuming ---- */

static bool has_topic(const struct event_stream *stream, const struct event *event)
{
	const char *const ids[EVENT_TOPIC_KINDS] = {
		[EVENTS_OF_ORGANIZATION] = event->organization.text,
		[EVENTS_OF_WORKSPACE] = event->workspace.text,
		[EVENTS_OF_RUN] = event->run.text,
		[EVENTS_OF_LOG] = "",
		[EVENTS_OF_SITE] = CHANNEL_OF_SITE,
	};

	for (size_t i = 0; i < stream->count; i++)
		if (!stream->topics[i].over && *ids[stream->topics[i].topic.kind] &&
			text_equal(ids[stream->topics[i].topic.kind], stream->topics[i].topic.object.text))
			return true;
	return false;
}

struct resuming {
	struct delivery delivery;
	struct event_stream *stream;
};

static void resumed_ask(void *data, const struct event *event, const struct cursor *after)
{
	struct resuming *resuming = data;
	const struct access_question question = question_of(resuming->stream, event);

	(void)after;
	if (event->text.len && has_topic(resuming->stream, event))
		question_add(&resuming->delivery, &question);
}

static void resumed_send(void *data, const struct event *event, const struct cursor *after)
{
	struct resuming *resuming = data;
	const struct access_question question = question_of(resuming->stream, event);
	char cursor[CURSOR_TEXT_SIZE];

	if (!event->text.len || !has_topic(resuming->stream, event) || !access_may(resuming->delivery.hub, &question))
		return;
	cursor_text(after, cursor);
	event_send(resuming->delivery.hub, resuming->stream, &(struct delivered){.event = event, .cursor = cursor});
}

static bool is_ahead(const struct event_hub *hub, const struct cursor *since)
{
	const struct cursor *end = event_ring_end(hub->ring);

	for (int i = 0; i < since->count; i++)
		if (since->next[i] > end->next[i])
			return true;
	return false;
}

/* Sends the missed events. Returns false if they are no longer known, or could not be checked. */
static bool resume(struct event_hub *hub, struct event_stream *stream, const struct cursor *since)
{
	struct resuming resuming = {.delivery = {.hub = hub}, .stream = stream};
	bool known = access_is_fresh(hub, stream) && event_ring_replay(hub->ring, since, resumed_ask, &resuming) &&
		access_prepare(hub, resuming.delivery.questions, resuming.delivery.count) == 0;

	free(resuming.delivery.questions);
	return known && event_ring_replay(hub->ring, since, resumed_send, &resuming);
}

void deliver_since(struct event_hub *hub, struct event_stream *stream)
{
	_cleanup_(freep) struct cursor *since = stream->since;

	stream->waits = false;
	stream->since = NULL;
	if (since && !resume(hub, stream, since)) {
		metric_add(M_STREAM_RESETS, "reason=\"old\"", 1);
		stream_tell_position(hub, stream, "reset");
	} else if (since && is_ahead(hub, since)) {
		stream->since = since;
		stream->ahead_ms = clock_mono_ms() + AHEAD_MS;
		since = NULL;
		stream_tell(hub, stream, "online", json_object());
		return;
	}
	stream_tell_position(hub, stream, "online");
}
