/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/policy/sentinel/imports/v1/values.h"

#include <inttypes.h>
#include <string.h>

_Static_assert(sizeof(struct value) == sizeof(struct tree_value), "a value fits into a tree's");
_Static_assert(VALUE_UNDEFINED == 0, "no value is undefined");
_Static_assert(sizeof(struct iterator) <= sizeof(((struct tree_walk *)0)->state), "an iterator fits into a walk");

struct tree_value tree_from(struct value value)
{
	struct tree_value from = tree_none;

	if (value.type != VALUE_UNDEFINED)
		memcpy(&from, &value, sizeof(from));
	return from;
}

struct value tree_to(struct tree_value value)
{
	struct value to;

	memcpy(&to, &value, sizeof(to));
	return to;
}

static struct run *run_of(void *owner)
{
	return ((struct v1_owner *)owner)->run;
}

static struct tree_text text_of(struct value string)
{
	return (struct tree_text){.bytes = string_bytes(string), .len = string_len(string)};
}

/* ---- reading ---- */

static enum tree_kind kind(struct tree_value value)
{
	static const enum tree_kind kinds[VALUE_TYPES] = {
		[VALUE_NULL] = TREE_NULL,
		[VALUE_BOOL] = TREE_BOOL,
		[VALUE_INT] = TREE_NUMBER,
		[VALUE_FLOAT] = TREE_NUMBER,
		[VALUE_STRING] = TREE_STRING,
		[VALUE_LIST] = TREE_LIST,
		[VALUE_MAP] = TREE_MAP,
	};

	return kinds[tree_to(value).type];
}

static bool truth(struct tree_value flag)
{
	return tree_to(flag).truth;
}

static struct tree_text text(struct tree_value string)
{
	return text_of(tree_to(string));
}

static size_t count(struct tree_value container)
{
	struct value value = tree_to(container);

	return value_is(value, VALUE_MAP) ? map_len(value) : list_len(value);
}

static struct tree_value get(void *owner, struct tree_value map, struct tree_text key)
{
	struct value element;

	run_step_bytes(run_of(owner), key.len);
	return map_get_bytes(run_of(owner), tree_to(map), key.bytes, key.len, &element) ? tree_from(element)
											: tree_none;
}

static void begin(void *owner, struct tree_walk *walk)
{
	struct iterator at = value_iterate(run_of(owner), tree_to(walk->of));

	memcpy(walk->state, &at, sizeof(at));
}

static bool next(void *owner, struct tree_walk *walk)
{
	struct iterator at;

	memcpy(&at, walk->state, sizeof(at));
	run_step(run_of(owner), 1);
	if (!iterator_next(run_of(owner), &at))
		return false;
	walk->key = value_is(at.key, VALUE_STRING) ? text_of(at.key) : tree_literal("");
	walk->element = tree_from(at.element);
	memcpy(walk->state, &at, sizeof(at));
	return true;
}

/* ---- making ---- */

static struct tree_value map(void *owner)
{
	return tree_from(map_new(run_of(owner), 0));
}

static struct tree_value list(void *owner)
{
	return tree_from(list_new(run_of(owner), 0));
}

static struct tree_value flag(void *owner, bool truth)
{
	(void)owner;
	return tree_from(value_bool(truth));
}

static struct tree_value null(void *owner)
{
	(void)owner;
	return tree_from(value_null());
}

static struct tree_value string(void *owner, struct tree_text text)
{
	return tree_from(string_borrow(run_of(owner), text.bytes, text.len));
}

static struct tree_text join(void *owner, struct tree_text a, struct tree_text b)
{
	struct run *run = run_of(owner);
	char *bytes;

	run_step_bytes(run, a.len + b.len);
	if (a.len + b.len > MAX_STRING)
		run_fail_limit(run, "a string's length, 256 MiB,", NULL);
	bytes = run_alloc(run, a.len + b.len + 1, 1);
	if (a.len > 0)
		memcpy(bytes, a.bytes, a.len);
	if (b.len > 0)
		memcpy(bytes + a.len, b.bytes, b.len);
	return (struct tree_text){.bytes = bytes, .len = a.len + b.len};
}

static struct tree_text number(void *owner, struct tree_value number)
{
	const struct value value = tree_to(number);
	char text[TREE_NUMBER_TEXT];

	if (!value_is(value, VALUE_INT))
		tree_real_text(text, value.real);
	return tree_literal(value_is(value, VALUE_INT) ? run_text(run_of(owner), "%" PRId64, value.number)
						       : run_text(run_of(owner), "%s", text));
}

static void set(void *owner, struct tree_value map, struct tree_text key, struct tree_value value)
{
	struct run *run = run_of(owner);

	run_step_bytes(run, key.len);
	map_set(run, tree_to(map), string_borrow(run, key.bytes, key.len), tree_to(value));
}

static void push(void *owner, struct tree_value list, struct tree_value value)
{
	run_step(run_of(owner), 1);
	list_push(run_of(owner), tree_to(list), tree_to(value));
}

/* ---- resources ---- */

/* A resource before it is read. */
struct resource {
	const struct v1_owner *owner;
	struct tree_value json;
};

static struct value make(struct run *run, const void *data, uint32_t offset)
{
	const struct resource *resource = data;

	(void)run;
	(void)offset;
	return tree_to(v1_element(&resource->owner->v1, resource->json));
}

static void set_lazy(void *owner, struct tree_value map, struct value key, struct tree_value json)
{
	struct run *run = run_of(owner);
	struct resource *resource = run_alloc(run, 1, sizeof(*resource));

	*resource = (struct resource){.owner = owner, .json = json};
	map_set_lazy(run, tree_to(map), key, (struct lazy){.make = make, .data = resource});
}

static void set_element(void *owner, struct tree_value map, struct tree_text key, struct tree_value resource)
{
	set_lazy(owner, map, string_borrow(run_of(owner), key.bytes, key.len), resource);
}

static void set_instance(void *owner, struct tree_value map, struct tree_value index, struct tree_value resource)
{
	const struct value key = tree_to(index);

	set_lazy(owner, map, value_is_number(key) || value_is(key, VALUE_STRING) ? key : value_int(0), resource);
}

static void enter(void *owner)
{
	run_enter(run_of(owner));
}

static void leave(void *owner)
{
	run_leave(run_of(owner));
}

const struct tree_class tree_of_values = {
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
	.set_element = set_element,
	.set_instance = set_instance,
	.enter = enter,
	.leave = leave,
};
