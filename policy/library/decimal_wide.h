/* SPDX-License-Identifier: MPL-2.0 */
#ifndef POLICY_LIBRARY_DECIMAL_WIDE_H
#define POLICY_LIBRARY_DECIMAL_WIDE_H

/* A decimal before it is rounded, with a coefficient of any size. For decimal*.c alone. */

#include <gmp.h>

#include "policy/library/decimal.h"

/* wide_init or wide_of begins it; wide_round or mpz_clear releases it. */
struct wide {
	mpz_t coefficient; /* has the sign */
	int64_t exponent;
};

void wide_init(struct wide *wide);
/* `decimal` is finite. */
void wide_of(struct wide *wide, const struct decimal *decimal);
/* Multiplies the coefficient by 10^digits, and keeps the value. */
void wide_scale(struct wide *wide, unsigned long digits);
/* Gives both the lower one of their exponents. */
void wide_align(struct wide *a, struct wide *b);
/* Gives it the exponent 0. `divide` rounds: mpz_tdiv_q, mpz_fdiv_q, mpz_cdiv_q. */
void wide_to_whole(struct wide *wide, void (*divide)(mpz_t, const mpz_t, const mpz_t));
/* While the coefficient ends with a 0 and the exponent is below the limit: drops the 0. */
void wide_strip(struct wide *wide, int64_t limit);
/* The number of digits; 0 for zero. */
unsigned long wide_digits(const struct wide *wide);
/* Rounds, and releases the wide number. */
struct decimal wide_round(struct wide *wide);

bool decimal_is_zero(const struct decimal *decimal);

#endif
