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

/* The map's own key for the segment: a string, else a number. False if it has neither. */
static bool map_key(
	struct run *run, struct value map, struct segment segment, struct value *ret_key, struct value *ret_element)
{
	struct value key;
	size_t index;

	if (map_get_bytes(run, map, segment.bytes, segment.len, ret_element)) {
		*ret_key = string_borrow(run, segment.bytes, segment.len);
		return true;
	}
	if (!segment_index(segment, &index))
		return false;
	key = value_int((int64_t)index);
	if (!map_get(run, map, key, ret_element))
		return false;
	*ret_key = key;
	return true;
}

static bool element_at(struct run *run, struct value value, struct segment segment, struct value *ret_element)
{
	struct value key;
	size_t index;

	if (value_is(value, VALUE_MAP))
		return map_key(run, value, segment, &key, ret_element);
	if (!value_is(value, VALUE_LIST) || !segment_index(segment, &index) || index >= list_len(value))
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

		run_step_bytes(run, segment.len);
		if (is_all(segment))
			return find_all(run, value, path, ret_found);
		if (!element_at(run, value, segment, &value))
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

		run_step_bytes(run, segment.len);
		if (is_all(segment))
			return any_has(run, value, path);
		if (!element_at(run, value, segment, &value))
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

/* Lists and maps at any depth are copied. An element that pick left out (VALUE_UNSET) is dropped. */
static struct value copy(struct run *run, struct value value)
{
	if (!is_collection(value))
		return value;
	run_enter(run);
	value = value_is(value, VALUE_LIST) ? copy_list(run, value) : copy_map(run, value);
	run_leave(run);
	return value;
}

/* ---- set ---- */

/* How much of a segment a message shows. */
static int segment_shown(struct segment segment)
{
	return segment.len < 256 ? (int)segment.len : 256;
}

/* Makes the change in `value`, which is a copy, and returns what stands in its place. */
static struct value set(struct run *run, struct value value, struct path path, struct value element);

static void set_all(struct run *run, struct value collection, struct path rest, struct value element)
{
	struct iterator at = value_iterate(run, collection);

	while (iterator_next(run, &at)) {
		struct value changed = set(run, at.element, rest, element);

		if (value_is(collection, VALUE_LIST))
			list_set(run, collection, (size_t)at.key.number, changed);
		else
			map_set(run, collection, at.key, changed);
	}
}

static void set_in_map(
	struct run *run, struct value map, struct segment segment, struct path rest, struct value element)
{
	struct value key = string_borrow(run, segment.bytes, segment.len), old = value_null();

	map_key(run, map, segment, &key, &old);
	map_set(run, map, key, set(run, old, rest, element));
}

static void set_in_list(
	struct run *run, struct value list, struct segment segment, struct path rest, struct value element)
{
	size_t index;

	if (!segment_index(segment, &index) || index > list_len(list))
		run_fail(run, "maps.set: %.*s is no index of the list, which has %zu elements", segment_shown(segment),
			segment.bytes, list_len(list));
	if (index == list_len(list))
		list_push(run, list, set(run, value_null(), rest, element));
	else
		list_set(run, list, index, set(run, list_at(run, list, index), rest, element));
}

/* What the path needs is made: a map in place of null or of nothing. */
static struct value set_below(struct run *run, struct value value, struct path path, struct value element)
{
	struct segment segment = path_next(&path);

	if (value_is(value, VALUE_NULL) || value_is(value, VALUE_UNDEFINED))
		value = map_new(run, 1);
	if (!is_collection(value))
		run_fail(run, "maps.set: a %s has no element %.*s", value_type_name(value), segment_shown(segment),
			segment.bytes);
	if (is_all(segment))
		set_all(run, value, path, element);
	else if (value_is(value, VALUE_LIST))
		set_in_list(run, value, segment, path, element);
	else
		set_in_map(run, value, segment, path, element);
	return value;
}

static struct value set(struct run *run, struct value value, struct path path, struct value element)
{
	if (path.ended)
		return element;
	run_enter(run);
	value = set_below(run, value, path, element);
	run_leave(run);
	return value;
}

static struct value call_set(struct run *run, const struct value *args, size_t count, const void *data)
{
	struct value object = map_new(run, 1);

	(void)data;
	if (is_object(run, "maps.set", args))
		object = copy(run, args[0]);
	arguments_check(run, "maps.set", ".s.", args, count);
	return set(run, object, path_of(args[1]), copy(run, args[2]));
}

/* ---- unset, omit ---- */

/* Takes the element off `value`, which is a copy, and returns what stands in its place. */
static struct value unset(struct run *run, struct value value, struct path path);

static struct value unset_all(struct run *run, struct value collection, struct path rest)
{
	struct iterator at;

	if (rest.ended)
		return value_is(collection, VALUE_LIST) ? list_new(run, 0) : map_new(run, 0);
	at = value_iterate(run, collection);
	while (iterator_next(run, &at)) {
		struct value changed = unset(run, at.element, rest);

		if (value_is(collection, VALUE_LIST))
			list_set(run, collection, (size_t)at.key.number, changed);
		else
			map_set(run, collection, at.key, changed);
	}
	return collection;
}

static struct value unset_in_map(struct run *run, struct value map, struct segment segment, struct path rest)
{
	struct value key, element;

	if (!map_key(run, map, segment, &key, &element))
		return map;
	if (rest.ended)
		map_delete(run, map, key);
	else
		map_set(run, map, key, unset(run, element, rest));
	return map;
}

static struct value unset_in_list(struct run *run, struct value list, struct segment segment, struct path rest)
{
	size_t index;

	if (!segment_index(segment, &index) || index >= list_len(list))
		return list;
	if (rest.ended)
		return list_concat(
			run, list_slice(run, list, 0, index), list_slice(run, list, index + 1, list_len(list)));
	list_set(run, list, index, unset(run, list_at(run, list, index), rest));
	return list;
}

static struct value unset(struct run *run, struct value value, struct path path)
{
	struct segment segment = path_next(&path);

	if (!is_collection(value))
		return value;
	run_enter(run);
	if (is_all(segment))
		value = unset_all(run, value, path);
	else if (value_is(value, VALUE_LIST))
		value = unset_in_list(run, value, segment, path);
	else
		value = unset_in_map(run, value, segment, path);
	run_leave(run);
	return value;
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

/* Copies what the path names from one collection to the other, in the same place. */
static void pick(struct run *run, struct value from, struct path path, struct value to);

/* What was picked of the element so far, as far as more is picked of it. */
static struct value pick_below(struct run *run, struct value element, struct path rest, struct value picked)
{
	if (rest.ended)
		return copy(run, element);
	if (picked.type != element.type)
		picked = empty_like(run, element);
	run_enter(run);
	pick(run, element, rest, picked);
	run_leave(run);
	return picked;
}

/* While paths are picked, elements of lists keep their index: those that are not picked are VALUE_UNSET. */
static void pick_list_element(struct run *run, struct value from, size_t index, struct path rest, struct value to)
{
	while (list_len(to) <= index) {
		run_step(run, 1);
		list_push(run, to, (struct value){.type = VALUE_UNSET});
	}
	list_set(run, to, index, pick_below(run, list_at(run, from, index), rest, list_at(run, to, index)));
}

static void pick_map_element(struct run *run, struct value key, struct value element, struct path rest, struct value to)
{
	struct value picked = value_undefined(run);

	map_get(run, to, key, &picked);
	map_set(run, to, key, pick_below(run, element, rest, picked));
}

static void pick_all(struct run *run, struct value from, struct path rest, struct value to)
{
	struct iterator at = value_iterate(run, from);

	while (iterator_next(run, &at)) {
		if (!rest.ended && !has(run, at.element, rest))
			continue;
		if (value_is(from, VALUE_LIST))
			pick_list_element(run, from, (size_t)at.key.number, rest, to);
		else
			pick_map_element(run, at.key, at.element, rest, to);
	}
}

static void pick(struct run *run, struct value from, struct path path, struct value to)
{
	struct segment segment = path_next(&path);
	struct value key, element;
	size_t index;

	if (is_all(segment))
		pick_all(run, from, path, to);
	else if (value_is(from, VALUE_MAP) && map_key(run, from, segment, &key, &element))
		pick_map_element(run, key, element, path, to);
	else if (value_is(from, VALUE_LIST) && segment_index(segment, &index) && index < list_len(from))
		pick_list_element(run, from, index, path, to);
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
			pick(run, args[0], path, picked);
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
