/* SPDX-License-Identifier: MPL-2.0 */
/* The pure parts of event streams: cursors, topics, the ring, subscribers, and messages as events. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "scheduler/events/channels.h"
#include "scheduler/events/cursor.h"
#include "scheduler/events/event_ring.h"
#include "scheduler/events/event_topics.h"

#define RUN       "run-aaaaaaaaaaaaaaaa"
#define WORKSPACE "ws-aaaaaaaaaaaaaaaa"
#define ORG       "org-aaaaaaaaaaaaaaaa"

static void a_cursor_is_read_as_it_was_written(void **state)
{
	struct cursor cursor = {.count = 3, .next = {0, 17, 999999999999999999}}, read;
	char text[CURSOR_TEXT_SIZE];

	(void)state;
	cursor_text(&cursor, text);
	assert_string_equal(text, "0-17-999999999999999999");
	assert_true(cursor_parse(text, &read));
	assert_int_equal(read.count, 3);
	assert_memory_equal(read.next, cursor.next, 3 * sizeof(cursor.next[0]));
}

static void a_text_that_is_no_cursor_is_refused(void **state)
{
	static const char *const texts[] = {"", "-", "1-", "-1", "1--2", "1-x", "1 ", "1000000000000000000", "+1"};
	struct cursor read;
	_cleanup_(buf_release) struct buf many = BUF_INIT(512);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		assert_false(cursor_parse(texts[i], &read));
	for (int i = 1; i < CURSOR_PARTITIONS; i++)
		buf_text(&many, "0-");
	buf_text(&many, "0");
	assert_true(cursor_parse(many.data, &read));
	buf_text(&many, "-0");
	assert_false(cursor_parse(many.data, &read));
}

static void topics_are_parsed_and_repetitions_count_once(void **state)
{
	struct event_topics topics;
	struct err err = ERR_INIT;
	char text[64];

	(void)state;
	assert_int_equal(event_topics_parse("org:acme,run:" RUN
					    ",log:plan-aaaaaaaaaaaaaaaa@12,site,workspace:" WORKSPACE ",org:acme",
				 &topics, &err),
		0);
	assert_int_equal(topics.count, 5);
	assert_int_equal(topics.items[0].kind, EVENTS_OF_ORGANIZATION);
	assert_string_equal(topics.items[0].name, "acme");
	assert_int_equal(topics.items[2].kind, EVENTS_OF_LOG);
	assert_int_equal(topics.items[2].offset, 12);
	event_topic_text(&topics.items[2], text, sizeof(text));
	assert_string_equal(text, "log:plan-aaaaaaaaaaaaaaaa");
	event_topic_text(&topics.items[3], text, sizeof(text));
	assert_string_equal(text, "site");
}

static void a_text_that_is_no_list_of_topics_is_refused(void **state)
{
	static const char *const texts[] = {"", ",", "site,", "site:x", "org", "org:", "org:a b", "run:" WORKSPACE,
		"runs:" RUN, "workspace:" WORKSPACE "@1", "log:plan-aaaaaaaaaaaaaaaa@", "log:plan-aaaaaaaaaaaaaaaa@-1",
		"log:plan-aaaaaaaaaaaaaaaa@1x", "log:" RUN "@1", "log:plan-aaaaaaaaaaaaaaaa@9223372036854775807", "@1"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct event_topics topics;
		struct err err = ERR_INIT;

		assert_int_equal(event_topics_parse(texts[i], &topics, &err), -1);
		assert_int_equal(err.kind, ERR_MALFORMED);
	}
}

/* ---- messages ---- */

static struct event *event_of(const char *text)
{
	return event_of_message(text, strlen(text));
}

static void a_transition_is_an_event_of_its_run_and_of_its_stages(void **state)
{
	struct event *event =
		event_of("{\"v\":1,\"run\":\"" RUN "\",\"workspace\":\"" WORKSPACE "\",\"organization\":\"" ORG
			 "\",\"status\":\"planning\",\"at\":\"now\",\"stages\":{\"plan\":\"running\"}}");

	(void)state;
	assert_non_null(event);
	assert_int_equal(event->permission, CAN_READ_RUNS);
	assert_string_equal(event->run.text, RUN);
	assert_non_null(strstr(event->text.data, "event: run\ndata: {"));
	assert_non_null(strstr(event->text.data, "\n\nevent: stage\ndata: {"));
	assert_non_null(strstr(event->text.data, "\"status\":\"running\""));
	assert_null(strstr(event->text.data, ORG));
	event_free(event);
}

static void an_audited_change_is_shown_without_its_actor_and_its_values(void **state)
{
	struct event *event = event_of(
		"{\"v\":1,\"audit\":\"x\",\"organization\":\"" ORG "\",\"actor\":\"user-1\",\"action\":"
		"\"update\",\"resource-type\":\"var\",\"resource\":\"var-1\",\"workspace\":\"" WORKSPACE "\"}");

	(void)state;
	assert_int_equal(event->permission, CAN_READ_VARIABLES);
	assert_false(event->changes_access);
	assert_null(strstr(event->text.data, "user-1"));
	event_free(event);
	event = event_of("{\"v\":1,\"audit\":\"x\",\"organization\":\"" ORG
			 "\",\"action\":\"destroy\",\"resource-type\":\"team_workspace\",\"resource\":\"tws-1\"}");
	assert_true(event->changes_access);
	assert_int_equal(event->text.len, 0);
	event_free(event);
}

static void a_forged_message_is_no_event_or_has_no_line_ends(void **state)
{
	static const char *const refused[] = {"", "[]", "{}", "{\"v\":2,\"run\":\"" RUN "\"}",
		"{\"v\":1,\"run\":\"" RUN "\"}",
		"{\"v\":1,\"run\":\"run-\\n\",\"workspace\":\"" WORKSPACE "\",\"organization\":\"" ORG
		"\",\"status\":\"x\"}",
		"{\"v\":1,\"organization\":\"org-x\",\"worker\":\"agent-1\"}"};
	struct event *event;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(refused); i++)
		assert_null(event_of(refused[i]));
	event = event_of("{\"v\":1,\"run\":\"" RUN "\",\"workspace\":\"" WORKSPACE "\",\"organization\":\"" ORG
			 "\",\"status\":\"x\\n\\nevent: forged\\ndata: 1\"}");
	assert_null(strstr(event->text.data, "\nevent: forged"));
	event_free(event);
}

/* ---- the ring ---- */

struct replayed {
	int count;
	char last[CURSOR_TEXT_SIZE];
};

static void replayed_count(void *data, const struct event *event, const struct cursor *after)
{
	struct replayed *replayed = data;

	(void)event;
	replayed->count++;
	cursor_text(after, replayed->last);
}

static struct event *any_event(void)
{
	return event_of("{\"v\":1,\"worker\":\"agent-1\"}");
}

static int replay(const struct event_ring *ring, struct cursor since, struct replayed *ret_replayed)
{
	*ret_replayed = (struct replayed){.count = 0};
	return event_ring_replay(ring, &since, replayed_count, ret_replayed) ? ret_replayed->count : -1;
}

static void the_ring_replays_what_follows_a_position_and_nothing_it_has_lost(void **state)
{
	struct event_ring *ring = event_ring_new(4, 1 << 20);
	const struct cursor start = {.count = 2, .next = {10, 20}};
	struct replayed replayed;

	(void)state;
	event_ring_begin(ring, &start);
	assert_int_equal(replay(ring, start, &replayed), 0);
	event_ring_add(ring, 0, 10, any_event());
	event_ring_add(ring, 1, 20, any_event());
	event_ring_add(ring, 0, 11, NULL);
	event_ring_add(ring, 0, 12, any_event());
	assert_int_equal(replay(ring, start, &replayed), 3);
	assert_string_equal(replayed.last, "13-21");
	assert_int_equal(replay(ring, (struct cursor){.count = 2, .next = {12, 20}}, &replayed), 2);
	event_ring_add(ring, 1, 21, any_event());
	assert_int_equal(replay(ring, start, &replayed), -1);
	assert_int_equal(replay(ring, (struct cursor){.count = 2, .next = {11, 20}}, &replayed), 3);
	assert_int_equal(replay(ring, (struct cursor){.count = 2, .next = {99, 99}}, &replayed), 0);
	assert_int_equal(replay(ring, (struct cursor){.count = 1, .next = {11}}, &replayed), -1);
	assert_int_equal(replay(ring, (struct cursor){.count = 0}, &replayed), -1);
	event_ring_free(ring);
}

static void the_ring_is_bounded_by_bytes(void **state)
{
	struct event_ring *ring = event_ring_new(1000, 2000);
	const struct cursor start = {.count = 1};
	struct replayed replayed;

	(void)state;
	event_ring_begin(ring, &start);
	for (int i = 0; i < 1000; i++)
		event_ring_add(ring, 0, i, any_event());
	assert_int_equal(replay(ring, start, &replayed), -1);
	assert_int_equal(replay(ring, (struct cursor){.count = 1, .next = {999}}, &replayed), 1);
	event_ring_free(ring);
}

/* ---- subscribers ---- */

static int subscribers(const struct channels *channels, const char *key)
{
	int count = 0;

	for (struct subscription *at = channels_first(channels, key); at; at = at->next)
		count++;
	return count;
}

static void subscribers_are_found_by_their_key_until_they_are_removed(void **state)
{
	struct channels *channels = channels_new();
	struct subscription items[3] = {0};

	(void)state;
	for (int i = 0; i < 3; i++)
		channels_add(channels, &items[i], i < 2 ? RUN : WORKSPACE);
	assert_int_equal(subscribers(channels, RUN), 2);
	channels_remove(channels, &items[0]);
	channels_remove(channels, &items[0]);
	assert_int_equal(subscribers(channels, RUN), 1);
	channels_remove(channels, &items[1]);
	assert_int_equal(subscribers(channels, RUN), 0);
	assert_int_equal(subscribers(channels, WORKSPACE), 1);
	channels_remove(channels, &items[2]);
	channels_free(channels);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cursor_is_read_as_it_was_written),
		cmocka_unit_test(a_text_that_is_no_cursor_is_refused),
		cmocka_unit_test(topics_are_parsed_and_repetitions_count_once),
		cmocka_unit_test(a_text_that_is_no_list_of_topics_is_refused),
		cmocka_unit_test(a_transition_is_an_event_of_its_run_and_of_its_stages),
		cmocka_unit_test(an_audited_change_is_shown_without_its_actor_and_its_values),
		cmocka_unit_test(a_forged_message_is_no_event_or_has_no_line_ends),
		cmocka_unit_test(the_ring_replays_what_follows_a_position_and_nothing_it_has_lost),
		cmocka_unit_test(the_ring_is_bounded_by_bytes),
		cmocka_unit_test(subscribers_are_found_by_their_key_until_they_are_removed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
