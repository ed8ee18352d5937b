/* SPDX-License-Identifier: MPL-2.0 */
#include <string.h>

#include "policy/values/value.h"

struct string_room {
	char *used, *end; /* the end of the newest string's bytes, and of the room */
};

static struct value string_of(struct run *run, const char *bytes, size_t len, struct string_room *room)
{
	struct string *string = run_alloc(run, 1, sizeof(*string));

	*string = (struct string){.len = len, .bytes = bytes ? bytes : "", .room = room};
	return (struct value){.type = VALUE_STRING, .string = string};
}

static void check_length(struct run *run, size_t len)
{
	if (len > MAX_STRING)
		run_fail_limit(run, "a string's length, 256 MiB,", NULL);
}

struct value string_new(struct run *run, const char *bytes, size_t len)
{
	check_length(run, len);
	return string_of(run, run_copy(run, bytes, len), len, NULL);
}

struct value string_borrow(struct run *run, const char *bytes, size_t len)
{
	check_length(run, len);
	/* Functions of the C library take no NULL, not even for no bytes. */
	return string_of(run, len > 0 ? bytes : "", len, NULL);
}

struct value string_text(struct run *run, const char *text)
{
	return string_new(run, text, strlen(text));
}

static bool can_grow(const struct string *string, size_t more)
{
	const struct string_room *room = string->room;

	return room && string->bytes + string->len == room->used && more <= (size_t)(room->end - room->used);
}

/* A string that was joined once gets a room without spare bytes: most strings are not joined again. */
static struct string_room *room_new(struct run *run, const struct string *begin, size_t len)
{
	size_t capacity = begin->room ? 2 * len : len;
	struct string_room *room = run_alloc(run, 1, sizeof(*room));

	room->used = run_alloc(run, capacity, 1);
	room->end = room->used + capacity;
	memcpy(room->used, begin->bytes, begin->len);
	room->used += begin->len;
	return room;
}

struct value string_concat(struct run *run, struct value a, struct value b)
{
	const struct string *left = a.string, *right = b.string;
	const size_t len = left->len + right->len;
	struct string_room *room = left->room;

	if (left->len == 0)
		return b;
	if (right->len == 0)
		return a;
	check_length(run, len);
	run_step_bytes(run, right->len);
	if (!can_grow(left, right->len)) {
		run_step_bytes(run, left->len);
		room = room_new(run, left, len);
	}
	memcpy(room->used, right->bytes, right->len);
	room->used += right->len;
	return string_of(run, room->used - len, len, room);
}

struct value string_slice(struct run *run, struct value string, size_t from, size_t to)
{
	if (from == 0 && to == string.string->len)
		return string;
	return string_of(run, string.string->bytes + from, to - from, NULL);
}

bool string_equals(struct value string, const char *text)
{
	return string.string->len == strlen(text) && memcmp(string.string->bytes, text, string.string->len) == 0;
}
