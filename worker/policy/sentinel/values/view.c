/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/policy/sentinel/values/containers.h"

enum { CACHE_FIRST = 4 };

struct view_cache *view_cache_new(struct run *run)
{
	return run_alloc(run, 1, sizeof(struct view_cache));
}

static struct view_slot *find_slot(const struct view_cache *cache, size_t number)
{
	const size_t mask = cache->capacity - 1;
	size_t slot = number * 0x9e3779b97f4a7c15u >> 32 & mask;

	while (cache->slots[slot].number != 0 && cache->slots[slot].number != number)
		slot = (slot + 1) & mask;
	return &cache->slots[slot];
}

static void grow_cache(struct run *run, struct view_cache *cache)
{
	struct view_cache old = *cache;

	cache->capacity = old.capacity ? 2 * old.capacity : CACHE_FIRST;
	cache->slots = run_alloc(run, cache->capacity, sizeof(*cache->slots));
	for (size_t i = 0; i < old.capacity; i++)
		if (old.slots[i].number != 0)
			*find_slot(cache, old.slots[i].number) = old.slots[i];
}

/* The view of a container in the slot of that index. */
static struct value cached_view(struct run *run, struct view_cache *cache, size_t index, struct value element)
{
	struct view_slot *slot;

	if (2 * (cache->used + 1) > cache->capacity)
		grow_cache(run, cache);
	slot = find_slot(cache, index + 1);
	if (slot->number == 0) {
		*slot = (struct view_slot){.number = index + 1, .element = value_view(run, element)};
		cache->used++;
	}
	return slot->element;
}

struct value element_read(struct run *run, struct value *slot, struct view_cache *cache, size_t index)
{
	if (slot->type == VALUE_LAZY)
		*slot = slot->lazy->make(run, slot->lazy->data);
	if (!cache || !is_container(*slot))
		return *slot;
	return cached_view(run, cache, index, *slot);
}

static struct value view_list(struct run *run, struct list *list)
{
	struct list *view;

	if (list->cache && list->cache->used > 0)
		list_own(run, list, list->len);
	list->room->shared = true;
	view = run_alloc(run, 1, sizeof(*view));
	*view = *list;
	view->cache = view_cache_new(run);
	return (struct value){.type = VALUE_LIST, .list = view};
}

static struct value view_map(struct run *run, struct map *map)
{
	struct map *view;

	if (map->cache && map->cache->used > 0)
		map_own(run, map, 0);
	map->room->shared = true;
	view = run_alloc(run, 1, sizeof(*view));
	*view = *map;
	view->cache = view_cache_new(run);
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
