/* SPDX-License-Identifier: MPL-2.0 */
/*
 * The texts from which event streams are made: topics and positions of clients, and messages of runyard.events. An
 * accepted text keeps its meaning when it is written and read again. A message becomes whole server-sent events.
 */
#include <stdlib.h>
#include <string.h>

#include "scheduler/events/cursor.h"
#include "scheduler/events/event.h"
#include "scheduler/events/event_topics.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void check(bool condition)
{
	if (!condition)
		abort();
}

static void check_topics(const char *text)
{
	struct event_topics topics, again;
	struct err err = ERR_INIT;

	if (event_topics_parse(text, &topics, &err) < 0)
		return;
	check(topics.count > 0 && topics.count <= MAX_EVENT_TOPICS);
	for (size_t i = 0; i < topics.count; i++) {
		char one[EVENT_TOPIC_NAME + 16];

		event_topic_text(&topics.items[i], one, sizeof(one));
		check(event_topics_parse(one, &again, &err) == 0 && again.count == 1);
		check(again.items[0].kind == topics.items[i].kind &&
			text_equal(again.items[0].name, topics.items[i].name));
	}
}

static void check_cursor(const char *text)
{
	struct cursor cursor, again;
	char written[CURSOR_TEXT_SIZE];

	if (!cursor_parse(text, &cursor))
		return;
	cursor_text(&cursor, written);
	check(cursor_parse(written, &again) && again.count == cursor.count);
	check(memcmp(again.next, cursor.next, (size_t)cursor.count * sizeof(cursor.next[0])) == 0);
}

/* Each line begins with the name of a field, so no text of the message ends a line. */
static void check_event(const char *text, size_t len)
{
	struct event *event = event_of_message(text, len);
	const char *line = event ? buf_str(&event->text) : "";

	while (*line) {
		check(text_starts(line, "event: ") || text_starts(line, "data: {") || *line == '\n');
		line += strcspn(line, "\n");
		check(*line == '\n');
		line++;
	}
	event_free(event);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	_cleanup_(freep) char *text = mem_new(len + 1, 1);

	if (len)
		memcpy(text, bytes, len);
	check_topics(text);
	check_cursor(text);
	check_event(text, len);
	return 0;
}
