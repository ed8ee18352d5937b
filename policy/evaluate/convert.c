/* SPDX-License-Identifier: MPL-2.0 */
/* int(), float(), string() and bool(). Undefined for what can't be converted. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/evaluate/activation.h"

enum { NUMBER_TEXT = 400 }; /* the longest float has 309 digits before the point and 6 behind it */

/* The text as a terminated one. False if it is too long for a number or has a zero byte. */
static bool number_text(struct value string, char text[NUMBER_TEXT])
{
	size_t len = string_len(string);

	if (len == 0 || len >= NUMBER_TEXT || memchr(string_bytes(string), '\0', len))
		return false;
	memcpy(text, string_bytes(string), len);
	text[len] = '\0';
	return true;
}

static const char *after_sign(const char *text)
{
	return *text == '-' || *text == '+' ? text + 1 : text;
}

static bool all_of(const char *text, const char *characters)
{
	return *text && text[strspn(text, characters)] == '\0';
}

/* 0 if the digits are no literal of an int. */
static int base_of(const char *digits)
{
	if (digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X'))
		return all_of(digits + 2, "0123456789abcdefABCDEF") ? 16 : 0;
	if (digits[0] == '0' && digits[1])
		return all_of(digits, "01234567") ? 8 : 0;
	return all_of(digits, "0123456789") ? 10 : 0;
}

static struct value int_of_string(struct run *run, struct value string)
{
	char text[NUMBER_TEXT];
	long long number;
	int base;

	if (!number_text(string, text))
		return value_undefined(run);
	base = base_of(after_sign(text));
	if (base == 0)
		return value_undefined(run);
	errno = 0;
	number = strtoll(text, NULL, base);
	return errno == 0 ? value_int(number) : value_undefined(run);
}

static struct value int_of_float(struct run *run, double real)
{
	if (!(real >= -9223372036854775808.0 && real < 9223372036854775808.0))
		return value_undefined(run);
	return value_int((int64_t)real);
}

struct value convert_int(struct run *run, struct value value)
{
	switch (value.type) {
	case VALUE_INT:
		return value;
	case VALUE_BOOL:
		return value_int(value.truth);
	case VALUE_FLOAT:
		return int_of_float(run, value.real);
	case VALUE_STRING:
		return int_of_string(run, value);
	default:
		return value_undefined(run);
	}
}

static struct value float_of_string(struct run *run, struct value string)
{
	char text[NUMBER_TEXT], *end;
	double real;

	if (!number_text(string, text) || !all_of(text, "0123456789.eE+-"))
		return value_undefined(run);
	real = strtod(text, &end);
	return *end == '\0' && isfinite(real) ? value_float(real) : value_undefined(run);
}

struct value convert_float(struct run *run, struct value value)
{
	switch (value.type) {
	case VALUE_FLOAT:
		return value;
	case VALUE_INT:
		return value_float((double)value.number);
	case VALUE_BOOL:
		return value_float(value.truth);
	case VALUE_STRING:
		return float_of_string(run, value);
	default:
		return value_undefined(run);
	}
}

static struct value string_of_float(struct run *run, double real)
{
	char text[NUMBER_TEXT];

	snprintf(text, sizeof(text), "%f", real);
	return string_text(run, text);
}

struct value convert_string(struct run *run, struct value value)
{
	switch (value.type) {
	case VALUE_STRING:
		return value;
	case VALUE_BOOL:
	case VALUE_INT:
		return value_print(run, value, VALUE_BARE);
	case VALUE_FLOAT:
		return string_of_float(run, value.real);
	default:
		return value_undefined(run);
	}
}

static struct value bool_of_string(struct run *run, struct value string)
{
	static const struct {
		const char *text;
		bool truth;
	} texts[] = {
		{"1", true},
		{"t", true},
		{"T", true},
		{"TRUE", true},
		{"true", true},
		{"True", true},
		{"0", false},
		{"f", false},
		{"F", false},
		{"FALSE", false},
		{"false", false},
		{"False", false},
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (string_equals(string, texts[i].text))
			return value_bool(texts[i].truth);
	return value_undefined(run);
}

struct value convert_bool(struct run *run, struct value value)
{
	switch (value.type) {
	case VALUE_BOOL:
		return value;
	case VALUE_INT:
		return value_bool(value.number != 0);
	case VALUE_FLOAT:
		return value_bool(value.real != 0);
	case VALUE_STRING:
		return bool_of_string(run, value);
	default:
		return value_undefined(run);
	}
}
