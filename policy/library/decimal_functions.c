/* SPDX-License-Identifier: MPL-2.0 */
/*
 * Powers and logarithms, by MPFR. It works with 1,024 bits: 332 for the digits, as many again for numbers next to 1,
 * whose logarithm has lost the digits before, and the rest for the exponent of a power.
 */
#include <stdlib.h>
#include <string.h>

#include <mpfr.h>

#include "policy/library/decimal_wide.h"

enum {
	BITS = 1024,
	RESULT_DIGITS = DECIMAL_DIGITS + 30,
	EXACT_DIGITS = 4000, /* of a power that is computed with integers */
	MAX_MAGNITUDE = 110, /* of an exponent: the power of any number but 1 is infinite or 0 beyond */
	EXP_MAGNITUDE = 11,  /* e^(10^10) is infinite */
};

static void real_init(mpfr_t real)
{
	mpfr_set_emin(mpfr_get_emin_min());
	mpfr_set_emax(mpfr_get_emax_max());
	mpfr_init2(real, BITS);
}

static void real_of(mpfr_t real, const struct decimal *decimal)
{
	struct wide wide;
	mpfr_t power;

	wide_of(&wide, decimal);
	real_init(real);
	mpfr_init2(power, BITS);
	mpfr_set_si(power, decimal->exponent, MPFR_RNDN);
	mpfr_exp10(power, power, MPFR_RNDN);
	mpfr_mul_z(real, power, wide.coefficient, MPFR_RNDN);
	if (decimal->negative)
		mpfr_neg(real, real, MPFR_RNDN);
	mpfr_clear(power);
	mpz_clear(wide.coefficient);
}

static struct decimal finite_of_real(const mpfr_t real)
{
	mpfr_exp_t point;
	char *digits = mpfr_get_str(NULL, &point, 10, RESULT_DIGITS, real, MPFR_RNDN);
	struct wide wide;

	wide_init(&wide);
	wide.negative = digits[0] == '-';
	mpz_set_str(wide.coefficient, digits + wide.negative, 10);
	wide.exponent = (int64_t)point - RESULT_DIGITS;
	mpfr_free_str(digits);
	wide_strip(&wide, 0);
	return wide_round(&wide);
}

/* Releases the number. */
static struct decimal of_real(mpfr_t real)
{
	struct decimal result;

	if (mpfr_nan_p(real))
		result = decimal_nan();
	else if (mpfr_inf_p(real))
		result = decimal_infinity(mpfr_signbit(real) != 0);
	else if (mpfr_zero_p(real))
		result = decimal_of_int(0);
	else
		result = finite_of_real(real);
	mpfr_clear(real);
	mpfr_free_cache();
	return result;
}

static struct decimal apply(const struct decimal *a, int (*function)(mpfr_t, const mpfr_t, mpfr_rnd_t))
{
	mpfr_t real;

	real_of(real, a);
	function(real, real, MPFR_RNDN);
	return of_real(real);
}

/* ---- logarithms ---- */

static int real_exp(mpfr_t result, const mpfr_t real, mpfr_rnd_t rounding)
{
	return mpfr_exp(result, real, rounding);
}

static int real_log(mpfr_t result, const mpfr_t real, mpfr_rnd_t rounding)
{
	return mpfr_log(result, real, rounding);
}

static int real_log10(mpfr_t result, const mpfr_t real, mpfr_rnd_t rounding)
{
	return mpfr_log10(result, real, rounding);
}

struct decimal decimal_exp(const struct decimal *a)
{
	if (a->kind == DECIMAL_NAN)
		return *a;
	if (decimal_is_zero(a))
		return decimal_of_int(1);
	if (a->kind == DECIMAL_INFINITE || decimal_magnitude(a) > EXP_MAGNITUDE)
		return a->negative ? decimal_of_int(0) : decimal_infinity(false);
	return apply(a, real_exp);
}

static struct decimal logarithm(const struct decimal *a, int (*function)(mpfr_t, const mpfr_t, mpfr_rnd_t))
{
	if (decimal_is_zero(a))
		return decimal_infinity(true);
	if (a->kind == DECIMAL_NAN || a->negative)
		return decimal_nan();
	return a->kind == DECIMAL_INFINITE ? *a : apply(a, function);
}

struct decimal decimal_ln(const struct decimal *a)
{
	return logarithm(a, real_log);
}

struct decimal decimal_log10(const struct decimal *a)
{
	return logarithm(a, real_log10);
}

/* ---- powers ---- */

static bool is_whole(const struct decimal *a)
{
	const struct decimal floor = decimal_floor(a);

	return a->kind == DECIMAL_FINITE && decimal_compare(a, &floor) == 0;
}

static bool is_odd(const struct decimal *a)
{
	const struct decimal two = decimal_of_int(2), rest = decimal_remainder(a, &two);

	return is_whole(a) && decimal_sign(&rest) != 0;
}

/* 0 or infinity to a power that is not 0. The result's sign is the base's for odd powers. */
static struct decimal extreme(const struct decimal *base, const struct decimal *power, bool large)
{
	if (power->negative)
		large = !large;
	return large ? decimal_infinity(base->negative && is_odd(power)) : decimal_of_int(0);
}

/* A power so large that only the base's distance from 1 counts. */
static struct decimal beyond(const struct decimal *base, const struct decimal *power)
{
	const struct decimal one = decimal_of_int(1), size = decimal_absolute(base);
	const int order = decimal_compare(&size, &one);

	if (order == 0)
		return base->negative && is_odd(power) ? *base : one;
	return extreme(base, power, order > 0);
}

/* A small whole power is exact before it is rounded. */
static bool power_exact(const struct decimal *base, const struct decimal *power, struct decimal *ret_result)
{
	struct wide wide;
	int64_t count;

	if (!is_whole(power) || !decimal_int(power, &count) || count < 0 || count > EXACT_DIGITS)
		return false;
	wide_of(&wide, base);
	if ((int64_t)wide_digits(wide.coefficient) * count > EXACT_DIGITS) {
		mpz_clear(wide.coefficient);
		return false;
	}
	mpz_pow_ui(wide.coefficient, wide.coefficient, (unsigned long)count);
	wide.exponent *= count;
	wide.negative = wide.negative && count % 2 != 0;
	*ret_result = wide_round(&wide);
	return true;
}

static struct decimal power_real(const struct decimal *base, const struct decimal *power)
{
	mpfr_t x, y;

	real_of(x, base);
	real_of(y, power);
	/* A fraction whose last digits are lost is no whole number by mistake: its sign is decided here. */
	mpfr_abs(x, x, MPFR_RNDN);
	mpfr_pow(x, x, y, MPFR_RNDN);
	if (base->negative && is_odd(power))
		mpfr_neg(x, x, MPFR_RNDN);
	mpfr_clear(y);
	return of_real(x);
}

static struct decimal power_finite(const struct decimal *base, const struct decimal *power)
{
	struct decimal result;

	if (base->negative && !is_whole(power))
		return decimal_nan();
	if (decimal_magnitude(power) > MAX_MAGNITUDE)
		return beyond(base, power);
	return power_exact(base, power, &result) ? result : power_real(base, power);
}

struct decimal decimal_power(const struct decimal *base, const struct decimal *power)
{
	if (base->kind == DECIMAL_NAN || power->kind == DECIMAL_NAN)
		return decimal_nan();
	if (decimal_is_zero(power))
		return decimal_is_zero(base) ? decimal_nan() : decimal_of_int(1);
	if (decimal_is_zero(base))
		return extreme(base, power, false);
	if (power->kind == DECIMAL_INFINITE)
		return base->negative ? decimal_nan() : beyond(base, power);
	if (base->kind == DECIMAL_INFINITE)
		return base->negative && !is_whole(power) ? decimal_nan() : extreme(base, power, true);
	return power_finite(base, power);
}
