/* SPDX-License-Identifier: MPL-2.0 */
#include <stdio.h>
#include <string.h>

#include "common/log.h"
#include "scheduler/events/hub_state.h"

enum { CHECKED_AT_ONCE = 1000, GIVEN_KEY = 2 * ID_SIZE + 1 };

static bool is_young(const struct event_hub *hub, int64_t checked_ms)
{
	return checked_ms && hub->now_ms - checked_ms < ACCESS_FRESH_MS;
}

bool access_is_fresh(const struct event_hub *hub, const struct event_stream *stream)
{
	return stream->access == hub->access && is_young(hub, stream->checked_ms);
}

void access_changed(struct event_hub *hub)
{
	hub->access++;
	json_object_clear(hub->given);
}

/* ---- rights in a workspace ---- */

static void given_key(const struct access_question *question, char ret_key[GIVEN_KEY])
{
	snprintf(ret_key, GIVEN_KEY, "%s/%s", question->stream->watcher.user.text,
		text_or_empty(question->place.workspace));
}

static enum watcher_answer answer_of(const struct access_question *question)
{
	return watcher_may(&question->stream->watcher, question->permission, &question->place);
}

bool access_may(const struct event_hub *hub, const struct access_question *question)
{
	enum watcher_answer answer = answer_of(question);
	char key[GIVEN_KEY];

	if (answer != WATCHER_MAY_BY_WORKSPACE)
		return answer == WATCHER_MAY;
	given_key(question, key);
	return (rights)json_int_at(hub->given, key, 0) & right_of(question->permission);
}

static int given_read(struct event_hub *hub, struct watcher_rights *items, char (*keys)[GIVEN_KEY], size_t count)
{
	struct err err = ERR_INIT;

	if (watcher_rights_read(&hub->store, items, count, &err) < 0) {
		log_warn("permissions of event streams can't be read", "error", err.message, NULL);
		return -1;
	}
	for (size_t i = 0; i < count; i++)
		json_object_set_new(hub->given, keys[i], json_integer((json_int_t)items[i].given));
	return 0;
}

/* The answers of one user for one workspace are read once. */
int access_prepare(struct event_hub *hub, const struct access_question *questions, size_t count)
{
	_cleanup_(freep) struct watcher_rights *items = mem_new(count + 1, sizeof(*items));
	_cleanup_(freep) char(*keys)[GIVEN_KEY] = mem_new(count + 1, sizeof(*keys));
	size_t asked = 0;

	if (!is_young(hub, hub->given_ms)) {
		json_object_clear(hub->given);
		hub->given_ms = hub->now_ms;
	}
	for (size_t i = 0; i < count; i++) {
		const struct access_question *question = &questions[i];

		if (answer_of(question) != WATCHER_MAY_BY_WORKSPACE)
			continue;
		given_key(question, keys[asked]);
		if (json_object_get(hub->given, keys[asked]))
			continue;
		json_object_set_new(hub->given, keys[asked], json_integer(0));
		items[asked++] = (struct watcher_rights){.user = question->stream->watcher.user.text,
			.organization = question->place.organization,
			.workspace = question->place.workspace};
	}
	if (given_read(hub, items, keys, asked) == 0)
		return 0;
	json_object_clear(hub->given);
	return -1;
}

/* ---- the check of streams ---- */

static struct access_question question_of(const struct event_stream *stream, const struct event_topic *topic)
{
	return (struct access_question){.stream = stream,
		.permission = event_topic_permission(topic->kind),
		.place = {.organization = topic->organization.text, .workspace = topic->workspace.text}};
}

/* The client reads the same whether the object does not exist, or it may not be read. */
static void topics_take_away(struct event_hub *hub, struct event_stream *stream)
{
	for (size_t i = 0; i < stream->count; i++) {
		struct stream_topic *topic = &stream->topics[i];
		struct access_question question = question_of(stream, &topic->topic);
		char text[EVENT_TOPIC_NAME + 16];

		if (topic->over || (topic->topic.object.text[0] && access_may(hub, &question)))
			continue;
		stream_unsubscribe(hub, topic);
		event_topic_text(&topic->topic, text, sizeof(text));
		stream_tell(hub, stream, "denied",
			json_pack("{ss ss}", "topic", text, "reason", "it does not exist, or you may not see it"));
	}
}

static int topics_prepare(struct event_hub *hub, struct event_stream *const *streams, size_t count)
{
	_cleanup_(freep) struct access_question *questions = mem_new(count * MAX_EVENT_TOPICS, sizeof(*questions));
	size_t asked = 0;

	for (size_t i = 0; i < count; i++)
		for (size_t t = 0; t < streams[i]->count; t++)
			if (!streams[i]->topics[t].over)
				questions[asked++] = question_of(streams[i], &streams[i]->topics[t].topic);
	return access_prepare(hub, questions, asked);
}

static int part_check(struct event_hub *hub, struct event_stream *const *streams, size_t count)
{
	struct watcher *watchers[CHECKED_AT_ONCE];
	struct err err = ERR_INIT;

	for (size_t i = 0; i < count; i++)
		watchers[i] = &streams[i]->watcher;
	if (watchers_check(&hub->store, watchers, count, &err) < 0) {
		log_warn("tokens of event streams can't be checked", "error", err.message, NULL);
		return -1;
	}
	if (topics_prepare(hub, streams, count) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		if (!streams[i]->watcher.valid)
			stream_end(hub, streams[i], "the token or the session is no longer valid");
		else
			topics_take_away(hub, streams[i]);
		streams[i]->checked_ms = hub->now_ms;
		streams[i]->access = hub->access;
	}
	return 0;
}

int access_check(struct event_hub *hub, const struct stream_list *list)
{
	struct event_stream *part[CHECKED_AT_ONCE];
	size_t count = 0;
	int result = 0;

	for (size_t i = 0; i < list->count && result == 0; i++) {
		if (!list->items[i]->over && !access_is_fresh(hub, list->items[i]))
			part[count++] = list->items[i];
		if (count == CHECKED_AT_ONCE || (i + 1 == list->count && count)) {
			result = part_check(hub, part, count);
			count = 0;
		}
	}
	return result;
}
