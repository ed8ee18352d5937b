/* SPDX-License-Identifier: MPL-2.0 */
#include "common/base.h"
#include "policy/imports/arguments.h"
#include "policy/imports/standard.h"

/* A predicate of two parameters gets the key (of a list: the index) before the element. */
static bool is_chosen(struct run *run, struct value predicate, const struct iterator *at)
{
	const struct value pair[] = {at->key, at->element};
	struct value result = function_arity(predicate) == 2 ? value_call(run, predicate, pair, 2)
							     : value_call(run, predicate, &at->element, 1);

	return value_is(result, VALUE_BOOL) && result.truth;
}

/* The elements for which the predicate is true, or not true. */
static struct value choose(struct run *run, const char *function, const struct value *args, size_t count, bool wanted)
{
	struct value chosen = list_new(run, 0);
	struct iterator at;

	arguments_check(run, function, "cf", args, count);
	at = value_iterate(run, args[0]);
	while (iterator_next(run, &at))
		if (is_chosen(run, args[1], &at) == wanted)
			list_push(run, chosen, at.element);
	return chosen;
}

static struct value call_filter(struct run *run, const struct value *args, size_t count, const void *data)
{
	(void)data;
	return choose(run, "collection.filter", args, count, true);
}

static struct value call_reject(struct run *run, const struct value *args, size_t count, const void *data)
{
	(void)data;
	return choose(run, "collection.reject", args, count, false);
}

static struct value call_find(struct run *run, const struct value *args, size_t count, const void *data)
{
	struct iterator at;

	(void)data;
	arguments_check(run, "collection.find", "cf", args, count);
	at = value_iterate(run, args[0]);
	while (iterator_next(run, &at))
		if (is_chosen(run, args[1], &at))
			return at.element;
	return value_undefined(run);
}

static bool matches(struct run *run, struct value value, struct value partial);

static bool map_matches(struct run *run, struct value map, struct value partial)
{
	struct iterator at = value_iterate(run, partial);
	struct value element;

	while (iterator_next(run, &at))
		if (!map_get(run, map, at.key, &element) || !matches(run, element, at.element))
			return false;
	return true;
}

static bool any_matches(struct run *run, struct value list, struct value partial)
{
	struct iterator at = value_iterate(run, list);

	while (iterator_next(run, &at))
		if (matches(run, at.element, partial))
			return true;
	return false;
}

/* Each element of the partial list is matched by one of the list, in any order. */
static bool list_matches(struct run *run, struct value list, struct value partial)
{
	struct iterator at = value_iterate(run, partial);

	while (iterator_next(run, &at))
		if (!any_matches(run, list, at.element))
			return false;
	return true;
}

static bool matches_unequal(struct run *run, struct value value, struct value partial)
{
	if (value_is(value, VALUE_MAP) && value_is(partial, VALUE_MAP))
		return map_matches(run, value, partial);
	if (value_is(value, VALUE_LIST) && value_is(partial, VALUE_LIST))
		return list_matches(run, value, partial);
	if (value_is(value, VALUE_UNDEFINED) || value_is(partial, VALUE_UNDEFINED))
		return false;
	return value_equal(run, value, partial);
}

static bool matches(struct run *run, struct value value, struct value partial)
{
	bool matched;

	run_enter(run);
	matched = matches_unequal(run, value, partial);
	run_leave(run);
	return matched;
}

static struct value call_matches(struct run *run, const struct value *args, size_t count, const void *data)
{
	struct value matched = list_new(run, 0);
	struct iterator at;

	(void)data;
	arguments_check(run, "collection.matches", "c.", args, count);
	at = value_iterate(run, args[0]);
	while (iterator_next(run, &at))
		if (matches(run, at.element, args[1]))
			list_push(run, matched, at.element);
	return matched;
}

static const struct native functions[] = {
	{"filter", 2, 2, false, call_filter},
	{"find", 2, 2, false, call_find},
	{"matches", 2, 2, false, call_matches},
	{"reject", 2, 2, false, call_reject},
};

const struct import import_collection = {
	.name = "collection",
	.functions = functions,
	.function_count = ARRAY_LEN(functions),
};
