/* SPDX-License-Identifier: MPL-2.0 */
#include "policy/library/decimal_wide.h"

void wide_init(struct wide *wide)
{
	mpz_init(wide->coefficient);
	wide->exponent = 0;
	wide->negative = false;
}

void wide_of(struct wide *wide, const struct decimal *decimal)
{
	wide_init(wide);
	mpz_import(wide->coefficient, DECIMAL_LIMBS, -1, sizeof(decimal->limbs[0]), 0, 0, decimal->limbs);
	wide->exponent = decimal->exponent;
	wide->negative = decimal->negative;
}

static void power_of_ten(mpz_t power, unsigned long digits)
{
	mpz_init(power);
	mpz_ui_pow_ui(power, 10, digits);
}

void wide_scale(struct wide *wide, unsigned long digits)
{
	mpz_t power;

	power_of_ten(power, digits);
	mpz_mul(wide->coefficient, wide->coefficient, power);
	mpz_clear(power);
	wide->exponent -= (int64_t)digits;
}

void wide_strip(struct wide *wide, int64_t limit)
{
	while (wide->exponent < limit && mpz_sgn(wide->coefficient) != 0 && mpz_divisible_ui_p(wide->coefficient, 10)) {
		mpz_divexact_ui(wide->coefficient, wide->coefficient, 10);
		wide->exponent++;
	}
}

void wide_add_rest(struct wide *wide, bool rest)
{
	wide_scale(wide, 1);
	if (rest)
		mpz_add_ui(wide->coefficient, wide->coefficient, 1);
}

/* mpz_sizeinbase is one too large at times. */
unsigned long wide_digits(const mpz_t coefficient)
{
	unsigned long digits;
	mpz_t power;
	bool fewer;

	if (mpz_sgn(coefficient) == 0)
		return 0;
	digits = mpz_sizeinbase(coefficient, 10);
	power_of_ten(power, digits - 1);
	fewer = mpz_cmp(coefficient, power) < 0;
	mpz_clear(power);
	return fewer ? digits - 1 : digits;
}

/* Drops digits from the end; half is rounded up, away from zero. */
static void drop_digits(struct wide *wide, unsigned long digits)
{
	mpz_t power, half;

	power_of_ten(power, digits);
	mpz_init(half);
	mpz_tdiv_q_2exp(half, power, 1);
	mpz_add(wide->coefficient, wide->coefficient, half);
	mpz_tdiv_q(wide->coefficient, wide->coefficient, power);
	mpz_clear(half);
	mpz_clear(power);
	wide->exponent += (int64_t)digits;
}

static void round_digits(struct wide *wide)
{
	unsigned long digits;

	/* 99…9.5 rounds to one digit more. */
	while ((digits = wide_digits(wide->coefficient)) > DECIMAL_DIGITS)
		drop_digits(wide, digits - DECIMAL_DIGITS);
}

/* Below the least exponent digits are dropped, at most all. */
static void raise_exponent(struct wide *wide)
{
	int64_t missing = INT32_MIN - wide->exponent;

	if (missing <= 0)
		return;
	if (missing > DECIMAL_DIGITS + 1) {
		mpz_set_ui(wide->coefficient, 0);
		wide->exponent = INT32_MIN;
		return;
	}
	drop_digits(wide, (unsigned long)missing);
}

/* Above the largest exponent zeros are added, as far as there is room. */
static bool lower_exponent(struct wide *wide)
{
	int64_t extra = wide->exponent - INT32_MAX;

	if (extra <= 0)
		return true;
	if (mpz_sgn(wide->coefficient) == 0) {
		wide->exponent = INT32_MAX;
		return true;
	}
	if (extra + (int64_t)wide_digits(wide->coefficient) > DECIMAL_DIGITS)
		return false;
	wide_scale(wide, (unsigned long)extra);
	return true;
}

static struct decimal to_decimal(const struct wide *wide)
{
	struct decimal decimal = {.exponent = (int32_t)wide->exponent};

	decimal.negative = wide->negative && mpz_sgn(wide->coefficient) != 0;
	mpz_export(decimal.limbs, NULL, -1, sizeof(decimal.limbs[0]), 0, 0, wide->coefficient);
	return decimal;
}

struct decimal wide_round(struct wide *wide)
{
	struct decimal decimal;

	round_digits(wide);
	raise_exponent(wide);
	decimal = lower_exponent(wide) ? to_decimal(wide) : decimal_infinity(wide->negative);
	mpz_clear(wide->coefficient);
	return decimal;
}

bool decimal_is_zero(const struct decimal *decimal)
{
	uint64_t bits = 0;

	for (int i = 0; i < DECIMAL_LIMBS; i++)
		bits |= decimal->limbs[i];
	return decimal->kind == DECIMAL_FINITE && bits == 0;
}

int64_t decimal_magnitude(const struct decimal *decimal)
{
	struct wide wide;
	int64_t magnitude;

	wide_of(&wide, decimal);
	magnitude = wide.exponent + (int64_t)wide_digits(wide.coefficient);
	mpz_clear(wide.coefficient);
	return magnitude;
}
