/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/cost/decimal.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* 10^38 is the last power that fits. */
enum { MAX_SCALE = 38, MAX_EXPONENT = 99 };

static const struct decimal broken_value = {.broken = true};

/* Removes trailing zeros, so that equal numbers have the same form and products stay small. */
static struct decimal trimmed(struct decimal value)
{
	while (value.scale > 0 && value.units % 10 == 0) {
		value.units /= 10;
		value.scale--;
	}
	return value.scale > MAX_SCALE ? broken_value : value;
}

/* The same value with more digits after the point. */
static struct decimal rescaled(struct decimal value, int scale)
{
	while (!value.broken && value.scale < scale) {
		if (__builtin_mul_overflow(value.units, (__int128)10, &value.units))
			return broken_value;
		value.scale++;
	}
	return value;
}

static int digit_add(struct decimal *value, char digit)
{
	if (__builtin_mul_overflow(value->units, (__int128)10, &value->units) ||
		__builtin_add_overflow(value->units, (__int128)(digit - '0'), &value->units))
		return -1;
	return 0;
}

/* Parses "123.450". Returns its end, or NULL. */
static const char *digits_parse(const char *at, struct decimal *value)
{
	bool point = false;
	int digits = 0;

	for (; isdigit((unsigned char)*at) || (*at == '.' && !point); at++) {
		if (*at == '.') {
			point = true;
			continue;
		}
		if (digit_add(value, *at) < 0)
			return NULL;
		value->scale += point;
		digits++;
	}
	return digits && at[-1] != '.' ? at : NULL;
}

/* Parses "e+06" or an empty text. -1 for anything else. */
static int exponent_apply(const char *at, struct decimal *value)
{
	long long exponent = 0;

	if (!*at)
		return 0;
	if (*at != 'e' && *at != 'E')
		return -1;
	at += at[1] == '+' ? 2 : 1;
	if (isspace((unsigned char)*at) || *at == '+' || text_number(at, -MAX_EXPONENT, MAX_EXPONENT, &exponent) < 0)
		return -1;
	value->scale -= (int)exponent;
	if (value->scale < 0) {
		int missing = -value->scale;

		value->scale = 0;
		*value = rescaled(*value, value->units ? missing : 0);
		value->scale = 0;
	}
	return 0;
}

int decimal_parse(const char *text, struct decimal *ret_value)
{
	struct decimal value = {0};
	const char *at = text;
	bool negative;

	if (!text)
		return -1;
	negative = *at == '-';
	at = digits_parse(at + negative, &value);
	if (!at || exponent_apply(at, &value) < 0)
		return -1;
	value = value.broken ? value : trimmed(value);
	if (value.broken)
		return -1;
	if (negative)
		value.units = -value.units;
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
	if (a.broken || b.broken || __builtin_add_overflow(a.units, b.units, &a.units))
		return broken_value;
	return trimmed(a);
}

struct decimal decimal_sub(struct decimal a, struct decimal b)
{
	if (__builtin_sub_overflow((__int128)0, b.units, &b.units))
		return broken_value;
	return decimal_add(a, b);
}

struct decimal decimal_mul(struct decimal a, struct decimal b)
{
	if (a.broken || b.broken || __builtin_mul_overflow(a.units, b.units, &a.units))
		return broken_value;
	a.scale += b.scale;
	return trimmed(a);
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
