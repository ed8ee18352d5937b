/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/cost/decimal.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* 10^38 is the last power that fits. */
enum { MAX_SCALE = 38, MAX_EXPONENT = 99 };

/* The same value with another number of digits after the point, of which only zeros are removed. */
static struct decimal rescaled(struct decimal value, int scale)
{
	for (; !value.broken && value.scale < scale; value.scale++)
		value.broken = __builtin_mul_overflow(value.units, (__int128)10, &value.units);
	for (; !value.broken && value.scale > scale && value.units % 10 == 0; value.scale--)
		value.units /= 10;
	return value;
}

/* Without trailing zeros, so that equal numbers have the same form and products stay small. */
static struct decimal normal(struct decimal value)
{
	value = rescaled(value, value.units ? 0 : value.scale);
	if (!value.units)
		value.scale = 0;
	return value.broken || value.scale > MAX_SCALE ? (struct decimal){.broken = true} : value;
}

/* Parses "e+06" or an empty text. */
static int exponent_parse(const char *at, long long *ret_exponent)
{
	*ret_exponent = 0;
	if (!*at)
		return 0;
	if (*at != 'e' && *at != 'E')
		return -1;
	at += at[1] == '+' ? 2 : 1;
	return isspace((unsigned char)*at) || *at == '+' ? -1
							 : text_number(at, -MAX_EXPONENT, MAX_EXPONENT, ret_exponent);
}

int decimal_parse(const char *text, struct decimal *ret_value)
{
	struct decimal value = {0};
	const char *at = text, *first;
	long long exponent;
	bool point = false;

	if (!text)
		return -1;
	for (first = at += *at == '-'; isdigit((unsigned char)*at) || (*at == '.' && !point); at++) {
		if (*at == '.')
			point = true;
		else if (__builtin_mul_overflow(value.units, (__int128)10, &value.units) ||
			__builtin_add_overflow(value.units, (__int128)(*at - '0'), &value.units))
			return -1;
		else
			value.scale += point;
	}
	if (at == first || at[-1] == '.' || exponent_parse(at, &exponent) < 0)
		return -1;
	value.scale -= (int)exponent;
	value.units = *text == '-' ? -value.units : value.units;
	value = normal(value);
	if (value.broken)
		return -1;
	*ret_value = value;
	return 0;
}

struct decimal decimal_of(long long whole)
{
	return (struct decimal){.units = whole};
}

struct decimal decimal_add(struct decimal a, struct decimal b)
{
	int scale = a.scale > b.scale ? a.scale : b.scale;

	a = rescaled(a, scale);
	b = rescaled(b, scale);
	a.broken = a.broken || b.broken || __builtin_add_overflow(a.units, b.units, &a.units);
	return normal(a);
}

struct decimal decimal_sub(struct decimal a, struct decimal b)
{
	b.broken = b.broken || __builtin_sub_overflow((__int128)0, b.units, &b.units);
	return decimal_add(a, b);
}

struct decimal decimal_mul(struct decimal a, struct decimal b)
{
	a.broken = a.broken || b.broken || __builtin_mul_overflow(a.units, b.units, &a.units);
	a.scale += b.scale;
	return normal(a);
}

int decimal_compare(struct decimal a, struct decimal b)
{
	struct decimal difference = decimal_sub(a, b);

	return difference.broken ? 0 : (difference.units > 0) - (difference.units < 0);
}

void decimal_text(struct decimal value, int fewest, char ret_text[DECIMAL_TEXT_SIZE])
{
	char digits[DECIMAL_TEXT_SIZE];
	size_t at = sizeof(digits) - 1;
	unsigned __int128 rest = value.units < 0 ? -(unsigned __int128)value.units : (unsigned __int128)value.units;
	int decimals = value.scale > fewest ? value.scale : fewest;
	int written = decimals - value.scale; /* padding zeros */

	ret_text[0] = '\0';
	if (value.broken)
		return;
	at -= (size_t)written;
	memset(digits + at, '0', (size_t)written);
	digits[sizeof(digits) - 1] = '\0';
	for (; rest || written <= decimals; rest /= 10, written++) {
		if (written == decimals && decimals)
			digits[--at] = '.';
		digits[--at] = (char)('0' + (int)(rest % 10));
	}
	snprintf(ret_text, DECIMAL_TEXT_SIZE, "%s%s", value.units < 0 ? "-" : "", digits + at);
}
