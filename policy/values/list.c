/* SPDX-License-Identifier: MPL-2.0 */
#include <string.h>

#include "policy/values/containers.h"

static struct list_room *room_new(struct run *run, size_t capacity)
{
	struct list_room *room;

	if (capacity > MAX_LIST)
		capacity = MAX_LIST;
	room = run_alloc(run, 1, sizeof(*room) + capacity * sizeof(struct value));
	room->capacity = capacity;
	return room;
}

static struct value list_of(struct run *run, struct list list)
{
	struct list *made = run_alloc(run, 1, sizeof(*made));

	*made = list;
	return (struct value){.type = VALUE_LIST, .list = made};
}

static void check_length(struct run *run, size_t len)
{
	if (len > MAX_LIST)
		run_fail_limit(run, "a list's length, 10 million,", NULL);
}

struct value list_new(struct run *run, size_t capacity)
{
	check_length(run, capacity);
	return list_of(run, (struct list){.room = room_new(run, capacity)});
}

size_t list_len(struct value list)
{
	return list.list->len;
}

static struct value at(struct run *run, const struct list *list, size_t index)
{
	size_t number = list->offset + index;

	return element_read(run, &list->room->items[number], list->cache, number);
}

struct value list_at(struct run *run, struct value list, size_t index)
{
	return at(run, list.list, index);
}

/* Elements that stay lazy would be made twice if the old room is used on. */
void list_own(struct run *run, struct list *list, size_t capacity)
{
	struct list_room *room = room_new(run, capacity < list->len ? list->len : capacity);

	const bool used_on = list->room->shared || list->cache;

	run_step(run, list->len);
	for (size_t i = 0; i < list->len; i++)
		room->items[i] = used_on ? at(run, list, i) : list->room->items[list->offset + i];
	room->used = list->len;
	list->room = room;
	list->offset = 0;
	list->cache = NULL;
}

void list_set(struct run *run, struct value list, size_t index, struct value element)
{
	struct list *changed = list.list;

	if (changed->room->shared || changed->cache)
		list_own(run, changed, changed->len);
	changed->room->items[changed->offset + index] = element;
}

static bool can_grow(const struct list *list, size_t more)
{
	const struct list_room *room = list->room;

	return !list->cache && list->offset + list->len == room->used && more <= room->capacity - room->used;
}

void list_push(struct run *run, struct value list, struct value element)
{
	struct list *changed = list.list;

	check_length(run, changed->len + 1);
	if (!can_grow(changed, 1))
		list_own(run, changed, 2 * changed->len + 4);
	changed->room->items[changed->room->used++] = element;
	changed->len++;
}

/* ---- concatenation: what is longer is not copied if its room has space for the other ---- */

/* The list whose room holds a's elements and has room for b's. */
static struct list begin_concat(struct run *run, struct list *a, size_t len)
{
	struct list begin;

	if (a->cache)
		list_own(run, a, a->len);
	begin = *a;
	if (!can_grow(a, len - a->len))
		list_own(run, &begin, len + (a->len > 4 ? len : 0));
	begin.room->shared = true;
	return begin;
}

static struct list append(struct run *run, struct list *a, struct value b, size_t len)
{
	struct list joined = begin_concat(run, a, len);
	const size_t added = b.list->len;

	run_step(run, added);
	for (size_t i = 0; i < added; i++)
		joined.room->items[joined.room->used + i] = list_at(run, b, i);
	joined.room->used += added;
	return joined;
}

/* A copy of the list at the end of a room for at least `len` elements. */
static struct list copy_to_end(struct run *run, const struct list *list, size_t len)
{
	struct list copy = {.len = list->len, .room = room_new(run, len + (list->len > 4 ? len : 0))};

	copy.offset = copy.room->capacity - list->len;
	copy.room->first = copy.offset;
	copy.room->used = copy.room->capacity;
	run_step(run, list->len);
	for (size_t i = 0; i < list->len; i++)
		copy.room->items[copy.offset + i] = at(run, list, i);
	return copy;
}

static struct list prepend(struct run *run, struct value a, const struct list *b, size_t len)
{
	const size_t added = a.list->len;
	struct list joined = *b;

	if (b->cache || b->offset != b->room->first || b->offset < added)
		joined = copy_to_end(run, b, len);
	run_step(run, added);
	joined.offset -= added;
	joined.room->first = joined.offset;
	joined.room->shared = true;
	for (size_t i = 0; i < added; i++)
		joined.room->items[joined.offset + i] = list_at(run, a, i);
	return joined;
}

struct value list_concat(struct run *run, struct value a, struct value b)
{
	const size_t len = a.list->len + b.list->len;
	struct list joined;

	check_length(run, len);
	run_step(run, 1);
	if (a.list->len < b.list->len && !can_grow(a.list, b.list->len))
		joined = prepend(run, a, b.list, len);
	else
		joined = append(run, a.list, b, len);
	joined.len = len;
	return list_of(run, joined);
}

struct value list_slice(struct run *run, struct value list, size_t from, size_t to)
{
	struct list slice = *list.list;

	slice.room->shared = true;
	slice.offset += from;
	slice.len = to - from;
	return list_of(run, slice);
}
