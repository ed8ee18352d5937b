/* SPDX-License-Identifier: MPL-2.0 */
#include "common/terraform/v1/tree_json.h"

#include <stdio.h>
#include <string.h>

enum { VALUE_BYTES = 128 }; /* of a value without its text, with its place in a container */

_Static_assert(sizeof(json_t *) <= sizeof(struct tree_value), "a pointer fits into a tree's value");

struct tree_value tree_from_json(const json_t *value)
{
	struct tree_value from = tree_none;

	memcpy(&from, &value, sizeof(const json_t *));
	return from;
}

json_t *tree_to_json(struct tree_value value)
{
	json_t *to;

	memcpy(&to, &value, sizeof(to));
	return to;
}

void tree_json_init(struct tree_json *owner, size_t budget)
{
	*owner = (struct tree_json){.made = json_array(), .budget = budget};
}

void tree_json_release(struct tree_json *owner)
{
	json_decref(owner->made);
	owner->made = NULL;
}

static bool spend(struct tree_json *owner, size_t bytes)
{
	bytes += VALUE_BYTES;
	if (bytes > owner->budget)
		owner->spent = true;
	if (owner->spent)
		return false;
	owner->budget -= bytes;
	return true;
}

/* ---- reading ---- */

static enum tree_kind kind(struct tree_value value)
{
	static const enum tree_kind kinds[] = {
		[JSON_OBJECT] = TREE_MAP,
		[JSON_ARRAY] = TREE_LIST,
		[JSON_STRING] = TREE_STRING,
		[JSON_INTEGER] = TREE_NUMBER,
		[JSON_REAL] = TREE_NUMBER,
		[JSON_TRUE] = TREE_BOOL,
		[JSON_FALSE] = TREE_BOOL,
		[JSON_NULL] = TREE_NULL,
	};
	const json_t *json = tree_to_json(value);

	return json ? kinds[json_typeof(json)] : TREE_NONE;
}

static bool truth(struct tree_value flag)
{
	return json_is_true(tree_to_json(flag));
}

static struct tree_text text(struct tree_value string)
{
	const json_t *json = tree_to_json(string);

	return (struct tree_text){.bytes = text_or_empty(json_string_value(json)), .len = json_string_length(json)};
}

static size_t count(struct tree_value container)
{
	const json_t *json = tree_to_json(container);

	return json_is_object(json) ? json_object_size(json) : json_array_size(json);
}

static struct tree_value get(void *owner, struct tree_value map, struct tree_text key)
{
	(void)owner;
	return tree_from_json(json_object_getn(tree_to_json(map), key.bytes, key.len));
}

/* Where a walk is. */
struct place {
	void *member; /* the next member of an object */
	size_t index; /* of an array's next element */
};

_Static_assert(sizeof(struct place) <= sizeof(((struct tree_walk *)0)->state), "a place fits into a walk");

static void begin(void *owner, struct tree_walk *walk)
{
	const struct place place = {.member = json_object_iter(tree_to_json(walk->of))};

	(void)owner;
	memcpy(walk->state, &place, sizeof(place));
}

static bool next(void *owner, struct tree_walk *walk)
{
	json_t *of = tree_to_json(walk->of);
	struct place place;

	(void)owner;
	memcpy(&place, walk->state, sizeof(place));
	if (json_is_object(of) ? !place.member : place.index >= json_array_size(of))
		return false;
	if (json_is_object(of)) {
		walk->key = tree_literal(json_object_iter_key(place.member));
		walk->element = tree_from_json(json_object_iter_value(place.member));
		place.member = json_object_iter_next(of, place.member);
	} else {
		walk->element = tree_from_json(json_array_get(of, place.index++));
	}
	memcpy(walk->state, &place, sizeof(place));
	return true;
}

/* ---- making ---- */

/* Takes the value, whose text has so many bytes. */
static struct tree_value keep(struct tree_json *owner, json_t *value, size_t bytes)
{
	if (!spend(owner, bytes)) {
		json_decref(value);
		return tree_none;
	}
	json_array_append_new(owner->made, value);
	return tree_from_json(value);
}

static struct tree_value map(void *owner)
{
	return keep(owner, json_object(), 0);
}

static struct tree_value list(void *owner)
{
	return keep(owner, json_array(), 0);
}

static struct tree_value flag(void *owner, bool truth)
{
	(void)owner;
	return tree_from_json(json_boolean(truth));
}

static struct tree_value null(void *owner)
{
	(void)owner;
	return tree_from_json(json_null());
}

static struct tree_value string(void *owner, struct tree_text text)
{
	return keep(owner, json_stringn(text.bytes, text.len), text.len);
}

static struct tree_text join(void *owner, struct tree_text a, struct tree_text b)
{
	const size_t len = a.len + b.len;
	_cleanup_(freep) char *bytes = NULL;

	if (len > ((struct tree_json *)owner)->budget)
		((struct tree_json *)owner)->spent = true;
	if (((struct tree_json *)owner)->spent)
		return tree_literal("");
	bytes = mem_new(len + 1, 1);
	memcpy(bytes, a.bytes, a.len);
	memcpy(bytes + a.len, b.bytes, b.len);
	return text(string(owner, (struct tree_text){.bytes = bytes, .len = len}));
}

static struct tree_text number(void *owner, struct tree_value number)
{
	const json_t *json = tree_to_json(number);
	char text[TREE_NUMBER_TEXT];

	if (json_is_integer(json))
		snprintf(text, sizeof(text), "%" JSON_INTEGER_FORMAT, json_integer_value(json));
	else
		tree_real_text(text, json_real_value(json));
	return join(owner, tree_literal(text), tree_literal(""));
}

static void set(void *owner, struct tree_value map, struct tree_text key, struct tree_value value)
{
	if (tree_to_json(map) && spend(owner, key.len))
		json_object_setn(tree_to_json(map), key.bytes, key.len, tree_to_json(value));
}

static void push(void *owner, struct tree_value list, struct tree_value value)
{
	(void)owner;
	json_array_append(tree_to_json(list), tree_to_json(value));
}

static void set_instance(void *owner, struct tree_value map, struct tree_value index, struct tree_value resource)
{
	const enum tree_kind by = kind(index);
	struct tree_text key = tree_literal("i0");

	if (by == TREE_NUMBER)
		key = join(owner, tree_literal("i"), number(owner, index));
	else if (by == TREE_STRING)
		key = join(owner, tree_literal("s"), text(index));
	set(owner, map, key, resource);
}

/* The values' depth is that of the parsed text. */
static void nothing(void *owner)
{
	(void)owner;
}

const struct tree_class tree_of_json = {
	.kind = kind,
	.truth = truth,
	.text = text,
	.count = count,
	.get = get,
	.begin = begin,
	.next = next,
	.map = map,
	.list = list,
	.flag = flag,
	.null = null,
	.string = string,
	.join = join,
	.number = number,
	.set = set,
	.push = push,
	.set_element = set,
	.set_instance = set_instance,
	.enter = nothing,
	.leave = nothing,
};
