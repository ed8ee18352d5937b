/* SPDX-License-Identifier: MPL-2.0 */
#include "policy/library/decimal_wide.h"

void wide_init(struct wide *wide)
{
	mpz_init(wide->coefficient);
	wide->exponent = 0;
}

void wide_of(struct wide *wide, const struct decimal *decimal)
{
	wide_init(wide);
	mpz_import(wide->coefficient, DECIMAL_LIMBS, -1, sizeof(decimal->limbs[0]), 0, 0, decimal->limbs);
	if (decimal->negative)
		mpz_neg(wide->coefficient, wide->coefficient);
	wide->exponent = decimal->exponent;
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

void wide_align(struct wide *a, struct wide *b)
{
	if (a->exponent > b->exponent)
		wide_scale(a, (unsigned long)(a->exponent - b->exponent));
	else
		wide_scale(b, (unsigned long)(b->exponent - a->exponent));
}

void wide_to_whole(struct wide *wide, void (*divide)(mpz_t, const mpz_t, const mpz_t))
{
	mpz_t power;

	if (wide->exponent >= 0) {
		wide_scale(wide, (unsigned long)wide->exponent);
		return;
	}
	power_of_ten(power, (unsigned long)-wide->exponent);
	divide(wide->coefficient, wide->coefficient, power);
	mpz_clear(power);
	wide->exponent = 0;
}

void wide_strip(struct wide *wide, int64_t limit)
{
	while (wide->exponent < limit && mpz_sgn(wide->coefficient) != 0 && mpz_divisible_ui_p(wide->coefficient, 10)) {
		mpz_divexact_ui(wide->coefficient, wide->coefficient, 10);
		wide->exponent++;
	}
}

/* mpz_sizeinbase is one too large at times. */
unsigned long wide_digits(const struct wide *wide)
{
	unsigned long digits;
	mpz_t power;
	bool fewer;

	if (mpz_sgn(wide->coefficient) == 0)
		return 0;
	digits = mpz_sizeinbase(wide->coefficient, 10);
	power_of_ten(power, digits - 1);
	fewer = mpz_cmpabs(wide->coefficient, power) < 0;
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
	if (mpz_sgn(wide->coefficient) < 0)
		mpz_neg(half, half);
	mpz_add(wide->coefficient, wide->coefficient, half);
	mpz_tdiv_q(wide->coefficient, wide->coefficient, power);
	mpz_clear(half);
	mpz_clear(power);
	wide->exponent += (int64_t)digits;
}

static int64_t limited(int64_t exponent)
{
	if (exponent > DECIMAL_EXPONENT_MAX)
		return DECIMAL_EXPONENT_MAX;
	return exponent < -DECIMAL_EXPONENT_MAX ? -DECIMAL_EXPONENT_MAX : exponent;
}

/* Of at most DECIMAL_DIGITS. */
static struct decimal to_decimal(const struct wide *wide)
{
	const int sign = mpz_sgn(wide->coefficient);
	struct decimal decimal = {.exponent = (int32_t)limited(wide->exponent)};

	if (sign == 0 || wide->exponent < -DECIMAL_EXPONENT_MAX)
		return decimal;
	if (wide->exponent > DECIMAL_EXPONENT_MAX)
		return decimal_infinity(sign < 0);
	decimal.negative = sign < 0;
	mpz_export(decimal.limbs, NULL, -1, sizeof(decimal.limbs[0]), 0, 0, wide->coefficient);
	return decimal;
}

struct decimal wide_round(struct wide *wide)
{
	struct decimal decimal;
	unsigned long digits;

	/* 99…9.5 rounds to one digit more. */
	while ((digits = wide_digits(wide)) > DECIMAL_DIGITS)
		drop_digits(wide, digits - DECIMAL_DIGITS);
	decimal = to_decimal(wide);
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
