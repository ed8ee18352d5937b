/* SPDX-License-Identifier: MPL-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include "worker/cost/decimal.h"

static struct decimal D(const char *text) {
	struct decimal value;

	if (decimal_parse(text, &value) < 0)
		fail_msg("%s is not parsed", text);
	return value;
}

static void
assert_decimal(struct decimal value, const char *wanted)
{
	char text[DECIMAL_TEXT_SIZE];

	decimal_text(value, 0, text);
	assert_string_equal(text, wanted);
}

static void test_decimals_are_parsed_and_formatted(void **state)
{
	static const char *const pairs[][2] = {
		{"0", "0"},
		{"12", "12"},
		{"-0.5", "-0.5"},
		{"0.0104", "0.0104"},
		{"12.500", "12.5"},
		{"000.25", "0.25"},
		{".5", "0.5"},
		{"1e3", "1000"},
		{"1.5e+06", "1500000"},
		{"25e-4", "0.0025"},
		{"0e99", "0"},
		{"100", "100"},
		{"0.00000000000000000000000000000000000001", "0.00000000000000000000000000000000000001"},
		{"170141183460469231731687303715884105727", "170141183460469231731687303715884105727"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(pairs); i++)
		assert_decimal(D(pairs[i][0]), pairs[i][1]);
}

static void test_invalid_numbers_are_refused(void **state)
{
	static const char *const texts[] = {"", "-", ".", "1.", "1.2.3", "1e", "e3", "0x10", " 1", "1 ", "1e 3",
		"1e++3", "ten", "1e100", "170141183460469231731687303715884105728",
		"0.000000000000000000000000000000000000001"};
	struct decimal value;

	(void)state;
	assert_int_equal(decimal_parse(NULL, &value), -1);
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		if (decimal_parse(texts[i], &value) == 0)
			fail_msg("\"%s\" is accepted", texts[i]);
}

static void test_amounts_have_at_least_two_decimals(void **state)
{
	static const char *const pairs[][2] = {
		{"0", "0.00"},
		{"12.5", "12.50"},
		{"-3", "-3.00"},
		{"0.0104", "0.0104"},
		{"7", "7.00"},
	};
	char text[DECIMAL_TEXT_SIZE];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
		decimal_text(D(pairs[i][0]), 2, text);
		assert_string_equal(text, pairs[i][1]);
	}
}

static void test_arithmetic_is_exact(void **state)
{
	struct decimal sum = decimal_of(0);

	(void)state;
	for (int i = 0; i < 1000; i++)
		sum = decimal_add(sum, D("0.1"));
	assert_decimal(sum, "100");
	assert_decimal(decimal_mul(D("0.0104"), D("730")), "7.592");
	assert_decimal(decimal_mul(D("0.0000000001"), D("730")), "0.000000073");
	assert_decimal(decimal_sub(D("0.3"), D("0.1")), "0.2");
	assert_decimal(decimal_sub(D("1"), D("1.0000000000000001")), "-0.0000000000000001");
	assert_decimal(decimal_mul(D("-2.5"), D("0.4")), "-1");
}

static void test_decimals_are_compared_by_value(void **state)
{
	(void)state;
	assert_int_equal(decimal_compare(D("1.0"), D("1")), 0);
	assert_true(decimal_compare(D("0.1"), D("0.09")) > 0);
	assert_true(decimal_compare(D("-1"), D("0")) < 0);
}

static void test_an_overflow_invalidates_all_later_results(void **state)
{
	struct decimal big = decimal_mul(D("1e30"), D("1e30"));
	char text[DECIMAL_TEXT_SIZE];

	(void)state;
	assert_true(big.broken);
	assert_true(decimal_add(big, D("1")).broken);
	assert_true(decimal_sub(D("1"), big).broken);
	assert_true(decimal_mul(big, D("0")).broken);
	assert_true(decimal_mul(D("1e-20"), D("1e-20")).broken);
	decimal_text(big, 2, text);
	assert_string_equal(text, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decimals_are_parsed_and_formatted),
		cmocka_unit_test(test_invalid_numbers_are_refused),
		cmocka_unit_test(test_amounts_have_at_least_two_decimals),
		cmocka_unit_test(test_arithmetic_is_exact),
		cmocka_unit_test(test_decimals_are_compared_by_value),
		cmocka_unit_test(test_an_overflow_invalidates_all_later_results),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
