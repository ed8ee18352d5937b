/* SPDX-License-Identifier: MPL-2.0 */
#ifndef POLICY_LIBRARY_DECIMAL_H
#define POLICY_LIBRARY_DECIMAL_H

/*
 * Decimal floating point numbers of 100 digits: ± coefficient × 10^exponent. Results are rounded half up.
 *
 * The exponent is between -100,000 and 100,000. A number above that is infinite, one below it is 0. Each function
 * therefore takes bounded time and memory, although it writes exponents out as digits.
 *
 * NaN is the result where there is none (0/0, sqrt(-1), 0 × infinity) and of every function of NaN.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	DECIMAL_DIGITS = 100,
	DECIMAL_EXPONENT_MAX = 100000,
	DECIMAL_LIMBS = 6,       /* 10^100 < 2^384 */
	DECIMAL_TEXT_SIZE = 128, /* digits, sign, point, zeros in front, exponent */
};

enum decimal_kind { DECIMAL_FINITE, DECIMAL_INFINITE, DECIMAL_NAN };

/* A plain value. Zero has no sign. */
struct decimal {
	enum decimal_kind kind;
	bool negative;
	int32_t exponent;
	uint64_t limbs[DECIMAL_LIMBS]; /* the coefficient, below 10^100; the least limb first */
};

/* "-12.50", ".5", "1e-7", "Infinity", "inf", "NaN", in any case. False if the text is no number. */
bool decimal_parse(const char *text, size_t len, struct decimal *ret_decimal);
struct decimal decimal_of_int(int64_t number);
/* The shortest decimal that reads back as the same float. */
struct decimal decimal_of_float(double real);
struct decimal decimal_infinity(bool negative);
struct decimal decimal_nan(void);

/* "12.50", "1E+20", "Infinity", "-Infinity", "NaN". Returns `text`. */
char *decimal_text(const struct decimal *decimal, char text[DECIMAL_TEXT_SIZE]);
/* The nearest float; infinite beyond all floats. */
double decimal_float(const struct decimal *decimal);
/* Without the fraction. False if it has more than 64 bits, or is no finite number. */
bool decimal_int(const struct decimal *decimal, int64_t *ret_number);
/* False if it has more than 63 bits, or is no finite number. */
bool decimal_coefficient(const struct decimal *decimal, int64_t *ret_coefficient);
/* -1, 0, 1; 0 for NaN. */
int decimal_sign(const struct decimal *decimal);

/* -1, 0, 1; 2 if one is NaN. */
int decimal_compare(const struct decimal *a, const struct decimal *b);

struct decimal decimal_add(const struct decimal *a, const struct decimal *b);
struct decimal decimal_subtract(const struct decimal *a, const struct decimal *b);
struct decimal decimal_multiply(const struct decimal *a, const struct decimal *b);
/* x/0 is infinite. */
struct decimal decimal_divide(const struct decimal *a, const struct decimal *b);
/* With the sign of `a`. */
struct decimal decimal_remainder(const struct decimal *a, const struct decimal *b);
struct decimal decimal_power(const struct decimal *a, const struct decimal *b);

struct decimal decimal_exp(const struct decimal *a);
struct decimal decimal_ln(const struct decimal *a);
struct decimal decimal_log10(const struct decimal *a);
struct decimal decimal_sqrt(const struct decimal *a);
struct decimal decimal_ceiling(const struct decimal *a);
struct decimal decimal_floor(const struct decimal *a);
struct decimal decimal_absolute(const struct decimal *a);
struct decimal decimal_negate(const struct decimal *a);

#endif
