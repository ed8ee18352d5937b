/* SPDX-License-Identifier: MPL-2.0 */
/* Values: strings and lists that grow, maps, views, iteration, equality, printing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "policy/values/value.h"

typedef void (*body)(struct run *run, void *data);

static void run_with(body test)
{
	struct run run;
	int result;

	run_init(&run, &run_limits_default);
	result = run_protected(&run, test, NULL);
	if (result < 0)
		print_error("%s\n", run.failure.message);
	assert_int_equal(result, 0);
	run_release(&run);
}

/* A test whose body runs within run_protected. Assertions of a body jump out of the thread, so bodies use `check`. */
#define check(run, condition) ((condition) ? (void)0 : run_fail((run), "line %d: %s", __LINE__, #condition))

static void expect_error(body test, const char *message)
{
	struct run run;

	run_init(&run, &run_limits_default);
	assert_int_equal(run_protected(&run, test, NULL), -1);
	assert_string_equal(run.failure.message, message);
	run_release(&run);
}

static bool prints(struct run *run, struct value value, const char *text)
{
	return string_equals(value_print(run, value, VALUE_QUOTED), text);
}

static struct value ints(struct run *run, int count)
{
	struct value list = list_new(run, 0);

	for (int i = 0; i < count; i++)
		list_push(run, list, value_int(i));
	return list;
}

/* ---- strings ---- */

static void strings(struct run *run, void *data)
{
	struct value a = string_text(run, "ab"), b = string_concat(run, a, string_text(run, "cd")), c, d;

	(void)data;
	c = string_concat(run, b, string_text(run, "ef"));
	d = string_concat(run, b, string_text(run, "gh"));
	check(run, string_equals(a, "ab") && string_equals(b, "abcd"));
	check(run, string_equals(c, "abcdef") && string_equals(d, "abcdgh"));
	c = string_concat(run, c, c);
	check(run, string_equals(c, "abcdefabcdef"));
	check(run, string_equals(string_slice(run, c, 2, 5), "cde"));
	check(run, string_equals(string_slice(run, c, 3, 3), ""));
	check(run, string_len(string_new(run, "a\0b", 3)) == 3);
}

static void joined_strings_keep_their_texts(void **state)
{
	(void)state;
	run_with(strings);
}

static void grow_string(struct run *run, void *data)
{
	struct value text = string_text(run, ""), line = string_text(run, "line\n");

	(void)data;
	for (int i = 0; i < 100000; i++)
		text = string_concat(run, text, line);
	check(run, string_len(text) == 500000);
	check(run, run->allocated < 16 << 20);
}

static void grow_list(struct run *run, void *data)
{
	struct value list = list_new(run, 0);

	(void)data;
	for (int i = 0; i < 100000; i++) {
		struct value one = list_new(run, 1);

		list_push(run, one, value_int(i));
		list = list_concat(run, list, one);
	}
	check(run, list_len(list) == 100000 && list_at(run, list, 99999).number == 99999);
	check(run, run->allocated < 32 << 20);
}

static void joining_in_a_loop_takes_linear_memory(void **state)
{
	(void)state;
	run_with(grow_string);
	run_with(grow_list);
}

/* ---- lists ---- */

static void lists(struct run *run, void *data)
{
	struct value a = ints(run, 6), b = list_concat(run, a, ints(run, 1)), c = list_concat(run, a, ints(run, 2));
	struct value slice = list_slice(run, a, 1, 3);

	(void)data;
	check(run, prints(run, b, "[0, 1, 2, 3, 4, 5, 0]") && prints(run, c, "[0, 1, 2, 3, 4, 5, 0, 1]"));
	list_set(run, b, 0, value_int(9));
	list_push(run, slice, value_int(8));
	list_set(run, slice, 0, value_int(7));
	check(run, prints(run, a, "[0, 1, 2, 3, 4, 5]") && prints(run, slice, "[7, 2, 8]"));
	check(run, prints(run, b, "[9, 1, 2, 3, 4, 5, 0]") && prints(run, c, "[0, 1, 2, 3, 4, 5, 0, 1]"));
	list_push(run, a, value_int(6));
	check(run, prints(run, a, "[0, 1, 2, 3, 4, 5, 6]") && prints(run, c, "[0, 1, 2, 3, 4, 5, 0, 1]"));
	a = list_concat(run, a, a);
	check(run, list_len(a) == 14 && list_at(run, a, 13).number == 6);
}

static void lists_share_their_room_until_a_change(void **state)
{
	(void)state;
	run_with(lists);
}

static void too_long(struct run *run, void *data)
{
	(void)data;
	list_new(run, MAX_LIST + 1);
}

static void a_list_has_a_longest_length(void **state)
{
	(void)state;
	expect_error(too_long, "the limit of a list's length, 10 million, is reached");
}

/* ---- maps ---- */

static void maps(struct run *run, void *data)
{
	struct value map = map_new(run, 0), element;

	(void)data;
	for (int i = 0; i < 1000; i++)
		map_set(run, map, value_int(i), value_int(-i));
	for (int i = 0; i < 1000; i += 2)
		check(run, map_delete(run, map, value_int(i)));
	check(run, !map_delete(run, map, value_int(0)) && map_len(map) == 500);
	check(run, !map_get(run, map, value_int(2), &element));
	check(run, map_get(run, map, value_float(999.0), &element) && element.number == -999);
	map_set(run, map, value_float(1.0), value_int(5));
	check(run, map_len(map) == 500 && map_get(run, map, value_int(1), &element) && element.number == 5);
	for (int i = 0; i < 3000; i++) {
		map_set(run, map, value_int(-1), value_null());
		map_delete(run, map, value_int(-1));
	}
	check(run, map_len(map) == 500);
}

static void keys_of_each_type(struct run *run, void *data)
{
	struct value map = map_new(run, 0), element;

	(void)data;
	map_set(run, map, value_bool(true), value_int(1));
	map_set(run, map, value_int(1), value_int(2));
	map_set_text(run, map, "1", value_int(3));
	map_set(run, map, value_float(1.5), value_int(4));
	check(run, prints(run, map, "{true: 1, 1: 2, \"1\": 3, 1.5: 4}"));
	check(run, map_get_text(run, map, "1", &element) && element.number == 3);
	check(run, map_get_bytes(run, map, "12", 1, &element) && !map_get_text(run, map, "12", &element));
	map_delete(run, map, value_bool(true));
	map_set(run, map, value_bool(true), value_int(9));
	check(run, prints(run, map, "{1: 2, \"1\": 3, 1.5: 4, true: 9}"));
}

static void null_as_a_key(struct run *run, void *data)
{
	(void)data;
	map_set(run, map_new(run, 0), value_null(), value_null());
}

static void maps_keep_their_order(void **state)
{
	(void)state;
	run_with(maps);
	run_with(keys_of_each_type);
	expect_error(null_as_a_key, "a map's key is a bool, a number or a string, not null");
}

/* ---- iteration ---- */

static void iterate_changed(struct run *run, void *data)
{
	struct value list = ints(run, 3), map = map_new(run, 0);
	struct iterator at = value_iterate(run, list);
	int64_t sum = 0;

	(void)data;
	while (iterator_next(run, &at)) {
		list_push(run, list, value_int(100));
		list_set(run, list, 2, value_int(50));
		sum += at.element.number + 10 * at.key.number;
	}
	check(run, sum == 33 && list_len(list) == 6 && list_at(run, list, 2).number == 50);
	map_set_text(run, map, "a", value_int(1));
	map_set_text(run, map, "b", value_int(2));
	at = value_iterate(run, map);
	for (sum = 0; iterator_next(run, &at); sum += at.element.number) {
		map_delete(run, map, string_text(run, "b"));
		map_set_text(run, map, "c", value_int(70));
	}
	check(run, sum == 3 && prints(run, map, "{\"a\": 1, \"c\": 70}"));
}

static void iteration_sees_the_elements_of_its_start(void **state)
{
	(void)state;
	run_with(iterate_changed);
}

/* ---- lazy elements and views ---- */

static unsigned made;

static struct value make(struct run *run, const void *text, uint32_t offset)
{
	struct value map = map_new(run, 0);

	(void)offset;
	made++;
	map_set_text(run, map, "name", string_text(run, text));
	return map;
}

static void lazy_elements(struct run *run, void *data)
{
	struct value map = map_new(run, 0), view, same, again;

	(void)data;
	made = 0;
	for (int i = 0; i < 100; i++)
		map_set_lazy(run, map, value_int(i), (struct lazy){make, "x"});
	check(run, made == 0);
	view = value_view(run, map);
	check(run, map_get(run, view, value_int(5), &same) && map_get(run, view, value_int(5), &again));
	check(run, same.map == again.map && made == 1);
	check(run, map_get(run, map, value_int(5), &again) && same.map != again.map && made == 1);
	check(run, value_equal(run, view, map) && made == 100);
}

static void views(struct run *run, void *data)
{
	struct value base = map_new(run, 0), view, list, inner;

	(void)data;
	map_set_text(run, base, "list", ints(run, 3));
	map_set_text(run, base, "n", value_int(1));
	view = value_view(run, base);
	check(run, map_get_text(run, view, "list", &list));
	list_push(run, list, value_int(3));
	map_get_text(run, view, "list", &inner);
	check(run, inner.list == list.list && list_len(inner) == 4);
	map_set_text(run, view, "n", value_int(2));
	map_get_text(run, view, "list", &inner);
	check(run, inner.list == list.list);
	check(run, prints(run, base, "{\"list\": [0, 1, 2], \"n\": 1}"));
	check(run, prints(run, view, "{\"list\": [0, 1, 2, 3], \"n\": 2}"));
	map_set_text(run, base, "n", value_int(7));
	check(run, prints(run, value_view(run, view), "{\"list\": [0, 1, 2, 3], \"n\": 2}"));
}

static void views_of_views(struct run *run, void *data)
{
	struct value base = list_new(run, 0), view, other, first;

	(void)data;
	list_push(run, base, ints(run, 2));
	view = value_view(run, base);
	first = list_at(run, view, 0);
	list_push(run, first, value_int(9));
	other = value_view(run, view);
	list_push(run, list_at(run, other, 0), value_int(8));
	check(run, prints(run, base, "[[0, 1]]") && prints(run, view, "[[0, 1, 9]]"));
	check(run, prints(run, other, "[[0, 1, 9, 8]]"));
	check(run, prints(run, list_concat(run, view, base), "[[0, 1, 9], [0, 1]]"));
	check(run, list_at(run, view, 0).list == first.list);
	check(run, list_at(run, list_slice(run, other, 0, 1), 0).list == list_at(run, other, 0).list);
}

/* Element i of the view is the list that `first` saw, and only it has been changed. */
static void view_identity_of(struct run *run, int size, int stride)
{
	struct value base = list_new(run, 0), view;

	for (int i = 0; i < size; i++)
		list_push(run, base, ints(run, 1));
	view = value_view(run, base);
	for (int i = 0; i < size; i += stride)
		list_push(run, list_at(run, view, (size_t)i), value_int(i));
	for (int i = 0; i < size; i++) {
		struct value element = list_at(run, view, (size_t)i);

		check(run, list_len(element) == (i % stride == 0 ? 2 : 1));
		check(run, i % stride != 0 || list_at(run, element, 1).number == i);
		check(run, element.list == list_at(run, view, (size_t)i).list);
		check(run, list_len(list_at(run, base, (size_t)i)) == 1);
	}
}

static void view_identity(struct run *run, void *data)
{
	(void)data;
	for (int size = 1; size < 400; size = size * 2 + 1)
		for (int stride = 1; stride < 100; stride = stride * 3 + 1)
			view_identity_of(run, size, stride);
}

static void elements_of_a_view_stay_the_same(void **state)
{
	(void)state;
	run_with(view_identity);
}

static void a_change_of_a_view_stays_its_own(void **state)
{
	(void)state;
	run_with(lazy_elements);
	run_with(views);
	run_with(views_of_views);
}

/* ---- equality and order ---- */

static void equality(struct run *run, void *data)
{
	struct value nan = value_float(NAN), big = value_int(INT64_MAX);

	(void)data;
	check(run, value_equal(run, value_int(1), value_float(1.0)) && !value_equal(run, nan, nan));
	check(run, !value_equal(run, value_int(1), value_bool(true)) && !value_equal(run, value_null(), value_int(0)));
	check(run, value_equal(run, ints(run, 4), ints(run, 4)) && !value_equal(run, ints(run, 4), ints(run, 5)));
	check(run, number_compare(big, value_float(9223372036854775808.0)) == 0);
	check(run, number_compare(value_float(9223372036854775808.0), big) == 0);
	check(run, number_compare(big, value_float(9223372036854777856.0)) == -1);
	check(run, number_compare(value_int(-3), value_float(-3.5)) == 1);
	check(run, number_compare(value_int(3), value_float(3.5)) == -1);
	check(run, number_compare(value_int(3), nan) == 2 && number_compare(nan, value_int(3)) == 2);
}

static void an_int_is_compared_as_a_float(void **state)
{
	(void)state;
	run_with(equality);
}

static struct value list_in_itself(struct run *run)
{
	struct value list = list_new(run, 1);

	list_push(run, list, list);
	return list;
}

static void compare_circles(struct run *run, void *data)
{
	(void)data;
	value_equal(run, list_in_itself(run), list_in_itself(run));
}

static void print_circle(struct run *run, void *data)
{
	(void)data;
	value_print(run, list_in_itself(run), VALUE_BARE);
}

static void a_list_in_itself_ends_at_the_limit(void **state)
{
	(void)state;
	expect_error(compare_circles, "the limit of nesting, 5000, is reached");
	expect_error(print_circle, "the limit of nesting, 5000, is reached");
}

/* ---- printing ---- */

static void printing(struct run *run, void *data)
{
	static const struct {
		double real;
		const char *text;
	} floats[] = {
		{1, "1.0"},
		{0.1, "0.1"},
		{1.0 / 3, "0.3333333333333333"},
		{1e21, "1e21"},
		{-2.5e-7, "-2.5e-07"},
		{123456789.25, "123456789.25"},
		{0.1 + 0.2, "0.30000000000000004"},
		{INFINITY, "Inf"},
	};
	struct value list = list_new(run, 0);

	(void)data;
	for (size_t i = 0; i < sizeof(floats) / sizeof(floats[0]); i++)
		check(run, prints(run, value_float(floats[i].real), floats[i].text));
	list_push(run, list, string_new(run, "a\"\n\x01\\\xc3\xa9", 7));
	list_push(run, list, value_null());
	list_push(run, list, value_undefined(run));
	list_push(run, list, map_new(run, 0));
	check(run, prints(run, list, "[\"a\\\"\\n\\x01\\\\\xc3\xa9\", null, undefined, {}]"));
	check(run, string_equals(value_print(run, string_text(run, "a\"b"), VALUE_BARE), "a\"b"));
	check(run, prints(run, value_int(INT64_MIN), "-9223372036854775808"));
}

static void values_are_printed_as_they_are_written(void **state)
{
	(void)state;
	run_with(printing);
}

/* ---- calls ---- */

static struct value count_args(struct run *run, const struct value *args, size_t count, const void *data)
{
	(void)run;
	(void)args;
	(void)data;
	return value_int((int64_t)count);
}

static const struct native counter = {"count", 1, 2, false, count_args};

static void calls(struct run *run, void *data)
{
	struct value function = function_native(run, &counter, NULL), args[3] = {value_int(1), value_int(2)};

	(void)data;
	check(run, value_call(run, function, args, 2).number == 2 && function_arity(function) == 2);
	args[1] = value_undefined(run);
	check(run, value_call(run, function, args, 2).type == VALUE_UNDEFINED);
	check(run, value_call(run, value_undefined(run), args, 1).type == VALUE_UNDEFINED);
}

static void call_with_too_many(struct run *run, void *data)
{
	struct value args[3] = {value_int(1), value_int(2), value_int(3)};

	(void)data;
	value_call(run, function_native(run, &counter, NULL), args, 3);
}

static void call_of_a_string(struct run *run, void *data)
{
	(void)data;
	value_call(run, string_text(run, "f"), NULL, 0);
}

static void native_functions_check_their_arguments(void **state)
{
	(void)state;
	run_with(calls);
	expect_error(call_with_too_many, "count takes 1 to 2 arguments, 3 given");
	expect_error(call_of_a_string, "only a function can be called, not string");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(joined_strings_keep_their_texts),
		cmocka_unit_test(joining_in_a_loop_takes_linear_memory),
		cmocka_unit_test(lists_share_their_room_until_a_change),
		cmocka_unit_test(a_list_has_a_longest_length),
		cmocka_unit_test(maps_keep_their_order),
		cmocka_unit_test(iteration_sees_the_elements_of_its_start),
		cmocka_unit_test(a_change_of_a_view_stays_its_own),
		cmocka_unit_test(elements_of_a_view_stay_the_same),
		cmocka_unit_test(an_int_is_compared_as_a_float),
		cmocka_unit_test(a_list_in_itself_ends_at_the_limit),
		cmocka_unit_test(values_are_printed_as_they_are_written),
		cmocka_unit_test(native_functions_check_their_arguments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
