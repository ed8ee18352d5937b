/* SPDX-License-Identifier: MPL-2.0 */
/* The import collection/lists. The operations of sets keep the order of their first list and repeat no element. */
#include "common/base.h"
#include "policy/imports/arguments.h"
#include "policy/imports/standard.h"

static void check_lists(struct run *run, const char *function, const struct value *args, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!value_is(args[i], VALUE_LIST))
			argument_refuse(run, function, "a list", args, i);
}

static void push_all(struct run *run, struct value to, struct value from)
{
	struct iterator at = value_iterate(run, from);

	while (iterator_next(run, &at))
		list_push(run, to, at.element);
}

static struct value call_concat(struct run *run, const struct value *args, size_t count, const void *data)
{
	struct value all = list_new(run, 0);

	(void)data;
	check_lists(run, "lists.concat", args, count);
	for (size_t i = 0; i < count; i++)
		push_all(run, all, args[i]);
	return all;
}

static struct value call_sum(struct run *run, const struct value *args, size_t count, const void *data)
{
	struct iterator at;
	double sum = 0;

	(void)data;
	check_lists(run, "lists.sum", args, count);
	at = value_iterate(run, args[0]);
	while (iterator_next(run, &at)) {
		if (value_is(at.element, VALUE_UNDEFINED))
			return at.element;
		if (!value_is_number(at.element))
			run_fail(run, "lists.sum takes a list of numbers, one of its elements is a %s",
				value_type_name(at.element));
		sum += value_is(at.element, VALUE_INT) ? (double)at.element.number : at.element.real;
	}
	return value_float(sum);
}

/* ---- sort ---- */

struct sorting {
	struct run *run;
	struct value compare;
	struct value *items, *spare;
};

/* The function says that `b` must stand before `a`: it gives true, or a number below 0, for (b, a). */
static bool is_before(struct sorting *sorting, struct value b, struct value a)
{
	const struct value pair[] = {b, a};
	struct value result = value_call(sorting->run, sorting->compare, pair, 2);

	if (value_is(result, VALUE_BOOL))
		return result.truth;
	if (value_is_number(result))
		return number_compare(result, value_int(0)) == -1;
	run_fail(sorting->run, "the function of lists.sort must give a bool or a number, not %s",
		value_type_name(result));
}

/* Merges [from, middle) and [middle, to). Whatever the function says, each item is moved once. */
static void merge(struct sorting *sorting, size_t from, size_t middle, size_t to)
{
	size_t left = from, right = middle;

	for (size_t i = from; i < to; i++) {
		bool take_right = left == middle ||
			(right < to && is_before(sorting, sorting->items[right], sorting->items[left]));

		sorting->spare[i] = sorting->items[take_right ? right++ : left++];
	}
	for (size_t i = from; i < to; i++)
		sorting->items[i] = sorting->spare[i];
	run_step(sorting->run, to - from);
}

static void sort(struct sorting *sorting, size_t count)
{
	for (size_t width = 1; width < count; width *= 2)
		for (size_t from = 0; from + width < count; from += 2 * width)
			merge(sorting, from, from + width, from + 2 * width < count ? from + 2 * width : count);
}

static struct value call_sort(struct run *run, const struct value *args, size_t count, const void *data)
{
	struct sorting sorting = {.run = run, .compare = args[1]};
	struct value sorted;
	size_t len;

	(void)data;
	arguments_check(run, "lists.sort", "lf", args, count);
	len = list_len(args[0]);
	sorting.items = run_alloc(run, len, sizeof(*sorting.items));
	sorting.spare = run_alloc(run, len, sizeof(*sorting.spare));
	for (size_t i = 0; i < len; i++)
		sorting.items[i] = list_at(run, args[0], i);
	sort(&sorting, len);
	sorted = list_new(run, len);
	for (size_t i = 0; i < len; i++)
		list_push(run, sorted, sorting.items[i]);
	return sorted;
}

/* ---- sets ---- */

static bool contains(struct run *run, struct value list, struct value element)
{
	struct iterator at = value_iterate(run, list);

	while (iterator_next(run, &at))
		if (!value_is(at.element, VALUE_UNDEFINED) && value_equal(run, at.element, element))
			return true;
	return false;
}

static void push_new(struct run *run, struct value list, struct value element)
{
	if (!value_is(element, VALUE_UNDEFINED) && !contains(run, list, element))
		list_push(run, list, element);
}

static struct value call_union(struct run *run, const struct value *args, size_t count, const void *data)
{
	struct value all = list_new(run, 0);

	(void)data;
	check_lists(run, "lists.union", args, count);
	for (size_t i = 0; i < count; i++)
		for (struct iterator at = value_iterate(run, args[i]); iterator_next(run, &at);)
			push_new(run, all, at.element);
	return all;
}

/* The elements of the first list that the second one has, or has not. */
static struct value common(struct run *run, const char *function, const struct value *args, size_t count, bool wanted)
{
	struct value found = list_new(run, 0);
	struct iterator at;

	check_lists(run, function, args, count);
	at = value_iterate(run, args[0]);
	while (iterator_next(run, &at))
		if (!value_is(at.element, VALUE_UNDEFINED) && contains(run, args[1], at.element) == wanted)
			push_new(run, found, at.element);
	return found;
}

static struct value call_difference(struct run *run, const struct value *args, size_t count, const void *data)
{
	(void)data;
	return common(run, "lists.difference", args, count, false);
}

static struct value call_intersection(struct run *run, const struct value *args, size_t count, const void *data)
{
	(void)data;
	return common(run, "lists.intersection", args, count, true);
}

static const struct native functions[] = {
	{"concat", 1, NATIVE_ANY, false, call_concat},
	{"diff", 2, 2, false, call_difference},
	{"difference", 2, 2, false, call_difference},
	{"intersection", 2, 2, false, call_intersection},
	{"sort", 2, 2, false, call_sort},
	{"sum", 1, 1, false, call_sum},
	{"union", 2, 2, false, call_union},
};

const struct import import_lists = {
	.name = "collection/lists",
	.functions = functions,
	.function_count = ARRAY_LEN(functions),
};
