/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_COST_DECIMAL_H
#define WORKER_COST_DECIMAL_H

/*
 * Decimal numbers, exact: a whole number of 38 digits and where its point is. Sums, differences and products are never
 * rounded. What would pass the 38 digits is broken, and so is all that is made of it, so that a long calculation needs
 * one check, at its end.
 */

#include "common/base.h"

struct decimal {
	__int128 units;
	int scale; /* the value is units / 10^scale; as small as it can be, never negative */
	bool broken;
};

enum { DECIMAL_TEXT_SIZE = 96 };

/* "12", "-0.0104", "1e3". -1 and *ret_value untouched if the text is no such number, or too long for one. */
int decimal_parse(const char *text, struct decimal *ret_value);
struct decimal decimal_of(long long whole);
struct decimal decimal_add(struct decimal a, struct decimal b);
struct decimal decimal_sub(struct decimal a, struct decimal b);
struct decimal decimal_mul(struct decimal a, struct decimal b);
/* Less than 0, 0 or more than 0, as a is less than, equal to or more than b. 0 if one of them is broken. */
int decimal_compare(struct decimal a, struct decimal b);
/* All of its digits, at least `fewest` of them behind the point: with 2 "12.50" and "0.0104". "" if it is broken. */
void decimal_text(struct decimal value, int fewest, char ret_text[DECIMAL_TEXT_SIZE]);

#endif
