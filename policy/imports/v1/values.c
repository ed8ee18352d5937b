/* SPDX-License-Identifier: MPL-2.0 */
#include "policy/imports/v1/values.h"

#include <inttypes.h>
#include <string.h>

#include "common/text.h"

_Static_assert(sizeof(struct value) == sizeof(struct doc_value), "a value fits into a doc's");
_Static_assert(VALUE_UNDEFINED == 0, "no value is undefined");
_Static_assert(sizeof(struct iterator) <= sizeof(((struct doc_walk *)0)->state), "an iterator fits into a walk");

struct doc_value doc_from(struct value value)
{
	struct doc_value from = doc_none;

	if (value.type != VALUE_UNDEFINED)
		memcpy(&from, &value, sizeof(from));
	return from;
}

struct value doc_to(struct doc_value value)
{
	struct value to;

	memcpy(&to, &value, sizeof(to));
	return to;
}

static struct run *run_of(void *owner)
{
	return ((struct v1_owner *)owner)->run;
}

static struct doc_text text_of(struct value string)
{
	return (struct doc_text){.bytes = string_bytes(string), .len = string_len(string)};
}

/* ---- reading ---- */

static enum doc_kind kind(struct doc_value value)
{
	static const enum doc_kind kinds[VALUE_TYPES] = {
		[VALUE_NULL] = DOC_NULL,
		[VALUE_BOOL] = DOC_BOOL,
		[VALUE_INT] = DOC_NUMBER,
		[VALUE_FLOAT] = DOC_NUMBER,
		[VALUE_STRING] = DOC_STRING,
		[VALUE_LIST] = DOC_LIST,
		[VALUE_MAP] = DOC_MAP,
	};

	return kinds[doc_to(value).type];
}

static bool truth(struct doc_value flag)
{
	return doc_to(flag).truth;
}

static struct doc_text text(struct doc_value string)
{
	return text_of(doc_to(string));
}

static size_t count(struct doc_value container)
{
	struct value value = doc_to(container);

	return value_is(value, VALUE_MAP) ? map_len(value) : list_len(value);
}

static struct doc_value get(void *owner, struct doc_value map, struct doc_text key)
{
	struct value element;

	run_step_bytes(run_of(owner), key.len);
	return map_get_bytes(run_of(owner), doc_to(map), key.bytes, key.len, &element) ? doc_from(element) : doc_none;
}

static void begin(void *owner, struct doc_walk *walk)
{
	struct iterator at = value_iterate(run_of(owner), doc_to(walk->of));

	memcpy(walk->state, &at, sizeof(at));
}

static bool next(void *owner, struct doc_walk *walk)
{
	struct iterator at;

	memcpy(&at, walk->state, sizeof(at));
	run_step(run_of(owner), 1);
	if (!iterator_next(run_of(owner), &at))
		return false;
	walk->key = value_is(at.key, VALUE_STRING) ? text_of(at.key) : doc_literal("");
	walk->element = doc_from(at.element);
	memcpy(walk->state, &at, sizeof(at));
	return true;
}

/* ---- making ---- */

static struct doc_value map(void *owner)
{
	return doc_from(map_new(run_of(owner), 0));
}

static struct doc_value list(void *owner)
{
	return doc_from(list_new(run_of(owner), 0));
}

static struct doc_value flag(void *owner, bool truth)
{
	(void)owner;
	return doc_from(value_bool(truth));
}

static struct doc_value null(void *owner)
{
	(void)owner;
	return doc_from(value_null());
}

static struct doc_value string(void *owner, struct doc_text text)
{
	return doc_from(string_borrow(run_of(owner), text.bytes, text.len));
}

static char *append(char *to, struct doc_text text)
{
	if (text.len > 0)
		memcpy(to, text.bytes, text.len);
	return to + text.len;
}

static struct doc_text join(void *owner, struct doc_text a, struct doc_text separator, struct doc_text b)
{
	struct run *run = run_of(owner);
	const size_t len = a.len + separator.len + b.len;
	char *bytes;

	run_step_bytes(run, len);
	if (len > MAX_STRING)
		run_fail_limit(run, "a string's length, 256 MiB,", NULL);
	bytes = run_alloc(run, len + 1, 1);
	append(append(append(bytes, a), separator), b);
	return (struct doc_text){.bytes = bytes, .len = len};
}

static struct doc_text number(void *owner, struct doc_value number)
{
	const struct value value = doc_to(number);
	char text[REAL_TEXT_SIZE];

	if (!value_is(value, VALUE_INT))
		text_real(text, value.real);
	return doc_literal(value_is(value, VALUE_INT) ? run_text(run_of(owner), "%" PRId64, value.number)
						      : run_text(run_of(owner), "%s", text));
}

static void set(void *owner, struct doc_value map, struct doc_text key, struct doc_value value)
{
	struct run *run = run_of(owner);

	run_step_bytes(run, key.len);
	map_set(run, doc_to(map), string_borrow(run, key.bytes, key.len), doc_to(value));
}

/* A string that all runs share. */
static struct value constant(const struct string *string)
{
	return (struct value){.type = VALUE_STRING, .string = string};
}

static struct doc_value entry(void *owner, bool computed, struct doc_value new, struct doc_value old)
{
	static const struct string names[] = {
		{.len = 8, .bytes = "computed"}, {.len = 3, .bytes = "new"}, {.len = 3, .bytes = "old"}};
	struct run *run = run_of(owner);
	struct value made = map_new(run, 3);

	map_set(run, made, constant(&names[0]), value_bool(computed));
	map_set(run, made, constant(&names[1]), doc_to(new));
	map_set(run, made, constant(&names[2]), doc_to(old));
	return doc_from(made);
}

static void drop(void *owner, struct doc_value map, struct doc_text key)
{
	struct run *run = run_of(owner);

	run_step_bytes(run, key.len);
	map_delete(run, doc_to(map), string_borrow(run, key.bytes, key.len));
}

static void push(void *owner, struct doc_value list, struct doc_value value)
{
	run_step(run_of(owner), 1);
	list_push(run_of(owner), doc_to(list), doc_to(value));
}

/* ---- resources ---- */

/* A value that is made of a resource when it is read. */
struct unmade {
	const struct v1_owner *owner;
	struct doc_value (*make)(const struct v1 *v1, struct doc_value resource);
	struct doc_value resource;
};

static struct value make(struct run *run, const void *data, uint32_t offset)
{
	const struct unmade *unmade = data;

	(void)run;
	(void)offset;
	return doc_to(unmade->make(&unmade->owner->v1, unmade->resource));
}

static struct value later(void *owner, struct doc_value resource,
	struct doc_value (*made)(const struct v1 *v1, struct doc_value resource))
{
	struct run *run = run_of(owner);
	struct unmade *unmade = run_alloc(run, 1, sizeof(*unmade));
	struct lazy *lazy = run_alloc(run, 1, sizeof(*lazy));

	*unmade = (struct unmade){.owner = owner, .make = made, .resource = resource};
	*lazy = (struct lazy){.make = make, .data = unmade};
	return (struct value){.type = VALUE_LAZY, .lazy = lazy};
}

static struct doc_value diff(void *owner, struct doc_value resource)
{
	return doc_from(later(owner, resource, v1_diff));
}

static void set_element(void *owner, struct doc_value map, struct doc_text key, struct doc_value resource)
{
	struct run *run = run_of(owner);

	map_set(run, doc_to(map), string_borrow(run, key.bytes, key.len), later(owner, resource, v1_element));
}

static void set_instance(void *owner, struct doc_value map, struct doc_value index, struct doc_value resource)
{
	struct value key = doc_to(index);

	if (!value_is_number(key) && !value_is(key, VALUE_STRING))
		key = value_int(0);
	map_set(run_of(owner), doc_to(map), key, later(owner, resource, v1_element));
}

static void enter(void *owner)
{
	run_enter(run_of(owner));
}

static void leave(void *owner)
{
	run_leave(run_of(owner));
}

const struct doc_class doc_of_values = {
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
	.set_element = set_element,
	.set_instance = set_instance,
	.enter = enter,
	.leave = leave,
};
