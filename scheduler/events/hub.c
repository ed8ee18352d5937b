/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/events/hub.h"

#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "common/clock.h"
#include "common/log.h"
#include "scheduler/events/hub_state.h"
#include "scheduler/metrics.h"

enum { TICK_MS = 1000, RING_EVENTS = 8192, RING_BYTES = 8 << 20 };

/* ---- arrival of streams; the hub's thread ---- */

/* The number of living streams, other than this one, of the same user or address. */
static void neighbours_count(struct event_hub *hub, const struct event_stream *stream, int *ret_user, int *ret_address)
{
	*ret_user = *ret_address = 0;
	for (struct event_stream *at = hub->streams; at; at = at->next) {
		bool user = text_equal(at->watcher.user.text, stream->watcher.user.text);
		bool address = text_equal(at->address, stream->address);

		if (at == stream || at->over || !(user || address))
			continue;
		*ret_user += user;
		*ret_address += address;
	}
}

/* Without a write, nothing else notices that a client has closed its connection. */
static void refused_sweep(struct event_hub *hub)
{
	if (!atomic_exchange(&hub->refused, false))
		return;
	for (struct event_stream *at = hub->streams; at; at = at->next)
		at->over = at->over || http_stream_gone(at->http);
}

static bool has_room(struct event_hub *hub, const struct event_stream *stream)
{
	int of_user, of_address;

	neighbours_count(hub, stream, &of_user, &of_address);
	return of_user < hub->max_per_user && of_address < hub->max_per_address;
}

/* A browser opens its stream again when its topics change. The old connection stays until the next write. */
static void gone_sweep(struct event_hub *hub, const struct event_stream *stream)
{
	for (struct event_stream *at = hub->streams; at; at = at->next)
		if (at != stream &&
			(text_equal(at->watcher.user.text, stream->watcher.user.text) ||
				text_equal(at->address, stream->address)))
			at->over = at->over || http_stream_gone(at->http);
}

static void stream_subscribe(struct event_hub *hub, struct event_stream *stream)
{
	for (size_t i = 0; i < stream->count; i++) {
		struct stream_topic *topic = &stream->topics[i];

		if (topic->over)
			continue;
		channels_add(hub->channels, &topic->subscription, topic->topic.object.text);
		if (topic->topic.kind == EVENTS_OF_LOG)
			tails_watch(hub, topic->topic.object.text);
	}
}

static void stream_join(struct event_hub *hub, struct event_stream *stream)
{
	static const char begin[] = "retry: 2000\n\n";

	stream_write(hub, stream, begin, sizeof(begin) - 1);
	gone_sweep(hub, stream);
	if (!stream->over && !has_room(hub, stream))
		stream_end(hub, stream, "too many event streams are open: close others, or ask again later");
	if (stream->over)
		return;
	stream_subscribe(hub, stream);
	stream->alive_ms = clock_mono_ms() + STREAM_ALIVE_MS;
	if (hub->online)
		deliver_since(hub, stream);
	else
		stream_tell(hub, stream, "offline", json_object());
}

/* The streams arrive in one list and are checked with one statement. */
static void streams_arrive(void *data, int fd, unsigned events)
{
	_cleanup_(stream_list_release) struct stream_list list = {.count = 0};
	struct event_hub *hub = data;
	struct event_stream *arrived, *next;

	(void)events;
	loop_eventfd_clear(fd);
	hub->now_ms = clock_mono_ms();
	pthread_mutex_lock(&hub->mutex);
	arrived = hub->arrived;
	hub->arrived = NULL;
	if (hub->stops)
		loop_stop(hub->loop);
	pthread_mutex_unlock(&hub->mutex);
	for (; arrived; arrived = next) {
		next = arrived->next;
		arrived->next = hub->streams;
		arrived->previous = NULL;
		if (hub->streams)
			hub->streams->previous = arrived;
		hub->streams = arrived;
		stream_list_add(&list, arrived);
	}
	if (access_check(hub, &list) < 0)
		for (size_t i = 0; i < list.count; i++)
			stream_end(hub, list.items[i], "the database does not answer: ask again later");
	for (size_t i = 0; i < list.count; i++)
		if (!list.items[i]->over)
			stream_join(hub, list.items[i]);
	streams_sweep(hub);
}

/* ---- once a second ---- */

static void stream_alive(struct event_hub *hub, struct event_stream *stream, int64_t now)
{
	if (stream->missed && access_is_fresh(hub, stream)) {
		stream->missed = false;
		metric_add(M_STREAM_RESETS, "reason=\"unchecked\"", 1);
		stream_tell_position(hub, stream, "reset");
	}
	if (stream->since && !stream->waits && now > stream->ahead_ms) {
		free(stream->since);
		stream->since = NULL;
		metric_add(M_STREAM_RESETS, "reason=\"ahead\"", 1);
		stream_tell_position(hub, stream, "reset");
	}
	if (now < stream->alive_ms)
		return;
	stream->alive_ms = now + STREAM_ALIVE_MS;
	stream_write(hub, stream, ":\n\n", 3);
}

/* Checks the streams that are due for a comment or missed an event. After a change of permissions it checks all. One
 * organization can change permissions all the time, so it does that at most every ACCESS_FRESH_MS. While the topic
 * can't be read, it checks all that were checked ACCESS_OFFLINE_MS ago. */
static void streams_check(struct event_hub *hub, int64_t now)
{
	_cleanup_(stream_list_release) struct stream_list list = {.count = 0};
	bool all = now >= hub->all_due_ms;

	for (struct event_stream *at = hub->streams; at; at = at->next) {
		if (!hub->online && now - at->checked_ms >= ACCESS_OFFLINE_MS)
			at->checked_ms = 0;
		if (at->over)
			continue;
		if (!at->checked_ms || now >= at->alive_ms || at->missed || (all && at->access != hub->access))
			stream_list_add(&list, at);
	}
	if (all)
		hub->all_due_ms = now + ACCESS_FRESH_MS;
	access_check(hub, &list);
}

static void tick(void *data)
{
	struct event_hub *hub = data;
	int64_t now = hub->now_ms = clock_mono_ms();
	int count = 0;

	refused_sweep(hub);
	streams_check(hub, now);
	for (struct event_stream *at = hub->streams; at; at = at->next) {
		if (!at->over)
			stream_alive(hub, at, now);
		count++;
	}
	streams_sweep(hub);
	metric_set(M_STREAMS, "", count);
	tails_serve(hub);
	feed_serve(hub);
	loop_timer_set(hub->loop, &hub->tick, TICK_MS, tick, hub);
}

/* Streams that waited for long were checked too long ago to be resumed. */
static void waiting_check(struct event_hub *hub)
{
	_cleanup_(stream_list_release) struct stream_list list = {.count = 0};

	for (struct event_stream *at = hub->streams; at; at = at->next)
		if (at->waits && !at->over)
			stream_list_add(&list, at);
	access_check(hub, &list);
}

static void stream_changed(struct event_hub *hub, struct event_stream *stream)
{
	if (!hub->online) {
		stream_tell(hub, stream, "offline", json_object());
		return;
	}
	if (stream->waits) {
		deliver_since(hub, stream);
		return;
	}
	if (stream->missed)
		stream_tell_position(hub, stream, "reset");
	stream->missed = false;
	stream_tell_position(hub, stream, "online");
}

/* The positions of waiting streams may be of messages that the broker no longer has: they are too old for a resume. */
static void messages_lost(struct event_hub *hub)
{
	for (struct event_stream *at = hub->streams; at; at = at->next)
		if (!at->waits)
			at->missed = true;
		else if (at->since)
			at->since->count = 0;
}

/* `lost`: messages may be missing. Streams that waited for the first reading of the topic get what they missed. */
void feed_changed(struct event_hub *hub, bool online, bool lost)
{
	if (lost)
		messages_lost(hub);
	if (online == hub->online)
		return;
	hub->online = online;
	hub->now_ms = clock_mono_ms();
	if (online)
		waiting_check(hub);
	log_info("event streams changed", "state", online ? "online" : "offline", NULL);
	for (struct event_stream *at = hub->streams; at; at = at->next)
		stream_changed(hub, at);
	streams_sweep(hub);
}

/* ---- the thread ---- */

static void *hub_run(void *data)
{
	struct event_hub *hub = data;

	loop_run(hub->loop);
	for (struct event_stream *at = hub->streams; at; at = at->next)
		at->over = true;
	streams_sweep(hub);
	return NULL;
}

static void parts_free(struct event_hub *hub)
{
	feed_stop(hub->feed);
	tails_free(hub->tails);
	loop_unwatch(hub->loop, hub->wake);
	loop_free(hub->loop);
	event_ring_free(hub->ring);
	channels_free(hub->channels);
	json_decref(hub->given);
	db_close(hub->store.db);
	closep(&hub->wake);
	pthread_mutex_destroy(&hub->mutex);
	free(hub);
}

int event_hub_start(const struct event_hub_spec *spec, struct event_hub **ret_hub, struct err *err)
{
	struct event_hub *hub = mem_new(1, sizeof(*hub));

	*hub = (struct event_hub){.max_streams = spec->max_streams,
		.max_per_user = spec->max_per_user,
		.max_per_address = spec->max_per_address,
		.store = *spec->store,
		.loop = loop_new(),
		.channels = channels_new(),
		.ring = event_ring_new(RING_EVENTS, RING_BYTES),
		.given = json_object(),
		.access = 1,
		.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
	hub->store.db = db_open(spec->database_url);
	hub->store.scope = NULL;
	pthread_mutex_init(&hub->mutex, NULL);
	loop_watch(hub->loop, hub->wake, EPOLLIN, streams_arrive, hub);
	loop_timer_set(hub->loop, &hub->tick, 0, tick, hub);
	hub->tails = tails_new(hub);
	if (feed_start(hub, spec->kafka, err) < 0 || pthread_create(&hub->thread, NULL, hub_run, hub) != 0) {
		parts_free(hub);
		return err->kind ? -1 : err_set(err, ERR_INTERNAL, "no thread for the event streams");
	}
	*ret_hub = hub;
	return 0;
}

void event_hub_stop(struct event_hub *hub)
{
	bool stopped;

	if (!hub)
		return;
	pthread_mutex_lock(&hub->mutex);
	stopped = hub->stops;
	hub->stops = true;
	pthread_mutex_unlock(&hub->mutex);
	if (stopped)
		return;
	loop_eventfd_set(hub->wake);
	pthread_join(hub->thread, NULL);
}

void event_hub_free(struct event_hub *hub)
{
	if (!hub)
		return;
	event_hub_stop(hub);
	parts_free(hub);
}

/* ---- any thread ---- */

static struct event_stream *stream_new(const struct event_stream_spec *spec)
{
	struct event_stream *stream = mem_new(1, sizeof(*stream));
	struct cursor since;

	stream->http = http_stream_new(STREAM_BUFFER);
	stream->waits = true;
	stream->count = spec->topics->count;
	stream->topics = mem_new(stream->count, sizeof(*stream->topics));
	for (size_t i = 0; i < stream->count; i++) {
		stream->topics[i].topic = spec->topics->items[i];
		stream->topics[i].subscription.stream = stream;
	}
	watcher_init(&stream->watcher, spec->token, spec->cookie);
	http_address_key(spec->address, stream->address);
	if (spec->since && *spec->since) {
		stream->since = mem_new(1, sizeof(*stream->since));
		*stream->since = cursor_parse(spec->since, &since) ? since : (struct cursor){.count = 0};
	}
	return stream;
}

int event_hub_open(
	struct event_hub *hub, const struct event_stream_spec *spec, struct http_stream **ret_stream, struct err *err)
{
	struct event_stream *stream = stream_new(spec);
	struct http_stream *http = stream->http;
	bool taken;

	pthread_mutex_lock(&hub->mutex);
	taken = !hub->stops && atomic_load(&hub->open) < hub->max_streams;
	if (taken) {
		atomic_fetch_add(&hub->open, 1);
		stream->next = hub->arrived;
		hub->arrived = stream;
	}
	pthread_mutex_unlock(&hub->mutex);
	if (!taken) {
		atomic_store(&hub->refused, true);
		http_stream_leave(http);
		stream_free(stream);
		return err_set(err, ERR_UNAVAILABLE, "too many event streams are open: ask again later");
	}
	loop_eventfd_set(hub->wake);
	*ret_stream = http;
	return 0;
}

void event_hub_log_grew(void *hub, const char *operation_id)
{
	tails_grew(((struct event_hub *)hub)->tails, operation_id);
}
