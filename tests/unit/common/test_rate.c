/* SPDX-License-Identifier: MPL-2.0 */
/* The rate limit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "common/http/rate.h"

static const struct rate_limit two_a_second = {2, 1000};

static void calls_per_window_are_limited(void **state)
{
	struct rate rate = {0};

	(void)state;
	assert_int_equal(rate_take(&rate, &two_a_second, 5000), 1);
	assert_int_equal(rate_take(&rate, &two_a_second, 5999), 1);
	for (int i = 0; i < 100; i++)
		assert_int_equal(rate_take(&rate, &two_a_second, 5999), 0);
	assert_int_equal(rate_take(&rate, &two_a_second, 6000), 101);
	assert_int_equal(rate_take(&rate, &two_a_second, 6000), 1);
	assert_int_equal(rate_take(&rate, &two_a_second, 6999), 0);
}

static void a_window_begins_with_the_first_call(void **state)
{
	struct rate rate = {0};

	(void)state;
	rate_take(&rate, &two_a_second, 0);
	rate_take(&rate, &two_a_second, 90000);
	assert_int_equal(rate_take(&rate, &two_a_second, 90999), 1);
	assert_int_equal(rate_take(&rate, &two_a_second, 90999), 0);
	assert_int_equal(rate_take(&rate, &two_a_second, 91000), 2);
}

static void a_line_has_the_count_of_omitted_lines(void **state)
{
	const struct rate_limit one = {1, 1000};
	char count[RATE_COUNT_SIZE] = "";
	struct rate rate = {0};

	(void)state;
	assert_true(rate_line_due(&rate, &one, 0, count));
	assert_string_equal(count, "1");
	for (int i = 0; i < 9999; i++)
		assert_false(rate_line_due(&rate, &one, 999, count));
	assert_true(rate_line_due(&rate, &one, 1000, count));
	assert_string_equal(count, "10000");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_per_window_are_limited),
		cmocka_unit_test(a_window_begins_with_the_first_call),
		cmocka_unit_test(a_line_has_the_count_of_omitted_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
