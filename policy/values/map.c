/* SPDX-License-Identifier: MPL-2.0 */
#include <string.h>

#include "policy/values/containers.h"

enum {
	FIRST = 4, /* the capacity of a map whose size is not known */
	FEW = 16,  /* entries up to which a map is searched from its beginning to its end */
	KEY_INT = 1,
	KEY_FLOAT,
	KEY_BOOL,
};

/* ---- keys ---- */

static uint64_t mix(uint64_t hash)
{
	hash ^= hash >> 33;
	hash *= 0xff51afd7ed558ccdu;
	hash ^= hash >> 33;
	return hash;
}

static uint64_t hash_bytes(struct run *run, const char *bytes, size_t len)
{
	uint64_t hash = 0xcbf29ce484222325u;

	run_step_bytes(run, len);
	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)bytes[i]) * 0x100000001b3u;
	return mix(hash);
}

/* A whole float is the key of its int. */
static struct value whole_key(struct value key)
{
	bool fits = key.type == VALUE_FLOAT && key.real >= -9223372036854775808.0 && key.real < 9223372036854775808.0;

	return fits && key.real == (double)(int64_t)key.real ? value_int((int64_t)key.real) : key;
}

static uint64_t hash_float(double real)
{
	uint64_t bits;

	memcpy(&bits, &real, sizeof(bits));
	return mix(bits + KEY_FLOAT);
}

static uint64_t hash_key(struct run *run, struct value key)
{
	key = whole_key(key);
	switch (key.type) {
	case VALUE_STRING:
		return hash_bytes(run, string_bytes(key), string_len(key));
	case VALUE_INT:
		return mix((uint64_t)key.number + KEY_INT);
	case VALUE_FLOAT:
		return hash_float(key.real);
	case VALUE_BOOL:
		return mix((uint64_t)key.truth << 32 | KEY_BOOL);
	default:
		run_fail(run, "a map's key is a bool, a number or a string, not %s", value_type_name(key));
	}
}

static bool same_bytes(struct value key, const char *bytes, size_t len)
{
	return key.type == VALUE_STRING && string_len(key) == len && memcmp(string_bytes(key), bytes, len) == 0;
}

static bool same_key(struct value a, struct value b)
{
	if (b.type == VALUE_STRING)
		return same_bytes(a, string_bytes(b), string_len(b));
	a = whole_key(a);
	b = whole_key(b);
	if (value_is_number(a))
		return a.type == b.type && number_compare(a, b) == 0;
	return a.type == VALUE_BOOL && b.type == VALUE_BOOL && a.truth == b.truth;
}

/* ---- rooms ---- */

static void index_new(struct run *run, struct map_room *room)
{
	uint32_t slots = 4 * FEW;

	while (slots < 2 * room->capacity)
		slots *= 2;
	room->index = run_alloc(run, slots, sizeof(*room->index));
	room->index_mask = slots - 1;
}

/* Exactly the capacity: a map that is made of a document does not grow. */
static struct map_room *room_new(struct run *run, size_t capacity)
{
	struct map_room *room = run_alloc(run, 1, sizeof(*room));

	room->capacity = capacity > 0 ? (uint32_t)capacity : FIRST;
	room->entries = run_alloc(run, room->capacity, sizeof(*room->entries));
	if (room->capacity > FEW)
		index_new(run, room);
	return room;
}

static void index_entry(struct run *run, struct map_room *room, uint32_t entry)
{
	const uint32_t mask = room->index_mask;
	uint32_t slot = (uint32_t)room->entries[entry].hash & mask, probes = 0;

	while (room->index[slot] != 0) {
		slot = (slot + 1) & mask;
		probes++;
	}
	run_step(run, probes / 8);
	room->index[slot] = entry + 1;
}

/* Adds an entry whose key the room does not have. */
static void room_add(struct run *run, struct map_room *room, struct map_entry entry)
{
	room->entries[room->used] = entry;
	if (room->index)
		index_entry(run, room, room->used);
	room->used++;
	room->live++;
}

/* A key that is looked up: any value, or bytes that no string was made of. */
struct sought {
	struct value key; /* VALUE_UNSET: the bytes */
	const char *bytes;
	size_t len;
	uint64_t hash;
};

static bool fits(const struct map_entry *entry, const struct sought *sought)
{
	if (entry->hash != sought->hash)
		return false;
	if (sought->key.type == VALUE_UNSET)
		return same_bytes(entry->key, sought->bytes, sought->len);
	return same_key(entry->key, sought->key);
}

static struct map_entry *find_among_few(const struct map_room *room, const struct sought *sought)
{
	for (uint32_t i = 0; i < room->used; i++)
		if (fits(&room->entries[i], sought))
			return &room->entries[i];
	return NULL;
}

static struct map_entry *find(struct run *run, const struct map_room *room, const struct sought *sought)
{
	if (!room->index)
		return find_among_few(room, sought);
	const uint32_t mask = room->index_mask;
	uint32_t probes = 0;

	for (uint32_t slot = (uint32_t)sought->hash & mask; room->index[slot] != 0; slot = (slot + 1) & mask) {
		struct map_entry *entry = &room->entries[room->index[slot] - 1];

		if (fits(entry, sought))
			return entry;
		if (++probes % 8 == 0)
			run_step(run, 1);
	}
	return NULL;
}

static struct sought seek(struct run *run, struct value key)
{
	return (struct sought){.key = key, .bytes = "", .hash = hash_key(run, key)};
}

static struct sought seek_bytes(struct run *run, const char *bytes, size_t len)
{
	return (struct sought){
		.key = {.type = VALUE_UNSET}, .bytes = bytes, .len = len, .hash = hash_bytes(run, bytes, len)};
}

static struct value read_entry(struct run *run, const struct map *map, struct map_entry *entry)
{
	return element_read(run, &entry->element, map->cache, (size_t)(entry - map->room->entries));
}

/* ---- maps ---- */

static void check_length(struct run *run, size_t len)
{
	if (len > MAX_LIST)
		run_fail_limit(run, "a map's length, 10 million,", NULL);
}

struct value map_new(struct run *run, size_t capacity)
{
	struct map *map = run_alloc(run, 1, sizeof(*map));

	check_length(run, capacity);
	map->room = room_new(run, capacity);
	return (struct value){.type = VALUE_MAP, .map = map};
}

size_t map_len(struct value map)
{
	return map.map->room->live;
}

/* Elements that stay lazy would be made twice if the old room is used on. */
void map_own(struct run *run, struct map *map, size_t capacity)
{
	struct map_room *old = map->room, *room = room_new(run, capacity < old->live ? old->live : capacity);
	const bool used_on = old->shared || map->cache;

	run_step(run, old->used);
	for (uint32_t i = 0; i < old->used; i++) {
		struct map_entry *entry = &old->entries[i];

		if (entry->key.type == VALUE_UNSET)
			continue;
		room_add(run, room,
			(struct map_entry){
				.key = entry->key,
				.element = used_on ? read_entry(run, map, entry) : entry->element,
				.hash = entry->hash,
			});
	}
	map->room = room;
	map->cache = NULL;
}

/* Before a change of an element. */
static void make_own(struct run *run, struct map *map)
{
	if (map->room->shared || map->cache)
		map_own(run, map, 0);
}

static bool get(struct run *run, const struct map *map, const struct sought *sought, struct value *ret_element)
{
	struct map_entry *entry = find(run, map->room, sought);

	if (!entry)
		return map->hidden && get(run, map->hidden, sought, ret_element);
	*ret_element = read_entry(run, map, entry);
	return true;
}

bool map_get(struct run *run, struct value map, struct value key, struct value *ret_element)
{
	struct sought sought = seek(run, key);

	return get(run, map.map, &sought, ret_element);
}

bool map_get_bytes(struct run *run, struct value map, const char *key, size_t len, struct value *ret_element)
{
	struct sought sought = seek_bytes(run, key, len);

	return get(run, map.map, &sought, ret_element);
}

bool map_get_text(struct run *run, struct value map, const char *key, struct value *ret_element)
{
	return map_get_bytes(run, map, key, strlen(key), ret_element);
}

void map_set(struct run *run, struct value map, struct value key, struct value element)
{
	struct map *changed = map.map;
	struct sought sought = seek(run, key);
	struct map_entry *entry;

	make_own(run, changed);
	entry = find(run, changed->room, &sought);
	if (entry) {
		entry->element = element;
		return;
	}
	check_length(run, (size_t)changed->room->live + 1);
	if (changed->room->used == changed->room->capacity)
		map_own(run, changed, 2 * (size_t)changed->room->live + 2);
	room_add(run, changed->room, (struct map_entry){.key = key, .element = element, .hash = sought.hash});
}

void map_hide(struct value map, struct value hidden)
{
	map.map->hidden = hidden.map;
}

void map_set_text(struct run *run, struct value map, const char *key, struct value element)
{
	map_set(run, map, string_text(run, key), element);
}

void map_set_lazy(struct run *run, struct value map, struct value key, struct lazy element)
{
	struct lazy *lazy = run_alloc(run, 1, sizeof(*lazy));

	*lazy = element;
	map_set(run, map, key, (struct value){.type = VALUE_LAZY, .lazy = lazy});
}

bool map_delete(struct run *run, struct value map, struct value key)
{
	struct map *changed = map.map;
	struct sought sought = seek(run, key);
	struct map_entry *entry;

	make_own(run, changed);
	entry = find(run, changed->room, &sought);
	if (!entry)
		return false;
	entry->key = entry->element = (struct value){.type = VALUE_UNSET};
	changed->room->live--;
	return true;
}
