/* SPDX-License-Identifier: MPL-2.0 */
#include <stdio.h>
#include <string.h>

#include "scheduler/events/hub_state.h"
#include "scheduler/metrics.h"

enum { TOLD_LIMIT = 512 << 10 };

void stream_list_add(struct stream_list *list, struct event_stream *stream)
{
	if (list->count == list->room) {
		list->room = list->room ? 2 * list->room : 64;
		list->items = mem_resize(list->items, list->room, sizeof(struct event_stream *));
	}
	list->items[list->count++] = stream;
}

void stream_list_release(struct stream_list *list)
{
	free(list->items);
	*list = (struct stream_list){.items = NULL};
}

static void position_write(const struct event_hub *hub, const char *name, struct buf *out)
{
	char cursor[CURSOR_TEXT_SIZE];

	cursor_text(event_ring_end(hub->ring), cursor);
	buf_printf(out, "event: %s\nid: %s\ndata: {}\n\n", name, cursor);
}

/* The client has to read everything again. The server drops what waits for it, except for an event that is partly sent.
 */
static void client_reset(struct event_hub *hub, struct event_stream *stream)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(TOLD_LIMIT);

	position_write(hub, "reset", &text);
	http_stream_drop(stream->http, "\n\n");
	stream->missed = false;
	metric_add(M_STREAM_RESETS, "reason=\"slow\"", 1);
	if (http_stream_write(stream->http, text.data, text.len) != HTTP_STREAM_TAKEN)
		stream->over = true;
}

void stream_write(struct event_hub *hub, struct event_stream *stream, const char *text, size_t len)
{
	enum http_stream_result result;

	if (stream->over)
		return;
	result = http_stream_write(stream->http, text, len);
	if (result == HTTP_STREAM_FULL)
		client_reset(hub, stream);
	else if (result == HTTP_STREAM_GONE)
		stream->over = true;
}

void stream_tell(struct event_hub *hub, struct event_stream *stream, const char *name, json_t *data)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(TOLD_LIMIT);

	event_write(&text, name, data);
	buf_text(&text, "\n");
	stream_write(hub, stream, text.data, text.len);
}

void stream_tell_position(struct event_hub *hub, struct event_stream *stream, const char *name)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(TOLD_LIMIT);

	position_write(hub, name, &text);
	stream_write(hub, stream, text.data, text.len);
}

void stream_end(struct event_hub *hub, struct event_stream *stream, const char *why)
{
	if (stream->over)
		return;
	stream_tell(hub, stream, "end", json_pack("{ss}", "reason", why));
	stream->over = true;
}

void stream_unsubscribe(struct event_hub *hub, struct stream_topic *topic)
{
	channels_remove(hub->channels, &topic->subscription);
	topic->over = true;
}

void stream_free(struct event_stream *stream)
{
	http_stream_end(stream->http);
	watcher_release(&stream->watcher);
	free(stream->topics);
	free(stream->since);
	free(stream);
}

void streams_sweep(struct event_hub *hub)
{
	struct event_stream *next;

	for (struct event_stream *at = hub->streams; at; at = next) {
		next = at->next;
		if (!at->over)
			continue;
		for (size_t i = 0; i < at->count; i++)
			stream_unsubscribe(hub, &at->topics[i]);
		*(at->previous ? &at->previous->next : &hub->streams) = at->next;
		if (at->next)
			at->next->previous = at->previous;
		stream_free(at);
		atomic_fetch_sub(&hub->open, 1);
	}
}
