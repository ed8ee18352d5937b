/* SPDX-License-Identifier: MPL-2.0 */
/*
 * The import collection/maps. A path names an element at any depth: "a.0.b.*.c". A segment is a key of a map or an
 * index of a list; * stands for all elements of either.
 */
#include <string.h>

#include "common/base.h"
#include "policy/imports/arguments.h"
#include "policy/imports/standard.h"

/* ---- paths ---- */

struct path {
	const char *bytes;
	size_t len;
	bool ended; /* "a." has two segments, the second is empty */
};

struct segment {
	const char *bytes;
	size_t len;
};

static struct path path_of(struct value string)
{
	return (struct path){string_bytes(string), string_len(string), false};
}

/* Takes the first segment off the path. */
static struct segment path_next(struct path *path)
{
	const char *dot = memchr(path->bytes, '.', path->len);
	struct segment segment = {path->bytes, dot ? (size_t)(dot - path->bytes) : path->len};

	path->bytes += segment.len;
	path->len -= segment.len;
	path->ended = dot == NULL;
	if (dot) {
		path->bytes++;
		path->len--;
	}
	return segment;
}

static bool is_all(struct segment segment)
{
	return segment.len == 1 && segment.bytes[0] == '*';
}

/* The segment as an index; false if it is no whole number. */
static bool segment_index(struct segment segment, size_t *ret_index)
{
	size_t index = 0;

	if (segment.len == 0 || segment.len > 18)
		return false;
	for (size_t i = 0; i < segment.len; i++) {
		if (segment.bytes[i] < '0' || segment.bytes[i] > '9')
			return false;
		index = 10 * index + (size_t)(segment.bytes[i] - '0');
	}
	*ret_index = index;
	return true;
}

/* The element that the segment names, with its key: of a map a string, else a number. False if there is none. */
static bool element_at(
	struct run *run, struct value value, struct segment segment, struct value *ret_key, struct value *ret_element)
{
	size_t index;

	if (value_is(value, VALUE_MAP) && map_get_bytes(run, value, segment.bytes, segment.len, ret_element)) {
		*ret_key = string_borrow(run, segment.bytes, segment.len);
		return true;
	}
	if (!segment_index(segment, &index))
		return false;
	*ret_key = value_int((int64_t)index);
	if (value_is(value, VALUE_MAP))
		return map_get(run, value, *ret_key, ret_element);
	if (!value_is(value, VALUE_LIST) || index >= list_len(value))
		return false;
	*ret_element = list_at(run, value, index);
	return true;
}

static bool is_collection(struct value value)
{
	return value_is(value, VALUE_LIST) || value_is(value, VALUE_MAP);
}

/* Null is taken for an empty map. */
static bool is_object(struct run *run, const char *function, const struct value *args)
{
	if (value_is(args[0], VALUE_NULL))
		return false;
	arguments_check(run, function, "c", args, 1);
	return true;
}

/* ---- get, has ---- */

static bool find(struct run *run, struct value value, struct path path, struct value *ret_found);

static struct value find_in_all(struct run *run, struct value collection, struct path rest)
{
	struct value found = list_new(run, 0);
	struct iterator at = value_iterate(run, collection);

	while (iterator_next(run, &at)) {
		struct value element = at.element;

		if (!rest.ended && !find(run, at.element, rest, &element))
			element = value_undefined(run);
		list_push(run, found, element);
	}
	return found;
}

static bool find_all(struct run *run, struct value value, struct path rest, struct value *ret_found)
{
	if (!is_collection(value))
		return false;
	run_enter(run);
	*ret_found = find_in_all(run, value, rest);
	run_leave(run);
	return true;
}

static bool find(struct run *run, struct value value, struct path path, struct value *ret_found)
{
	while (!path.ended) {
		struct segment segment = path_next(&path);
		struct value key;

		run_step_bytes(run, segment.len);
		if (is_all(segment))
			return find_all(run, value, path, ret_found);
		if (!element_at(run, value, segment, &key, &value))
			return false;
	}
	*ret_found = value;
	return true;
}

static struct value call_get(struct run *run, const struct value *args, size_t count, const void *data)
{
	struct value otherwise = count > 2 ? args[2] : value_undefined(run), found;

	(void)data;
	if (value_is(args[1], VALUE_UNDEFINED))
		return args[1];
	if (value_is(args[0], VALUE_UNDEFINED) || !is_object(run, "maps.get", args))
		return otherwise;
	arguments_check(run, "maps.get", ".s", args, 2);
	if (!find(run, args[0], path_of(args[1]), &found) || value_is(found, VALUE_UNDEFINED))
		return otherwise;
	return value_view(run, found);
}

static bool has(struct run *run, struct value value, struct path path);

static bool any_has(struct run *run, struct value value, struct path rest)
{
	struct iterator at;
	bool found = false;

	if (!is_collection(value))
		return false;
	run_enter(run);
	at = value_iterate(run, value);
	while (!found && iterator_next(run, &at))
		found = has(run, at.element, rest);
	run_leave(run);
	return found;
}

static bool has(struct run *run, struct value value, struct path path)
{
	while (!path.ended) {
		struct segment segment = path_next(&path);
		struct value key;

		run_step_bytes(run, segment.len);
		if (is_all(segment))
			return any_has(run, value, path);
		if (!element_at(run, value, segment, &key, &value))
			return false;
	}
	return !value_is(value, VALUE_UNDEFINED);
}

static struct value call_has(struct run *run, const struct value *args, size_t count, const void *data)
{
	(void)data;
	if (!is_object(run, "maps.has", args))
		return value_bool(false);
	arguments_check(run, "maps.has", ".s", args, count);
	return value_bool(has(run, args[0], path_of(args[1])));
}

/* ---- copies ---- */

static struct value copy(struct run *run, struct value value);

static struct value copy_list(struct run *run, struct value list)
{
	struct value made = list_new(run, list_len(list));
	struct iterator at = value_iterate(run, list);

	while (iterator_next(run, &at))
		if (!value_is(at.element, VALUE_UNSET))
			list_push(run, made, copy(run, at.element));
	return made;
}

static struct value copy_map(struct run *run, struct value map)
{
	struct value made = map_new(run, map_len(map));
	struct iterator at = value_iterate(run, map);

	while (iterator_next(run, &at))
		map_set(run, made, at.key, copy(run, at.element));
	return made;
}

/* Lists and maps at any depth are copied. An element of a list that is VALUE_UNSET is dropped. */
static struct value copy(struct run *run, struct value value)
{
	if (!is_collection(value))
		return value;
	run_enter(run);
	value = value_is(value, VALUE_LIST) ? copy_list(run, value) : copy_map(run, value);
	run_leave(run);
	return value;
}

/* ---- changes ---- */

static void put(struct run *run, struct value collection, struct value key, struct value element)
{
	if (value_is(collection, VALUE_MAP)) {
		if (value_is(element, VALUE_UNSET))
			map_delete(run, collection, key);
		else
			map_set(run, collection, key, element);
		return;
	}
	while (list_len(collection) <= (size_t)key.number) {
		run_step(run, 1);
		list_push(run, collection, (struct value){.type = VALUE_UNSET});
	}
	list_set(run, collection, (size_t)key.number, element);
}

/* How much of a segment a message shows. */
static int segment_shown(struct segment segment)
{
	return segment.len < 256 ? (int)segment.len : 256;
}

/* The key of an element that the collection lacks. */
static struct value new_key(struct run *run, struct value collection, struct segment segment)
{
	size_t index;

	if (value_is(collection, VALUE_MAP))
		return string_borrow(run, segment.bytes, segment.len);
	if (!segment_index(segment, &index) || index > list_len(collection))
		run_fail(run, "maps.set: %.*s is no index of the list, which has %zu elements", segment_shown(segment),
			segment.bytes, list_len(collection));
	return value_int((int64_t)index);
}

static struct value change(struct run *run, struct value value, struct path path, struct value element);

static void change_in(
	struct run *run, struct value collection, struct segment segment, struct path rest, struct value element)
{
	struct value key, old = value_null();
	struct iterator at;

	if (!is_all(segment)) {
		if (!element_at(run, collection, segment, &key, &old)) {
			if (value_is(element, VALUE_UNSET))
				return;
			key = new_key(run, collection, segment);
		}
		put(run, collection, key, change(run, old, rest, element));
		return;
	}
	at = value_iterate(run, collection);
	while (iterator_next(run, &at))
		put(run, collection, at.key, change(run, at.element, rest, element));
}

static struct value without_unset(struct run *run, struct value list)
{
	struct iterator at = value_iterate(run, list);
	struct value kept = list_new(run, list_len(list));

	while (iterator_next(run, &at))
		if (!value_is(at.element, VALUE_UNSET))
			list_push(run, kept, at.element);
	return kept;
}

/* Puts the element at the path in `value`, which is a copy, and returns what stands in its place. A map is made
 * where the path meets null or nothing. VALUE_UNSET takes away what is there. */
static struct value change(struct run *run, struct value value, struct path path, struct value element)
{
	const bool unset = value_is(element, VALUE_UNSET);
	struct segment segment;

	if (path.ended)
		return element;
	segment = path_next(&path);
	if (!unset && (value_is(value, VALUE_NULL) || value_is(value, VALUE_UNDEFINED)))
		value = map_new(run, 1);
	if (!is_collection(value) && unset)
		return value;
	if (!is_collection(value))
		run_fail(run, "maps.set: a %s has no element %.*s", value_type_name(value), segment_shown(segment),
			segment.bytes);
	run_enter(run);
	change_in(run, value, segment, path, element);
	run_leave(run);
	return unset && path.ended && value_is(value, VALUE_LIST) ? without_unset(run, value) : value;
}

static struct value call_set(struct run *run, const struct value *args, size_t count, const void *data)
{
	struct value object = map_new(run, 1);

	(void)data;
	if (is_object(run, "maps.set", args))
		object = copy(run, args[0]);
	arguments_check(run, "maps.set", ".s.", args, count);
	return change(run, object, path_of(args[1]), copy(run, args[2]));
}

static struct value unset(struct run *run, struct value object, struct path path)
{
	return change(run, object, path, (struct value){.type = VALUE_UNSET});
}

static struct value call_unset(struct run *run, const struct value *args, size_t count, const void *data)
{
	(void)data;
	if (!is_object(run, "maps.unset", args))
		return args[0];
	arguments_check(run, "maps.unset", ".s", args, count);
	return unset(run, copy(run, args[0]), path_of(args[1]));
}

static struct path path_element(struct run *run, const char *function, struct value element)
{
	if (!value_is(element, VALUE_STRING))
		run_fail(run, "the paths of %s must be strings, one is %s", function, value_type_name(element));
	return path_of(element);
}

static struct value call_omit(struct run *run, const struct value *args, size_t count, const void *data)
{
	struct value object;
	struct iterator at;

	(void)data;
	if (!is_object(run, "maps.omit", args))
		return args[0];
	arguments_check(run, "maps.omit", ".l", args, count);
	object = copy(run, args[0]);
	at = value_iterate(run, args[1]);
	while (iterator_next(run, &at))
		object = unset(run, object, path_element(run, "maps.omit", at.element));
	return object;
}

/* ---- pick ---- */

static struct value empty_like(struct run *run, struct value value)
{
	return value_is(value, VALUE_LIST) ? list_new(run, 0) : map_new(run, 0);
}

static struct value pick(struct run *run, struct value from, struct path path, struct value picked);

/* While paths are picked, elements of lists keep their index: those that are not picked are VALUE_UNSET. */
static void pick_element(struct run *run, struct value key, struct value element, struct path rest, struct value to)
{
	struct value picked = value_undefined(run);

	if (value_is(to, VALUE_MAP))
		map_get(run, to, key, &picked);
	else if ((size_t)key.number < list_len(to))
		picked = list_at(run, to, (size_t)key.number);
	put(run, to, key, pick(run, element, rest, picked));
}

/* Copies what the path names. `picked`: what was picked of the same value so far. Returns both. */
static struct value pick(struct run *run, struct value from, struct path path, struct value picked)
{
	struct segment segment;
	struct value key, element;
	struct iterator at;

	if (path.ended)
		return copy(run, from);
	if (picked.type != from.type)
		picked = empty_like(run, from);
	segment = path_next(&path);
	run_enter(run);
	if (is_all(segment)) {
		at = value_iterate(run, from);
		while (iterator_next(run, &at))
			if (path.ended || has(run, at.element, path))
				pick_element(run, at.key, at.element, path, picked);
	} else if (element_at(run, from, segment, &key, &element)) {
		pick_element(run, key, element, path, picked);
	}
	run_leave(run);
	return picked;
}

static struct value call_pick(struct run *run, const struct value *args, size_t count, const void *data)
{
	struct value picked;
	struct iterator at;

	(void)data;
	if (!is_object(run, "maps.pick", args))
		return args[0];
	arguments_check(run, "maps.pick", ".l", args, count);
	picked = empty_like(run, args[0]);
	at = value_iterate(run, args[1]);
	while (iterator_next(run, &at)) {
		struct path path = path_element(run, "maps.pick", at.element);

		if (has(run, args[0], path))
			picked = pick(run, args[0], path, picked);
	}
	return copy(run, picked);
}

static const struct native functions[] = {
	{"get", 2, 3, true, call_get},
	{"has", 2, 2, false, call_has},
	{"omit", 2, 2, false, call_omit},
	{"pick", 2, 2, false, call_pick},
	{"set", 3, 3, false, call_set},
	{"unset", 2, 2, false, call_unset},
};

const struct import import_maps = {
	.name = "collection/maps",
	.functions = functions,
	.function_count = ARRAY_LEN(functions),
};
