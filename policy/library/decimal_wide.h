/* SPDX-License-Identifier: MPL-2.0 */
#ifndef POLICY_LIBRARY_DECIMAL_WIDE_H
#define POLICY_LIBRARY_DECIMAL_WIDE_H

/* Between two roundings: a coefficient of any size and an exponent that can't overflow. For decimal*.c alone. */

#include <gmp.h>

#include "policy/library/decimal.h"

/* wide_init or wide_of begins it; wide_round or mpz_clear releases it. */
struct wide {
	mpz_t coefficient; /* not negative */
	int64_t exponent;
	bool negative;
};

void wide_init(struct wide *wide);
/* `decimal` is finite. */
void wide_of(struct wide *wide, const struct decimal *decimal);
/* Multiplies the coefficient by 10^digits, and keeps the value. */
void wide_scale(struct wide *wide, unsigned long digits);
/* While the coefficient ends with a 0 and the exponent is below the limit: drops the 0. */
void wide_strip(struct wide *wide, int64_t limit);
/* Adds a digit behind the coefficient: 1 for a rest that was dropped, so that nothing is taken for a tie. */
void wide_add_rest(struct wide *wide, bool rest);
/* The number of digits; 0 for zero. */
unsigned long wide_digits(const mpz_t coefficient);
/* Rounds, and releases the wide number. */
struct decimal wide_round(struct wide *wide);

/* The most digits before the point, which is also where the exponents are compared; the value is not zero. */
int64_t decimal_magnitude(const struct decimal *decimal);
bool decimal_is_zero(const struct decimal *decimal);

#endif
