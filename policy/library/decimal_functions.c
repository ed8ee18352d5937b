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
	BINARY_EXPONENT_MAX = 400000, /* above that of all decimals: beyond it MPFR gives infinity or 0 */
	RESULT_DIGITS = DECIMAL_DIGITS + 30,
	EXACT_DIGITS = 4000, /* of a power that is computed with integers */
};

static void real_of_finite(mpfr_t real, const struct decimal *decimal)
{
	struct wide wide;

	wide_of(&wide, decimal);
	mpfr_set_si(real, decimal->exponent, MPFR_RNDN);
	mpfr_exp10(real, real, MPFR_RNDN);
	mpfr_mul_z(real, real, wide.coefficient, MPFR_RNDN);
	mpz_clear(wide.coefficient);
}

static void real_of(mpfr_t real, const struct decimal *decimal)
{
	mpfr_set_emin(-BINARY_EXPONENT_MAX);
	mpfr_set_emax(BINARY_EXPONENT_MAX);
	mpfr_init2(real, BITS); /* as NaN */
	if (decimal->kind == DECIMAL_FINITE)
		real_of_finite(real, decimal);
	else if (decimal->kind == DECIMAL_INFINITE)
		mpfr_set_inf(real, decimal->negative ? -1 : 1);
}

static struct decimal finite_of_real(const mpfr_t real)
{
	mpfr_exp_t point;
	char *digits = mpfr_get_str(NULL, &point, 10, RESULT_DIGITS, real, MPFR_RNDN);
	struct wide wide;

	wide_init(&wide);
	mpz_set_str(wide.coefficient, digits, 10);
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

struct decimal decimal_exp(const struct decimal *a)
{
	return apply(a, mpfr_exp);
}

struct decimal decimal_ln(const struct decimal *a)
{
	return apply(a, mpfr_log);
}

struct decimal decimal_log10(const struct decimal *a)
{
	return apply(a, mpfr_log10);
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

/* A small whole power is exact before it is rounded. */
static bool power_exact(const struct decimal *base, const struct decimal *power, struct decimal *ret_result)
{
	struct wide wide;
	int64_t count;

	if (base->kind != DECIMAL_FINITE || !is_whole(power) || !decimal_int(power, &count) || count < 0 ||
		count > EXACT_DIGITS)
		return false;
	wide_of(&wide, base);
	if ((int64_t)wide_digits(&wide) * count > EXACT_DIGITS) {
		mpz_clear(wide.coefficient);
		return false;
	}
	mpz_pow_ui(wide.coefficient, wide.coefficient, (unsigned long)count);
	wide.exponent *= count;
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

struct decimal decimal_power(const struct decimal *base, const struct decimal *power)
{
	struct decimal result;

	if (base->kind == DECIMAL_NAN || power->kind == DECIMAL_NAN)
		return decimal_nan();
	if (decimal_is_zero(power))
		return decimal_is_zero(base) ? decimal_nan() : decimal_of_int(1);
	if (base->negative && !is_whole(power))
		return decimal_nan();
	return power_exact(base, power, &result) ? result : power_real(base, power);
}
