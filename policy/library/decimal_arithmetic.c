/* SPDX-License-Identifier: MPL-2.0 */
/* The arithmetic that integers suffice for. */
#include "policy/library/decimal_wide.h"

/* Beyond so many digits between two exponents, the lesser number only says whether there is a rest. */
enum { FAR = 3 * DECIMAL_DIGITS };

static bool is_nan(const struct decimal *a, const struct decimal *b)
{
	return a->kind == DECIMAL_NAN || b->kind == DECIMAL_NAN;
}

static bool is_infinite(const struct decimal *a)
{
	return a->kind == DECIMAL_INFINITE;
}

/* ---- order ---- */

static int compare_coefficients(const struct decimal *a, const struct decimal *b)
{
	struct wide x, y;
	int order;

	wide_of(&x, a);
	wide_of(&y, b);
	if (x.exponent > y.exponent)
		wide_scale(&x, (unsigned long)(x.exponent - y.exponent));
	else
		wide_scale(&y, (unsigned long)(y.exponent - x.exponent));
	order = mpz_cmp(x.coefficient, y.coefficient);
	mpz_clear(x.coefficient);
	mpz_clear(y.coefficient);
	return (order > 0) - (order < 0);
}

/* Neither is zero. Of the same magnitude, the exponents are at most 100 apart. */
static int compare_magnitudes(const struct decimal *a, const struct decimal *b)
{
	int64_t x, y;

	if (is_infinite(a) || is_infinite(b))
		return is_infinite(a) - is_infinite(b);
	x = decimal_magnitude(a);
	y = decimal_magnitude(b);
	if (x != y)
		return x < y ? -1 : 1;
	return compare_coefficients(a, b);
}

int decimal_compare(const struct decimal *a, const struct decimal *b)
{
	const int sign = decimal_sign(a), other = decimal_sign(b);

	if (is_nan(a, b))
		return 2;
	if (sign != other)
		return sign < other ? -1 : 1;
	return sign == 0 ? 0 : sign * compare_magnitudes(a, b);
}

/* ---- sums ---- */

static void wide_set_sign(struct wide *wide)
{
	if (wide->negative)
		mpz_neg(wide->coefficient, wide->coefficient);
}

static void wide_take_sign(struct wide *wide)
{
	wide->negative = mpz_sgn(wide->coefficient) < 0;
	mpz_abs(wide->coefficient, wide->coefficient);
}

/* The exponent of x is the larger one. What is far below x is replaced by one unit below all digits of x. */
static void align(struct wide *x, struct wide *y)
{
	if (x->exponent - y->exponent <= FAR || mpz_sgn(x->coefficient) == 0)
		return;
	if (mpz_sgn(y->coefficient) != 0)
		mpz_set_ui(y->coefficient, 1);
	y->exponent = x->exponent - FAR;
}

static struct decimal add_finite(const struct decimal *a, const struct decimal *b)
{
	const bool swapped = a->exponent < b->exponent;
	struct wide x, y;

	wide_of(&x, swapped ? b : a);
	wide_of(&y, swapped ? a : b);
	align(&x, &y);
	/* Zero has any exponent. */
	if (mpz_sgn(x.coefficient) == 0 && x.exponent - y.exponent > FAR)
		x.exponent = y.exponent;
	wide_scale(&x, (unsigned long)(x.exponent - y.exponent));
	wide_set_sign(&x);
	wide_set_sign(&y);
	mpz_add(x.coefficient, x.coefficient, y.coefficient);
	mpz_clear(y.coefficient);
	wide_take_sign(&x);
	return wide_round(&x);
}

struct decimal decimal_add(const struct decimal *a, const struct decimal *b)
{
	if (is_nan(a, b) || (is_infinite(a) && is_infinite(b) && a->negative != b->negative))
		return decimal_nan();
	if (is_infinite(a))
		return *a;
	if (is_infinite(b))
		return *b;
	return add_finite(a, b);
}

struct decimal decimal_subtract(const struct decimal *a, const struct decimal *b)
{
	const struct decimal negated = decimal_negate(b);

	return decimal_add(a, &negated);
}

/* ---- products ---- */

struct decimal decimal_multiply(const struct decimal *a, const struct decimal *b)
{
	struct wide x, y;

	if (is_nan(a, b))
		return decimal_nan();
	if (is_infinite(a) || is_infinite(b))
		return decimal_is_zero(a) || decimal_is_zero(b) ? decimal_nan()
								: decimal_infinity(a->negative != b->negative);
	wide_of(&x, a);
	wide_of(&y, b);
	mpz_mul(x.coefficient, x.coefficient, y.coefficient);
	x.exponent += y.exponent;
	x.negative = x.negative != y.negative;
	mpz_clear(y.coefficient);
	return wide_round(&x);
}

static struct decimal zero(void)
{
	return decimal_of_int(0);
}

static struct decimal divide_special(const struct decimal *a, const struct decimal *b)
{
	if (is_infinite(a))
		return is_infinite(b) ? decimal_nan() : decimal_infinity(a->negative != b->negative);
	if (is_infinite(b))
		return zero();
	return decimal_is_zero(a) ? decimal_nan() : decimal_infinity(a->negative);
}

/* A quotient of more digits than are kept, and a rest. An exact one has no zeros that its operands do not imply. */
static struct decimal divide_finite(const struct decimal *a, const struct decimal *b)
{
	const int64_t ideal = (int64_t)a->exponent - b->exponent;
	struct wide x, y;
	mpz_t rest;

	wide_of(&x, a);
	wide_of(&y, b);
	mpz_init(rest);
	wide_scale(&x, 2 * DECIMAL_DIGITS + 2);
	mpz_tdiv_qr(x.coefficient, rest, x.coefficient, y.coefficient);
	x.exponent -= y.exponent;
	x.negative = x.negative != y.negative;
	if (mpz_sgn(rest) != 0)
		wide_add_rest(&x, true);
	else
		wide_strip(&x, ideal);
	mpz_clear(rest);
	mpz_clear(y.coefficient);
	return wide_round(&x);
}

struct decimal decimal_divide(const struct decimal *a, const struct decimal *b)
{
	if (is_nan(a, b))
		return decimal_nan();
	if (is_infinite(a) || is_infinite(b) || decimal_is_zero(b))
		return divide_special(a, b);
	if (decimal_is_zero(a))
		return zero();
	return divide_finite(a, b);
}

/* x × 10^shift modulo y, for any shift. */
static void remainder_shifted(struct wide *x, const mpz_t y, uint64_t shift)
{
	mpz_t power, ten;

	mpz_init(power);
	mpz_init_set_ui(ten, 10);
	mpz_powm_ui(power, ten, shift, y);
	mpz_mul(x->coefficient, x->coefficient, power);
	mpz_tdiv_r(x->coefficient, x->coefficient, y);
	mpz_clear(ten);
	mpz_clear(power);
}

/* |a| is not below |b|, so the exponent of b is at most 100 above that of a. */
static struct decimal remainder_finite(const struct decimal *a, const struct decimal *b)
{
	struct wide x, y;

	wide_of(&x, a);
	wide_of(&y, b);
	if (x.exponent >= y.exponent) {
		remainder_shifted(&x, y.coefficient, (uint64_t)(x.exponent - y.exponent));
		x.exponent = y.exponent;
	} else {
		wide_scale(&y, (unsigned long)(y.exponent - x.exponent));
		mpz_tdiv_r(x.coefficient, x.coefficient, y.coefficient);
	}
	mpz_clear(y.coefficient);
	return wide_round(&x);
}

struct decimal decimal_remainder(const struct decimal *a, const struct decimal *b)
{
	if (is_nan(a, b) || is_infinite(a) || decimal_is_zero(b))
		return decimal_nan();
	if (decimal_is_zero(a) || compare_magnitudes(a, b) < 0)
		return *a;
	return remainder_finite(a, b);
}

/* ---- of one number ---- */

struct decimal decimal_sqrt(const struct decimal *a)
{
	const int64_t ideal = a->exponent >= 0 ? a->exponent / 2 : -((1 - (int64_t)a->exponent) / 2);
	struct wide x;
	mpz_t rest;

	if (a->kind == DECIMAL_NAN || (a->negative && !decimal_is_zero(a)))
		return decimal_nan();
	if (is_infinite(a) || decimal_is_zero(a))
		return *a;
	wide_of(&x, a);
	mpz_init(rest);
	wide_scale(&x, 2 * DECIMAL_DIGITS + 2 + (x.exponent & 1));
	mpz_sqrtrem(x.coefficient, rest, x.coefficient);
	x.exponent /= 2;
	if (mpz_sgn(rest) != 0)
		wide_add_rest(&x, true);
	else
		wide_strip(&x, ideal);
	mpz_clear(rest);
	return wide_round(&x);
}

/* The whole number next to `a`, towards zero or away from it. */
static struct decimal whole(const struct decimal *a, bool away)
{
	struct wide x;
	mpz_t power, rest;

	if (a->kind != DECIMAL_FINITE || a->exponent >= 0)
		return *a;
	if (decimal_is_zero(a))
		return zero();
	if (decimal_magnitude(a) <= 0)
		return decimal_of_int(!away ? 0 : a->negative ? -1 : 1);
	wide_of(&x, a);
	mpz_init(power);
	mpz_init(rest);
	mpz_ui_pow_ui(power, 10, (unsigned long)-x.exponent);
	mpz_tdiv_qr(x.coefficient, rest, x.coefficient, power);
	if (away && mpz_sgn(rest) != 0)
		mpz_add_ui(x.coefficient, x.coefficient, 1);
	x.exponent = 0;
	mpz_clear(rest);
	mpz_clear(power);
	return wide_round(&x);
}

struct decimal decimal_ceiling(const struct decimal *a)
{
	return whole(a, !a->negative);
}

struct decimal decimal_floor(const struct decimal *a)
{
	return whole(a, a->negative);
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
