/* SPDX-License-Identifier: MPL-2.0 */
#ifndef POLICY_VALUES_CONTAINERS_H
#define POLICY_VALUES_CONTAINERS_H

/*
 * The shapes of lists and maps, for values/ alone.
 *
 * The elements of a container are in a room. Several containers and running iterations can refer to one room: it is
 * shared from then on, and a container copies a shared room before it changes an element. A list may still append to a
 * shared room if its elements end where the room's do, and prepend if they begin where the room's do: nothing else
 * refers to what is behind or before them.
 *
 * A view is a container with a cache. Its room is that of the data; its elements are views too, made at first use and
 * kept in the cache by their index in the room. A change of a view first gives it a room of its own.
 */

#include "policy/values/value.h"

struct list_room {
	size_t first, used; /* the elements are from `first` up to `used`, without it */
	size_t capacity;
	bool shared;
	struct value items[];
};

struct list {
	size_t len;
	size_t offset; /* of its first element in the room */
	struct list_room *room;
	struct view_cache *cache; /* NULL: no view */
};

struct map_entry {
	struct value key; /* VALUE_UNSET: deleted */
	struct value element;
	uint64_t hash;
};

struct map_room {
	uint32_t used, capacity; /* of the entries, deleted ones among them */
	uint32_t live;
	uint32_t index_mask; /* a power of two, less 1: at least 2 * capacity slots */
	bool shared;
	uint32_t *index; /* NULL for few entries; else an entry's number + 1, or 0 */
	struct map_entry *entries;
};

struct map {
	struct map_room *room;
	struct view_cache *cache; /* NULL: no view */
	const struct map *hidden; /* map_hide; or NULL */
};

struct view_slot {
	size_t number; /* the index in the room + 1, or 0 */
	struct value element;
};

/* The views of a container's elements by their index in the room. Few are searched one by one, more are hashed, and if
 * a good part of the room is seen it is an array of the room's size. */
struct view_cache {
	uint32_t size; /* of the room */
	uint32_t used, capacity;
	bool dense;
	union {
		struct view_slot *slots;
		struct value *elements; /* dense; VALUE_UNDEFINED: not made yet */
	};
};

static inline bool is_container(struct value value)
{
	return value.type == VALUE_LIST || value.type == VALUE_MAP;
}

/* The element in a room's slot, made if it is lazy, and seen through the view. `cache` is NULL for no view. */
struct value element_read(struct run *run, struct value *slot, struct view_cache *cache, size_t index);

/* Gives the list a room of its own with at least so much capacity. */
void list_own(struct run *run, struct list *list, size_t capacity);
void map_own(struct run *run, struct map *map, size_t capacity);

#endif
