/* SPDX-License-Identifier: MPL-2.0 */
/* Binary operators on two values: a table by operator and types. */
#include <math.h>
#include <string.h>

#include "policy/core/regex.h"
#include "policy/evaluate/activation.h"

typedef struct value (*binary)(struct run *run, struct value a, struct value b);

enum { TYPES = VALUE_FUNCTION + 1 };

struct binary_row {
	binary by_types[TYPES][TYPES];
	binary otherwise; /* NULL: undefined if an operand is undefined, else an error */
};

/* ---- arithmetic: ints wrap ---- */

static double real_of(struct value number)
{
	return number.type == VALUE_INT ? (double)number.number : number.real;
}

static struct value add_ints(struct run *run, struct value a, struct value b)
{
	(void)run;
	return value_int((int64_t)((uint64_t)a.number + (uint64_t)b.number));
}

static struct value subtract_ints(struct run *run, struct value a, struct value b)
{
	(void)run;
	return value_int((int64_t)((uint64_t)a.number - (uint64_t)b.number));
}

static struct value multiply_ints(struct run *run, struct value a, struct value b)
{
	(void)run;
	return value_int((int64_t)((uint64_t)a.number * (uint64_t)b.number));
}

/* The lowest int divided by -1 is itself, with the remainder 0. */
static struct value divide_ints(struct run *run, struct value a, struct value b)
{
	if (b.number == 0)
		run_fail(run, "division by zero");
	if (b.number == -1)
		return value_int((int64_t)(0 - (uint64_t)a.number));
	return value_int(a.number / b.number);
}

static struct value remainder_ints(struct run *run, struct value a, struct value b)
{
	if (b.number == 0)
		run_fail(run, "division by zero");
	return value_int(b.number == -1 ? 0 : a.number % b.number);
}

static struct value add_reals(struct run *run, struct value a, struct value b)
{
	(void)run;
	return value_float(real_of(a) + real_of(b));
}

static struct value subtract_reals(struct run *run, struct value a, struct value b)
{
	(void)run;
	return value_float(real_of(a) - real_of(b));
}

static struct value multiply_reals(struct run *run, struct value a, struct value b)
{
	(void)run;
	return value_float(real_of(a) * real_of(b));
}

static struct value divide_reals(struct run *run, struct value a, struct value b)
{
	(void)run;
	return value_float(real_of(a) / real_of(b));
}

static struct value remainder_reals(struct run *run, struct value a, struct value b)
{
	(void)run;
	return value_float(fmod(real_of(a), real_of(b)));
}

/* ---- comparison ---- */

static struct value is_equal(struct run *run, struct value a, struct value b)
{
	if (a.type == VALUE_UNDEFINED || b.type == VALUE_UNDEFINED)
		return a.type == VALUE_UNDEFINED ? a : b;
	return value_bool(value_equal(run, a, b));
}

static struct value negated(struct value value)
{
	return value.type == VALUE_BOOL ? value_bool(!value.truth) : value;
}

static struct value is_not_equal(struct run *run, struct value a, struct value b)
{
	return negated(is_equal(run, a, b));
}

/* Bytewise, a prefix first. */
static int compare_strings(struct run *run, struct value a, struct value b)
{
	size_t len = string_len(a) < string_len(b) ? string_len(a) : string_len(b);
	int order;

	run_step_bytes(run, len);
	order = memcmp(string_bytes(a), string_bytes(b), len);
	if (order == 0)
		return (string_len(a) > string_len(b)) - (string_len(a) < string_len(b));
	return order < 0 ? -1 : 1;
}

/* The order of two numbers or two strings; 2 for NaN. */
static int order_of(struct run *run, struct value a, struct value b)
{
	return a.type == VALUE_STRING ? compare_strings(run, a, b) : number_compare(a, b);
}

static struct value less(struct run *run, struct value a, struct value b)
{
	return value_bool(order_of(run, a, b) == -1);
}

static struct value less_equal(struct run *run, struct value a, struct value b)
{
	return value_bool(order_of(run, a, b) <= 0);
}

static struct value greater(struct run *run, struct value a, struct value b)
{
	return value_bool(order_of(run, a, b) == 1);
}

static struct value greater_equal(struct run *run, struct value a, struct value b)
{
	int order = order_of(run, a, b);

	return value_bool(order == 0 || order == 1);
}

static struct value unordered(struct run *run, struct value a, struct value b)
{
	if (a.type == VALUE_UNDEFINED || b.type == VALUE_UNDEFINED)
		return a.type == VALUE_UNDEFINED ? a : b;
	return value_undefined(run);
}

/* ---- contains, in, matches ---- */

/* An undefined element makes the result undefined, unless another element is equal. */
static struct value list_contains(struct run *run, struct value list, struct value wanted)
{
	struct value result = value_bool(false);

	for (size_t i = 0; i < list_len(list); i++) {
		struct value element = list_at(run, list, i);

		if (element.type == VALUE_UNDEFINED)
			result = element;
		else if (value_equal(run, element, wanted))
			return value_bool(true);
	}
	return result;
}

static bool is_key(struct value value)
{
	return value.type == VALUE_STRING || value.type == VALUE_BOOL || value_is_number(value);
}

static struct value map_contains(struct run *run, struct value map, struct value key)
{
	struct value ignored;

	return value_bool(is_key(key) && map_get(run, map, key, &ignored));
}

static struct value string_contains(struct run *run, struct value string, struct value part)
{
	run_step_bytes(run, string_len(string));
	if (string_len(part) == 0)
		return value_bool(true);
	return value_bool(memmem(string_bytes(string), string_len(string), string_bytes(part), string_len(part)));
}

static struct value contains(struct run *run, struct value container, struct value wanted)
{
	if (container.type == VALUE_UNDEFINED || wanted.type == VALUE_UNDEFINED)
		return container.type == VALUE_UNDEFINED ? container : wanted;
	if (container.type == VALUE_LIST)
		return list_contains(run, container, wanted);
	if (container.type == VALUE_MAP)
		return map_contains(run, container, wanted);
	if (container.type != VALUE_STRING)
		run_fail(run, "a list, a map or a string is needed that contains something, not %s",
			value_type_name(container));
	if (wanted.type != VALUE_STRING)
		run_fail(run, "a string contains strings, not %s", value_type_name(wanted));
	return string_contains(run, container, wanted);
}

static struct value contains_not(struct run *run, struct value container, struct value wanted)
{
	return negated(contains(run, container, wanted));
}

static struct value in(struct run *run, struct value wanted, struct value container)
{
	return contains(run, container, wanted);
}

static struct value in_not(struct run *run, struct value wanted, struct value container)
{
	return negated(contains(run, container, wanted));
}

static struct value matches(struct run *run, struct value text, struct value pattern)
{
	return value_bool(
		regex_match(run, string_bytes(pattern), string_len(pattern), string_bytes(text), string_len(text)));
}

static struct value matches_not(struct run *run, struct value text, struct value pattern)
{
	return negated(matches(run, text, pattern));
}

/* ---- the table ---- */

#define ON_NUMBERS(ints, reals)                                                                                        \
	[VALUE_INT][VALUE_INT] = (ints), [VALUE_INT][VALUE_FLOAT] = (reals), [VALUE_FLOAT][VALUE_INT] = (reals),       \
	[VALUE_FLOAT][VALUE_FLOAT] = (reals)
#define ON_STRINGS(strings) [VALUE_STRING][VALUE_STRING] = (strings)

static const struct binary_row rows[OP_PLUS + 1] = {
	[OP_ADD] = {.by_types = {ON_NUMBERS(add_ints, add_reals),
			    ON_STRINGS(string_concat), [VALUE_LIST][VALUE_LIST] = list_concat}},
	[OP_SUBTRACT] = {.by_types = {ON_NUMBERS(subtract_ints, subtract_reals)}},
	[OP_MULTIPLY] = {.by_types = {ON_NUMBERS(multiply_ints, multiply_reals)}},
	[OP_DIVIDE] = {.by_types = {ON_NUMBERS(divide_ints, divide_reals)}},
	[OP_REMAINDER] = {.by_types = {ON_NUMBERS(remainder_ints, remainder_reals)}},
	[OP_IS] = {.otherwise = is_equal},
	[OP_IS_NOT] = {.otherwise = is_not_equal},
	[OP_LESS] = {.by_types = {ON_NUMBERS(less, less), ON_STRINGS(less)}, .otherwise = unordered},
	[OP_LESS_EQUAL] = {.by_types = {ON_NUMBERS(less_equal, less_equal), ON_STRINGS(less_equal)},
		.otherwise = unordered},
	[OP_GREATER] = {.by_types = {ON_NUMBERS(greater, greater), ON_STRINGS(greater)}, .otherwise = unordered},
	[OP_GREATER_EQUAL] = {.by_types = {ON_NUMBERS(greater_equal, greater_equal), ON_STRINGS(greater_equal)},
		.otherwise = unordered},
	[OP_CONTAINS] = {.otherwise = contains},
	[OP_NOT_CONTAINS] = {.otherwise = contains_not},
	[OP_IN] = {.otherwise = in},
	[OP_NOT_IN] = {.otherwise = in_not},
	[OP_MATCHES] = {.by_types = {ON_STRINGS(matches)}},
	[OP_NOT_MATCHES] = {.by_types = {ON_STRINGS(matches_not)}},
};

static struct value refuse(struct run *run, enum operator_kind op, struct value a, struct value b)
{
	if (a.type == VALUE_UNDEFINED || b.type == VALUE_UNDEFINED)
		return a.type == VALUE_UNDEFINED ? a : b;
	run_fail(run, "%s can't be applied to %s and %s", operator_texts[op], value_type_name(a), value_type_name(b));
}

struct value operator_apply(struct run *run, enum operator_kind op, struct value left, struct value right)
{
	const struct binary_row *row = &rows[op];
	binary apply = row->by_types[left.type][right.type];

	if (!apply)
		apply = row->otherwise;
	return apply ? apply(run, left, right) : refuse(run, op, left, right);
}
