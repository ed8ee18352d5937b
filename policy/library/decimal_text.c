/* SPDX-License-Identifier: MPL-2.0 */
/* Decimals from texts and numbers, and back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base.h"
#include "policy/library/decimal_wide.h"

enum {
	KEPT_DIGITS = DECIMAL_DIGITS + 1, /* of a text: more do not change what is rounded half up */
	PLAIN_ZEROS = 6,                  /* 0.0000001 is 1E-7 */
};

#define EXPONENT_LIMIT (INT64_C(1) << 40) /* beyond it more digits change nothing */

struct cursor {
	const char *at, *end;
};

static bool take(struct cursor *cursor, char byte)
{
	if (cursor->at == cursor->end || *cursor->at != byte)
		return false;
	cursor->at++;
	return true;
}

static bool at_digit(const struct cursor *cursor)
{
	return cursor->at < cursor->end && *cursor->at >= '0' && *cursor->at <= '9';
}

struct digits {
	char kept[KEPT_DIGITS + 1];
	size_t count; /* of the kept ones, without zeros in front */
	bool any;
	int64_t exponent; /* of the last kept digit */
};

static void add_digit(struct digits *digits, char digit, bool fraction)
{
	digits->any = true;
	if (digits->count == KEPT_DIGITS) {
		digits->exponent += !fraction;
		return;
	}
	if (digits->count > 0 || digit != '0')
		digits->kept[digits->count++] = digit;
	digits->exponent -= fraction;
}

static void take_digits(struct cursor *cursor, struct digits *digits, bool fraction)
{
	for (; at_digit(cursor); cursor->at++)
		add_digit(digits, *cursor->at, fraction);
}

static bool take_exponent(struct cursor *cursor, int64_t *exponent)
{
	const bool negative = take(cursor, '-');
	int64_t number = 0;

	if (!negative)
		take(cursor, '+');
	if (!at_digit(cursor))
		return false;
	for (; at_digit(cursor); cursor->at++)
		if (number < EXPONENT_LIMIT)
			number = 10 * number + (*cursor->at - '0');
	*exponent += negative ? -number : number;
	return true;
}

static struct decimal digits_round(struct digits *digits, bool negative)
{
	struct wide wide;

	wide_init(&wide);
	if (digits->count > 0) {
		digits->kept[digits->count] = '\0';
		mpz_set_str(wide.coefficient, digits->kept, 10);
	}
	if (negative)
		mpz_neg(wide.coefficient, wide.coefficient);
	wide.exponent = digits->exponent;
	return wide_round(&wide);
}

static bool parse_number(struct cursor *cursor, bool negative, struct decimal *ret_decimal)
{
	struct digits digits = {0};

	take_digits(cursor, &digits, false);
	if (take(cursor, '.'))
		take_digits(cursor, &digits, true);
	if (!digits.any)
		return false;
	if ((take(cursor, 'e') || take(cursor, 'E')) && !take_exponent(cursor, &digits.exponent))
		return false;
	if (cursor->at != cursor->end)
		return false;
	*ret_decimal = digits_round(&digits, negative);
	return true;
}

static bool is_word(const struct cursor *cursor, const char *word)
{
	size_t len = strlen(word);

	return (size_t)(cursor->end - cursor->at) == len && strncasecmp(cursor->at, word, len) == 0;
}

bool decimal_parse(const char *text, size_t len, struct decimal *ret_decimal)
{
	struct cursor cursor = {text, text + len};
	const bool negative = take(&cursor, '-');

	if (!negative)
		take(&cursor, '+');
	if (is_word(&cursor, "inf") || is_word(&cursor, "infinity")) {
		*ret_decimal = decimal_infinity(negative);
		return true;
	}
	if (is_word(&cursor, "nan")) {
		*ret_decimal = decimal_nan();
		return true;
	}
	return parse_number(&cursor, negative, ret_decimal);
}

struct decimal decimal_of_int(int64_t number)
{
	struct decimal decimal = {.negative = number < 0};

	decimal.limbs[0] = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
	return decimal;
}

struct decimal decimal_of_float(double real)
{
	char text[REAL_TEXT_SIZE];
	struct decimal decimal = decimal_nan();

	text_real(text, real);
	decimal_parse(text, strlen(text), &decimal);
	return decimal;
}

struct decimal decimal_infinity(bool negative)
{
	return (struct decimal){.kind = DECIMAL_INFINITE, .negative = negative};
}

struct decimal decimal_nan(void)
{
	return (struct decimal){.kind = DECIMAL_NAN};
}

/* ---- texts ---- */

static size_t coefficient_text(const struct decimal *decimal, char digits[DECIMAL_DIGITS + 2])
{
	struct wide wide;

	wide_of(&wide, decimal);
	mpz_abs(wide.coefficient, wide.coefficient);
	mpz_get_str(digits, 10, wide.coefficient);
	mpz_clear(wide.coefficient);
	return strlen(digits);
}

/* The point stands behind `before` of the digits; 0 or less: zeros stand in front of them. */
static void plain_text(const char *digits, long before, const char *sign, char text[DECIMAL_TEXT_SIZE])
{
	if (before <= 0)
		snprintf(text, DECIMAL_TEXT_SIZE, "%s0.%.*s%s", sign, (int)-before, "00000000", digits);
	else
		snprintf(text, DECIMAL_TEXT_SIZE, "%s%.*s%s%s", sign, (int)before, digits, digits[before] ? "." : "",
			digits + before);
}

static void finite_text(const struct decimal *decimal, char text[DECIMAL_TEXT_SIZE])
{
	char digits[DECIMAL_DIGITS + 2];
	const long len = (long)coefficient_text(decimal, digits);
	const long before = len + decimal->exponent;
	const char *sign = decimal->negative ? "-" : "";

	if (decimal->exponent <= 0 && before > -PLAIN_ZEROS)
		plain_text(digits, before, sign, text);
	else
		snprintf(text, DECIMAL_TEXT_SIZE, "%s%c%s%sE%+ld", sign, digits[0], digits[1] ? "." : "", digits + 1,
			before - 1);
}

char *decimal_text(const struct decimal *decimal, char text[DECIMAL_TEXT_SIZE])
{
	if (decimal->kind == DECIMAL_FINITE)
		finite_text(decimal, text);
	else if (decimal->kind == DECIMAL_INFINITE)
		text_copy(text, DECIMAL_TEXT_SIZE, decimal->negative ? "-Infinity" : "Infinity");
	else
		text_copy(text, DECIMAL_TEXT_SIZE, "NaN");
	return text;
}

double decimal_float(const struct decimal *decimal)
{
	char text[DECIMAL_TEXT_SIZE];

	return strtod(decimal_text(decimal, text), NULL);
}

/* ---- ints ---- */

bool decimal_int(const struct decimal *decimal, int64_t *ret_number)
{
	struct wide wide;
	bool fits;

	if (decimal->kind != DECIMAL_FINITE)
		return false;
	wide_of(&wide, decimal);
	wide_to_whole(&wide, mpz_tdiv_q);
	fits = mpz_fits_slong_p(wide.coefficient) != 0;
	if (fits)
		*ret_number = mpz_get_si(wide.coefficient);
	mpz_clear(wide.coefficient);
	return fits;
}

bool decimal_coefficient(const struct decimal *decimal, int64_t *ret_coefficient)
{
	if (decimal->kind != DECIMAL_FINITE || decimal->limbs[0] > INT64_MAX)
		return false;
	for (int i = 1; i < DECIMAL_LIMBS; i++)
		if (decimal->limbs[i] != 0)
			return false;
	*ret_coefficient = (int64_t)decimal->limbs[0];
	return true;
}

int decimal_sign(const struct decimal *decimal)
{
	if (decimal->kind == DECIMAL_NAN || decimal_is_zero(decimal))
		return 0;
	return decimal->negative ? -1 : 1;
}
