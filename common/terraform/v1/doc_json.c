/* SPDX-License-Identifier: MPL-2.0 */
#include "common/terraform/v1/doc_json.h"

#include <stdio.h>
#include <string.h>

enum { VALUE_BYTES = 128 }; /* of a value without its text, with its place in a container */

_Static_assert(sizeof(json_t *) <= sizeof(struct doc_value), "a pointer fits into a doc's value");

struct doc_value doc_from_json(const json_t *value)
{
	struct doc_value from = doc_none;

	memcpy(&from, &value, sizeof(const json_t *));
	return from;
}

json_t *doc_to_json(struct doc_value value)
{
	json_t *to;

	memcpy(&to, &value, sizeof(to));
	return to;
}

void doc_json_init(struct doc_json *owner, size_t budget)
{
	*owner = (struct doc_json){.made = json_array(), .budget = budget};
}

void doc_json_release(struct doc_json *owner)
{
	json_decref(owner->made);
	owner->made = NULL;
}

static bool spend(struct doc_json *owner, size_t bytes)
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

static enum doc_kind kind(struct doc_value value)
{
	static const enum doc_kind kinds[] = {
		[JSON_OBJECT] = DOC_MAP,
		[JSON_ARRAY] = DOC_LIST,
		[JSON_STRING] = DOC_STRING,
		[JSON_INTEGER] = DOC_NUMBER,
		[JSON_REAL] = DOC_NUMBER,
		[JSON_TRUE] = DOC_BOOL,
		[JSON_FALSE] = DOC_BOOL,
		[JSON_NULL] = DOC_NULL,
	};
	const json_t *json = doc_to_json(value);

	return json ? kinds[json_typeof(json)] : DOC_NONE;
}

static bool truth(struct doc_value flag)
{
	return json_is_true(doc_to_json(flag));
}

static struct doc_text text(struct doc_value string)
{
	const json_t *json = doc_to_json(string);

	return (struct doc_text){.bytes = text_or_empty(json_string_value(json)), .len = json_string_length(json)};
}

static size_t count(struct doc_value container)
{
	const json_t *json = doc_to_json(container);

	return json_is_object(json) ? json_object_size(json) : json_array_size(json);
}

static struct doc_value get(void *owner, struct doc_value map, struct doc_text key)
{
	(void)owner;
	return doc_from_json(json_object_getn(doc_to_json(map), key.bytes, key.len));
}

/* The position of a walk. */
struct place {
	void *member; /* the next member of an object */
	size_t index; /* of an array's next element */
};

_Static_assert(sizeof(struct place) <= sizeof(((struct doc_walk *)0)->state), "a place fits into a walk");

static void begin(void *owner, struct doc_walk *walk)
{
	const struct place place = {.member = json_object_iter(doc_to_json(walk->of))};

	(void)owner;
	memcpy(walk->state, &place, sizeof(place));
}

static bool next(void *owner, struct doc_walk *walk)
{
	json_t *of = doc_to_json(walk->of);
	struct place place;

	(void)owner;
	memcpy(&place, walk->state, sizeof(place));
	if (json_is_object(of) ? !place.member : place.index >= json_array_size(of))
		return false;
	if (json_is_object(of)) {
		walk->key = doc_literal(json_object_iter_key(place.member));
		walk->element = doc_from_json(json_object_iter_value(place.member));
		place.member = json_object_iter_next(of, place.member);
	} else {
		walk->element = doc_from_json(json_array_get(of, place.index++));
	}
	memcpy(walk->state, &place, sizeof(place));
	return true;
}

/* ---- making ---- */

/* Takes the value, whose text has so many bytes. */
static struct doc_value keep(struct doc_json *owner, json_t *value, size_t bytes)
{
	if (!spend(owner, bytes)) {
		json_decref(value);
		return doc_none;
	}
	json_array_append_new(owner->made, value);
	return doc_from_json(value);
}

static struct doc_value map(void *owner)
{
	return keep(owner, json_object(), 0);
}

static struct doc_value list(void *owner)
{
	return keep(owner, json_array(), 0);
}

static struct doc_value flag(void *owner, bool truth)
{
	(void)owner;
	return doc_from_json(json_boolean(truth));
}

static struct doc_value null(void *owner)
{
	(void)owner;
	return doc_from_json(json_null());
}

static struct doc_value string(void *owner, struct doc_text text)
{
	return keep(owner, json_stringn(text.bytes, text.len), text.len);
}

static struct doc_text join(void *owner, struct doc_text a, struct doc_text separator, struct doc_text b)
{
	const size_t len = a.len + separator.len + b.len;
	_cleanup_(freep) char *bytes = NULL;

	if (len > ((struct doc_json *)owner)->budget)
		((struct doc_json *)owner)->spent = true;
	if (((struct doc_json *)owner)->spent)
		return doc_literal("");
	bytes = mem_new(len + 1, 1);
	memcpy(bytes, a.bytes, a.len);
	memcpy(bytes + a.len, separator.bytes, separator.len);
	memcpy(bytes + a.len + separator.len, b.bytes, b.len);
	return text(string(owner, (struct doc_text){.bytes = bytes, .len = len}));
}

static struct doc_text number(void *owner, struct doc_value number)
{
	const json_t *json = doc_to_json(number);
	char text[REAL_TEXT_SIZE];

	if (json_is_integer(json))
		snprintf(text, sizeof(text), "%" JSON_INTEGER_FORMAT, json_integer_value(json));
	else
		text_real(text, json_real_value(json));
	return join(owner, doc_literal(text), doc_literal(""), doc_literal(""));
}

static void set(void *owner, struct doc_value map, struct doc_text key, struct doc_value value)
{
	if (doc_to_json(map) && spend(owner, key.len))
		json_object_setn(doc_to_json(map), key.bytes, key.len, doc_to_json(value));
}

static struct doc_value entry(void *owner, bool computed, struct doc_value new, struct doc_value old)
{
	struct doc_value made = map(owner);

	set(owner, made, doc_literal("computed"), flag(owner, computed));
	set(owner, made, doc_literal("new"), new);
	set(owner, made, doc_literal("old"), old);
	return made;
}

static struct doc_value diff(void *owner, struct doc_value resource)
{
	return v1_diff(((struct doc_json *)owner)->v1, resource);
}

static void drop(void *owner, struct doc_value map, struct doc_text key)
{
	(void)owner;
	json_object_deln(doc_to_json(map), key.bytes, key.len);
}

static void push(void *owner, struct doc_value list, struct doc_value value)
{
	(void)owner;
	json_array_append(doc_to_json(list), doc_to_json(value));
}

static void set_instance(void *owner, struct doc_value map, struct doc_value index, struct doc_value resource)
{
	const enum doc_kind by = kind(index);
	struct doc_text key = doc_literal("i0");

	if (by == DOC_NUMBER)
		key = join(owner, doc_literal("i"), doc_literal(""), number(owner, index));
	else if (by == DOC_STRING)
		key = join(owner, doc_literal("s"), doc_literal(""), text(index));
	set(owner, map, key, resource);
}

/* The values' depth is that of the parsed text. */
static void nothing(void *owner)
{
	(void)owner;
}

const struct doc_class doc_of_json = {
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
	.entry = entry,
	.diff = diff,
	.set = set,
	.drop = drop,
	.push = push,
	.set_element = set,
	.set_instance = set_instance,
	.enter = nothing,
	.leave = nothing,
};
