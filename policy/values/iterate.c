/* SPDX-License-Identifier: MPL-2.0 */
#include "policy/values/containers.h"

static struct iterator over_list(struct list *list)
{
	list->room->shared = true;
	return (struct iterator){.count = list->len, .room = list->room, .offset = list->offset, .cache = list->cache};
}

static struct iterator over_map(struct map *map)
{
	map->room->shared = true;
	return (struct iterator){.map = true, .count = map->room->used, .room = map->room, .cache = map->cache};
}

/* "undefined", with the place where it arose. */
static const char *refused(struct run *run, struct value value)
{
	struct place origin = value_origin(value);
	unsigned line, column;

	if (value.type != VALUE_UNDEFINED || !origin.source)
		return value_type_name(value);
	place_position(origin, &line, &column);
	return run_text(run, "undefined, which arose at %s:%u:%u", origin.source->name, line, column);
}

struct iterator value_iterate(struct run *run, struct value container)
{
	if (container.type == VALUE_LIST)
		return over_list(container.list);
	if (container.type == VALUE_MAP)
		return over_map(container.map);
	run_fail(run, "only a list or a map has elements, not %s", refused(run, container));
}

static bool next_of_list(struct run *run, struct iterator *iterator)
{
	struct list_room *room = iterator->room;
	size_t number = iterator->offset + iterator->index;

	iterator->key = value_int((int64_t)iterator->index);
	iterator->element = element_read(run, &room->items[number], iterator->cache, number);
	iterator->index++;
	return true;
}

static bool next_of_map(struct run *run, struct iterator *iterator)
{
	struct map_room *room = iterator->room;
	struct map_entry *entry = &room->entries[iterator->index++];

	if (entry->key.type == VALUE_UNSET)
		return false;
	iterator->key = entry->key;
	iterator->element = element_read(run, &entry->element, iterator->cache, iterator->index - 1);
	return true;
}

bool iterator_next(struct run *run, struct iterator *iterator)
{
	while (iterator->index < iterator->count) {
		run_step(run, 1);
		if (iterator->map ? next_of_map(run, iterator) : next_of_list(run, iterator))
			return true;
	}
	return false;
}
