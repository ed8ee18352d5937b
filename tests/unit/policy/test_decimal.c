/* SPDX-License-Identifier: MPL-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include "common/base.h"
#include "policy/library/decimal.h"

typedef struct decimal binary(const struct decimal *a, const struct decimal *b);

static struct decimal D(const char *text) {
	struct decimal decimal;

	if (!decimal_parse(text, strlen(text), &decimal))
		fail_msg("%s is not parsed", text);
	return decimal;
}

static void
assert_decimal(struct decimal decimal, const char *wanted)
{
	char text[DECIMAL_TEXT_SIZE];

	assert_string_equal(decimal_text(&decimal, text), wanted);
}

static void assert_operation(binary *operation, const char *a, const char *b, const char *wanted)
{
	const struct decimal x = D(a), y = D(b);

	assert_decimal(operation(&x, &y), wanted);
}

/* Functions of one number take the same arguments in the table. */
#define UNARY(name)                                                                                                    \
	static struct decimal unary_##name(const struct decimal *a, const struct decimal *b)                           \
	{                                                                                                              \
		(void)b;                                                                                               \
		return decimal_##name(a);                                                                              \
	}

UNARY(exp)
UNARY(ln)
UNARY(log10)
UNARY(sqrt)
UNARY(ceiling)
UNARY(floor)
UNARY(absolute)
UNARY(negate)

static const struct {
	const char *name;
	binary *operation;
} operations[] = {
	{"add", decimal_add},
	{"subtract", decimal_subtract},
	{"multiply", decimal_multiply},
	{"divide", decimal_divide},
	{"remainder", decimal_remainder},
	{"power", decimal_power},
	{"exp", unary_exp},
	{"ln", unary_ln},
	{"log10", unary_log10},
	{"sqrt", unary_sqrt},
	{"ceiling", unary_ceiling},
	{"floor", unary_floor},
};

struct row {
	const char *name;
	const char *a, *b, *result;
};

static const struct row rows[] = {
#define ROW(name, a, b, result) {#name, a, b, result},
#include "tests/unit/policy/decimal_rows.def"
#undef ROW
};

static binary *find_operation(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(operations); i++)
		if (strcmp(operations[i].name, name) == 0)
			return operations[i].operation;
	fail_msg("no operation %s", name);
	return NULL;
}

static void test_results_are_those_of_another_implementation(void **state)
{
	(void)state;
	assert_true(ARRAY_LEN(rows) >= 200);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct row *row = &rows[i];
		const struct decimal a = D(row->a), b = D(row->b), wanted = D(row->result);
		const struct decimal result = find_operation(row->name)(&a, &b);
		char text[DECIMAL_TEXT_SIZE];

		if (decimal_compare(&result, &wanted) != 0)
			fail_msg("%s %s %s:\n%s, not\n%s", row->a, row->name, row->b, decimal_text(&result, text),
				row->result);
	}
}

static void test_texts(void **state)
{
	static const char *const pairs[][2] = {
		{"1.10", "1.10"},
		{"+1", "1"},
		{"-0.50", "-0.50"},
		{".5", "0.5"},
		{"5.", "5"},
		{"0012", "12"},
		{"0", "0"},
		{"-0", "0"},
		{"0.00", "0.00"},
		{"1e3", "1E+3"},
		{"12e3", "1.2E+4"},
		{"1e-6", "0.000001"},
		{"1e-7", "1E-7"},
		{"123e-9", "1.23E-7"},
		{"1E+100000", "1E+100000"},
		{"10e100000", "1.0E+100001"},
		{"1e100001", "Infinity"},
		{"-1e99999999999999999999", "-Infinity"},
		{"1e-100000", "1E-100000"},
		{"1e-100001", "0E-100000"},
		{"5e-100001", "0E-100000"},
		{"0e99999999999999999999", "0E+100000"},
		{"inf", "Infinity"},
		{"-Infinity", "-Infinity"},
		{"NaN", "NaN"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(pairs); i++)
		assert_decimal(D(pairs[i][0]), pairs[i][1]);
}

static void test_what_is_no_number_is_refused(void **state)
{
	static const char *const texts[] = {"", "+", "-", ".", "e5", "1e", "1e+", "1x", " 1", "1 ", "--1", "1.2.3",
		"0x10", "infin", "nanny", "1_000"};
	struct decimal decimal;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		if (decimal_parse(texts[i], strlen(texts[i]), &decimal))
			fail_msg("%s is accepted", texts[i]);
}

/* A hundred ones, and then `more`. */
static void assert_rounded(const char *more, const char *wanted_end)
{
	char ones[DECIMAL_DIGITS + 1] = "", text[DECIMAL_DIGITS + 32], wanted[DECIMAL_DIGITS + 32];

	memset(ones, '1', DECIMAL_DIGITS);
	snprintf(text, sizeof(text), "%s%s", ones, more);
	snprintf(wanted, sizeof(wanted), "1.%.*s%s", DECIMAL_DIGITS - 2, ones, wanted_end);
	assert_decimal(D(text), wanted);
}

static void test_more_digits_are_rounded_half_up(void **state)
{
	char nines[DECIMAL_DIGITS + 2] = "", zeros[DECIMAL_DIGITS] = "", wanted[DECIMAL_DIGITS + 32];

	(void)state;
	assert_rounded("5", "2E+100");
	assert_rounded("4", "1E+100");
	assert_rounded("49999999", "1E+107");
	assert_rounded("50000001", "2E+107");
	assert_rounded("4.9999999", "1E+100");
	memset(nines, '9', DECIMAL_DIGITS + 1);
	memset(zeros, '0', DECIMAL_DIGITS - 1);
	snprintf(wanted, sizeof(wanted), "1.%sE+101", zeros);
	assert_decimal(D(nines), wanted);
}

static void test_numbers(void **state)
{
	int64_t number = 7;
	struct decimal decimal;

	(void)state;
	assert_decimal(decimal_of_int(INT64_MIN), "-9223372036854775808");
	assert_decimal(decimal_of_int(INT64_MAX), "9223372036854775807");
	assert_decimal(decimal_of_float(0.1), "0.1");
	assert_decimal(decimal_of_float(-1.5), "-1.5");
	assert_decimal(decimal_of_float(1e300), "1E+300");
	assert_decimal(decimal_of_float(INFINITY), "Infinity");
	assert_decimal(decimal_of_float(NAN), "NaN");
	decimal = D("-9223372036854775808.99");
	assert_true(decimal_int(&decimal, &number));
	assert_true(number == INT64_MIN);
	decimal = D("9223372036854775808");
	assert_false(decimal_int(&decimal, &number));
	decimal = D("1e100000");
	assert_false(decimal_int(&decimal, &number));
	assert_true(isinf(decimal_float(&decimal)));
	decimal = D("-0.99");
	assert_true(decimal_int(&decimal, &number));
	assert_int_equal(number, 0);
	decimal = D("12e2");
	assert_true(decimal_int(&decimal, &number));
	assert_int_equal(number, 1200);
	assert_true(decimal_coefficient(&decimal, &number));
	assert_int_equal(number, 12);
	decimal = D("1e-100000");
	assert_true(decimal_float(&decimal) == 0);
	decimal = D("0.1");
	assert_true(decimal_float(&decimal) == 0.1);
}

static void test_there_is_no_result(void **state)
{
	(void)state;
	assert_operation(unary_sqrt, "-1", "0", "NaN");
	assert_operation(decimal_multiply, "0", "inf", "NaN");
	assert_operation(decimal_add, "inf", "-inf", "NaN");
	assert_operation(decimal_subtract, "inf", "inf", "NaN");
	assert_operation(decimal_divide, "0", "0", "NaN");
	assert_operation(decimal_divide, "inf", "inf", "NaN");
	assert_operation(decimal_remainder, "1", "0", "NaN");
	assert_operation(decimal_remainder, "inf", "2", "NaN");
	assert_operation(decimal_power, "0", "0", "NaN");
	assert_operation(decimal_power, "-2", "0.5", "NaN");
	assert_operation(decimal_power, "-2", "inf", "NaN");
	assert_operation(unary_ln, "-1", "0", "NaN");
	assert_operation(unary_log10, "-inf", "0", "NaN");
	assert_operation(decimal_add, "NaN", "1", "NaN");
	assert_operation(unary_exp, "NaN", "1", "NaN");
	assert_operation(unary_floor, "NaN", "1", "NaN");
	assert_operation(unary_negate, "NaN", "1", "NaN");
}

static void test_infinity(void **state)
{
	(void)state;
	assert_operation(decimal_add, "inf", "1", "Infinity");
	assert_operation(decimal_subtract, "1", "inf", "-Infinity");
	assert_operation(decimal_multiply, "-2", "inf", "-Infinity");
	assert_operation(decimal_divide, "1", "0", "Infinity");
	assert_operation(decimal_divide, "-1", "0", "-Infinity");
	assert_operation(decimal_divide, "1", "-inf", "0");
	assert_operation(decimal_remainder, "5", "inf", "5");
	assert_operation(unary_ln, "0", "0", "-Infinity");
	assert_operation(unary_exp, "inf", "0", "Infinity");
	assert_operation(unary_exp, "-inf", "0", "0");
	assert_operation(unary_exp, "1e10", "0", "Infinity");
	assert_operation(unary_exp, "-1e90000", "0", "0");
	assert_operation(unary_sqrt, "inf", "0", "Infinity");
	assert_operation(decimal_power, "inf", "-1", "0");
	assert_operation(decimal_power, "-inf", "3", "-Infinity");
	assert_operation(decimal_power, "-inf", "2", "Infinity");
	assert_operation(decimal_power, "0.5", "inf", "0");
	assert_operation(decimal_power, "2", "inf", "Infinity");
	assert_operation(decimal_power, "1", "inf", "1");
	assert_operation(decimal_power, "0", "-1", "Infinity");
	assert_operation(decimal_power, "0", "5", "0");
	assert_operation(decimal_power, "5", "0", "1");
	assert_operation(unary_absolute, "-inf", "0", "Infinity");
	assert_operation(unary_floor, "-inf", "0", "-Infinity");
}

static void test_large_exponents(void **state)
{
	(void)state;
	assert_operation(decimal_add, "1e100000", "1e-100000",
		"1."
		"000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000E+"
		"100000");
	assert_operation(decimal_power, "10", "100100", "Infinity");
	assert_operation(decimal_power, "10", "-100001", "0E-100000");
	assert_operation(decimal_power, "10", "1e90000", "Infinity");
	assert_operation(decimal_power, "-1", "1e90000", "1");
	assert_operation(decimal_power, "0.9", "1e90000", "0");
	assert_operation(decimal_power, "1.0000001", "1e90000", "Infinity");
	assert_operation(decimal_power, "-2", "1e90000", "Infinity");
	assert_operation(decimal_multiply, "1e90000", "-1e90000", "-Infinity");
	assert_operation(decimal_divide, "1e-90000", "1e90000", "0E-100000");
	assert_operation(decimal_remainder, "1e90000", "7", "1");
	assert_operation(decimal_remainder, "1", "1e90000", "1");
	assert_operation(unary_floor, "-1e-90000", "0", "-1");
	assert_operation(unary_ceiling, "1e-90000", "0", "1");
	assert_operation(unary_sqrt, "4e90000", "0", "2E+45000");
	assert_operation(unary_log10, "1e90000", "0", "90000");
	assert_operation(unary_log10, "1e-90000", "0", "-90000");
	assert_operation(unary_exp, "23000", "0",
		"5.930397100695370230967511562199520542642367665360848571613542908279768540958060951162305156557851259"
		"E+9988");
}

static int compare(const char *a, const char *b)
{
	const struct decimal x = D(a), y = D(b);

	return decimal_compare(&x, &y);
}

static void test_order(void **state)
{
	(void)state;
	assert_int_equal(compare("1.10", "1.1"), 0);
	assert_int_equal(compare("0", "-0.00"), 0);
	assert_int_equal(compare("1", "2"), -1);
	assert_int_equal(compare("-1", "-2"), 1);
	assert_int_equal(compare("-1", "1e-90000"), -1);
	assert_int_equal(compare("1e90000", "9e89999"), 1);
	assert_int_equal(compare("10e89999", "1e90000"), 0);
	assert_int_equal(compare("inf", "1e90000"), 1);
	assert_int_equal(compare("-inf", "-1e90000"), -1);
	assert_int_equal(compare("inf", "inf"), 0);
	assert_int_equal(compare("NaN", "NaN"), 2);
	assert_int_equal(compare("NaN", "1"), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_results_are_those_of_another_implementation),
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_what_is_no_number_is_refused),
		cmocka_unit_test(test_more_digits_are_rounded_half_up),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_there_is_no_result),
		cmocka_unit_test(test_infinity),
		cmocka_unit_test(test_large_exponents),
		cmocka_unit_test(test_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
