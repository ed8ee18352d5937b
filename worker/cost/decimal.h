/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_COST_DECIMAL_H
#define WORKER_COST_DECIMAL_H

/*
 * Exact decimal numbers: an integer of up to 38 digits and the position of the point. Sums, differences and products
 * are never rounded. A result with more than 38 digits is broken, and so is every result that depends on it. So a long
 * calculation needs only one check, at its end.
 */

#include "common/base.h"

struct decimal {
	__int128 units;
	int scale; /* the value is units / 10^scale; minimal and never negative */
	bool broken;
};

enum { DECIMAL_TEXT_SIZE = 96 };

/* Parses "12", "-0.0104", "1e3". Returns -1 and leaves *ret_value unchanged if the text is no such number or is too
 * long. */
int decimal_parse(const char *text, struct decimal *ret_value);
struct decimal decimal_of(long long whole);
struct decimal decimal_add(struct decimal a, struct decimal b);
struct decimal decimal_sub(struct decimal a, struct decimal b);
struct decimal decimal_mul(struct decimal a, struct decimal b);
/* Negative, 0 or positive if a is less than, equal to or greater than b. 0 if one of them is broken. */
int decimal_compare(struct decimal a, struct decimal b);
/* Writes all digits, at least `fewest` of them after the point: with 2 "12.50" and "0.0104". "" if the value is
 * broken. */
void decimal_text(struct decimal value, int fewest, char ret_text[DECIMAL_TEXT_SIZE]);

#endif
