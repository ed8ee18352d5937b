/* SPDX-License-Identifier: MPL-2.0 */
/* The arithmetic that integers suffice for. */
#include "policy/library/decimal_wide.h"

enum { QUOTIENT_DIGITS = 2 * DECIMAL_DIGITS + 2 }; /* by which a dividend is scaled: more digits than are kept */

static bool is_nan(const struct decimal *a, const struct decimal *b)
{
	return a->kind == DECIMAL_NAN || b->kind == DECIMAL_NAN;
}

static bool is_infinite(const struct decimal *a)
{
	return a->kind == DECIMAL_INFINITE;
}

static struct decimal infinite_product(const struct decimal *a, const struct decimal *b)
{
	return decimal_infinity(a->negative != b->negative);
}

static int compare_finite(const struct decimal *a, const struct decimal *b)
{
	struct wide x, y;
	int order;

	wide_of(&x, a);
	wide_of(&y, b);
	wide_align(&x, &y);
	order = mpz_cmp(x.coefficient, y.coefficient);
	mpz_clear(x.coefficient);
	mpz_clear(y.coefficient);
	return (order > 0) - (order < 0);
}

int decimal_compare(const struct decimal *a, const struct decimal *b)
{
	/* An infinite number is beyond all others. */
	const int x = is_infinite(a) ? decimal_sign(a) : 0, y = is_infinite(b) ? decimal_sign(b) : 0;

	if (is_nan(a, b))
		return 2;
	if (x != 0 || y != 0)
		return (x > y) - (x < y);
	return compare_finite(a, b);
}

struct decimal decimal_add(const struct decimal *a, const struct decimal *b)
{
	struct wide x, y;

	if (is_nan(a, b) || (is_infinite(a) && is_infinite(b) && a->negative != b->negative))
		return decimal_nan();
	if (is_infinite(a))
		return *a;
	if (is_infinite(b))
		return *b;
	wide_of(&x, a);
	wide_of(&y, b);
	wide_align(&x, &y);
	mpz_add(x.coefficient, x.coefficient, y.coefficient);
	mpz_clear(y.coefficient);
	return wide_round(&x);
}

struct decimal decimal_subtract(const struct decimal *a, const struct decimal *b)
{
	const struct decimal negated = decimal_negate(b);

	return decimal_add(a, &negated);
}

struct decimal decimal_multiply(const struct decimal *a, const struct decimal *b)
{
	struct wide x, y;

	if (is_nan(a, b))
		return decimal_nan();
	if (is_infinite(a) || is_infinite(b))
		return decimal_is_zero(a) || decimal_is_zero(b) ? decimal_nan() : infinite_product(a, b);
	wide_of(&x, a);
	wide_of(&y, b);
	mpz_mul(x.coefficient, x.coefficient, y.coefficient);
	x.exponent += y.exponent;
	mpz_clear(y.coefficient);
	return wide_round(&x);
}

/* An exact quotient has no zeros that its operands do not imply. */
static struct decimal divide_finite(const struct decimal *a, const struct decimal *b)
{
	struct wide x, y;
	mpz_t rest;

	wide_of(&x, a);
	wide_of(&y, b);
	mpz_init(rest);
	wide_scale(&x, QUOTIENT_DIGITS);
	mpz_tdiv_qr(x.coefficient, rest, x.coefficient, y.coefficient);
	x.exponent -= y.exponent;
	if (mpz_sgn(rest) == 0)
		wide_strip(&x, (int64_t)a->exponent - b->exponent);
	mpz_clear(rest);
	mpz_clear(y.coefficient);
	return wide_round(&x);
}

struct decimal decimal_divide(const struct decimal *a, const struct decimal *b)
{
	if (is_nan(a, b) || (is_infinite(a) && is_infinite(b)) || (decimal_is_zero(a) && decimal_is_zero(b)))
		return decimal_nan();
	if (is_infinite(a) || decimal_is_zero(b))
		return infinite_product(a, b);
	if (is_infinite(b) || decimal_is_zero(a))
		return decimal_of_int(0);
	return divide_finite(a, b);
}

struct decimal decimal_remainder(const struct decimal *a, const struct decimal *b)
{
	const struct decimal x_size = decimal_absolute(a), y_size = decimal_absolute(b);
	struct wide x, y;

	if (is_nan(a, b) || is_infinite(a) || decimal_is_zero(b))
		return decimal_nan();
	if (decimal_is_zero(a) || decimal_compare(&x_size, &y_size) < 0)
		return *a;
	wide_of(&x, a);
	wide_of(&y, b);
	wide_align(&x, &y);
	mpz_tdiv_r(x.coefficient, x.coefficient, y.coefficient);
	mpz_clear(y.coefficient);
	return wide_round(&x);
}

struct decimal decimal_sqrt(const struct decimal *a)
{
	struct wide x;
	mpz_t rest;

	if (a->kind == DECIMAL_NAN || a->negative)
		return decimal_nan();
	if (is_infinite(a) || decimal_is_zero(a))
		return *a;
	wide_of(&x, a);
	mpz_init(rest);
	wide_scale(&x, QUOTIENT_DIGITS + (x.exponent & 1));
	mpz_sqrtrem(x.coefficient, rest, x.coefficient);
	x.exponent /= 2;
	if (mpz_sgn(rest) == 0)
		wide_strip(&x, a->exponent >= 0 ? a->exponent / 2 : (a->exponent - 1) / 2);
	mpz_clear(rest);
	return wide_round(&x);
}

static struct decimal whole(const struct decimal *a, void (*divide)(mpz_t, const mpz_t, const mpz_t))
{
	struct wide x;

	if (a->kind != DECIMAL_FINITE || a->exponent >= 0)
		return *a;
	wide_of(&x, a);
	wide_to_whole(&x, divide);
	return wide_round(&x);
}

struct decimal decimal_ceiling(const struct decimal *a)
{
	return whole(a, mpz_cdiv_q);
}

struct decimal decimal_floor(const struct decimal *a)
{
	return whole(a, mpz_fdiv_q);
}

struct decimal decimal_absolute(const struct decimal *a)
{
	struct decimal result = *a;

	result.negative = false;
	return result;
}

struct decimal decimal_negate(const struct decimal *a)
{
	struct decimal result = *a;

	result.negative = !a->negative && a->kind != DECIMAL_NAN && !decimal_is_zero(a);
	return result;
}
