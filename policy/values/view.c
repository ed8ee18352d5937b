/* SPDX-License-Identifier: MPL-2.0 */
#include "policy/values/containers.h"

enum {
	FIRST = 2,
	FEW = 8,       /* slots that are searched one by one */
	DENSE_PART = 8 /* of the room's size: slots from which the cache is dense */
};

static struct view_cache *cache_new(struct run *run, size_t size)
{
	struct view_cache *cache = run_alloc(run, 1, sizeof(*cache));

	cache->size = (uint32_t)size;
	return cache;
}

/* ---- slots: searched one by one, or hashed ---- */

static struct view_slot *find_among_few(const struct view_cache *cache, size_t number)
{
	for (uint32_t i = 0; i < cache->capacity; i++)
		if (cache->slots[i].number == 0 || cache->slots[i].number == number)
			return &cache->slots[i];
	return NULL;
}

static struct view_slot *find_hashed(const struct view_cache *cache, size_t number)
{
	const size_t mask = cache->capacity - 1;
	size_t slot = (number * 0x9e3779b97f4a7c15u) >> 32 & mask;

	while (cache->slots[slot].number != 0 && cache->slots[slot].number != number)
		slot = (slot + 1) & mask;
	return &cache->slots[slot];
}

/* The slot of that number, or a free one. NULL if there is none. */
static struct view_slot *find_slot(const struct view_cache *cache, size_t number)
{
	return cache->capacity <= FEW ? find_among_few(cache, number) : find_hashed(cache, number);
}

static void make_dense(struct run *run, struct view_cache *cache)
{
	struct value *elements = run_alloc(run, cache->size, sizeof(*elements));

	for (uint32_t i = 0; i < cache->capacity; i++)
		if (cache->slots[i].number != 0)
			elements[cache->slots[i].number - 1] = cache->slots[i].element;
	cache->elements = elements;
	cache->dense = true;
}

static void add_slots(struct run *run, struct view_cache *cache)
{
	struct view_cache old = *cache;

	cache->capacity = old.capacity ? 2 * old.capacity : FIRST;
	cache->slots = run_alloc(run, cache->capacity, sizeof(*cache->slots));
	for (uint32_t i = 0; i < old.capacity; i++)
		if (old.slots[i].number != 0)
			*find_slot(cache, old.slots[i].number) = old.slots[i];
}

static bool is_full(const struct view_cache *cache)
{
	return cache->capacity <= FEW ? cache->used == cache->capacity : 2 * cache->used >= cache->capacity;
}

static void grow(struct run *run, struct view_cache *cache)
{
	if (cache->capacity >= FEW && cache->capacity >= cache->size / DENSE_PART)
		make_dense(run, cache);
	else
		add_slots(run, cache);
}

/* ---- views of elements ---- */

static struct value dense_view(struct run *run, struct view_cache *cache, size_t index, struct value element)
{
	struct value *view = &cache->elements[index];

	if (view->type == VALUE_UNDEFINED)
		*view = value_view(run, element);
	return *view;
}

static struct value slot_view(struct run *run, struct view_cache *cache, size_t index, struct value element)
{
	struct view_slot *slot = cache->capacity > 0 ? find_slot(cache, index + 1) : NULL;

	if (slot && slot->number != 0)
		return slot->element;
	if (!slot || is_full(cache)) {
		grow(run, cache);
		return cache->dense ? dense_view(run, cache, index, element) : slot_view(run, cache, index, element);
	}
	*slot = (struct view_slot){.number = index + 1, .element = value_view(run, element)};
	cache->used++;
	return slot->element;
}

struct value element_read(struct run *run, struct value *slot, struct view_cache *cache, size_t index)
{
	if (slot->type == VALUE_LAZY)
		*slot = slot->lazy->make(run, slot->lazy->data, slot->offset);
	if (!cache || !is_container(*slot))
		return *slot;
	return cache->dense ? dense_view(run, cache, index, *slot) : slot_view(run, cache, index, *slot);
}

static struct value view_list(struct run *run, struct list *list)
{
	struct list *view;

	if (list->cache && list->cache->used > 0) {
		run_enter(run);
		list_own(run, list, list->len);
		run_leave(run);
	}
	list->room->shared = true;
	view = run_alloc(run, 1, sizeof(*view));
	*view = *list;
	view->cache = cache_new(run, list->room->used);
	return (struct value){.type = VALUE_LIST, .list = view};
}

static struct value view_map(struct run *run, struct map *map)
{
	struct map *view;

	if (map->cache && map->cache->used > 0) {
		run_enter(run);
		map_own(run, map, 0);
		run_leave(run);
	}
	map->room->shared = true;
	view = run_alloc(run, 1, sizeof(*view));
	*view = *map;
	view->cache = cache_new(run, map->room->used);
	return (struct value){.type = VALUE_MAP, .map = view};
}

struct value value_view(struct run *run, struct value value)
{
	if (value.type == VALUE_LIST)
		return view_list(run, value.list);
	if (value.type == VALUE_MAP)
		return view_map(run, value.map);
	return value;
}
