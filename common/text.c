/* SPDX-License-Identifier: MPL-2.0 */
#include "common/text.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool text_equal(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}

uint64_t text_hash(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3;
	return hash;
}

bool text_starts(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

const char *text_or_empty(const char *text)
{
	return text ? text : "";
}

const char *text_or_null(const char *text)
{
	return text && *text ? text : NULL;
}

void text_copy(char *field, size_t size, const char *text)
{
	size_t len = strlen(text_or_empty(text));

	if (len >= size) {
		len = size - 1;
		/* Does not split a UTF-8 character. */
		while (len && ((unsigned char)text[len] & 0xc0) == 0x80)
			len--;
	}
	memcpy(field, text_or_empty(text), len);
	field[len] = '\0';
}

void text_copy_lower(char *field, size_t size, const char *text)
{
	text_copy(field, size, text);
	for (char *at = field; *at; at++)
		if (*at >= 'A' && *at <= 'Z')
			*at = (char)(*at - 'A' + 'a');
}

void text_label(char *field, size_t size, const char *name)
{
	text_copy(field, size, name);
	for (char *at = field; *at; at++)
		if (*at == '-')
			*at = ' ';
	field[0] = (char)toupper((unsigned char)field[0]);
}

static int hex_digit(char c)
{
	static const char digits[] = "0123456789abcdef0123456789ABCDEF";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)((at - digits) % 16) : -1;
}

void text_percent_decode(char *text)
{
	char *to = text;

	for (const char *at = text; *at; at++) {
		const int high = *at == '%' ? hex_digit(at[1]) : -1, low = high >= 0 ? hex_digit(at[2]) : -1;

		if (low >= 0 && high * 16 + low) {
			*to++ = (char)(high * 16 + low);
			at += 2;
		} else {
			*to++ = *at;
		}
	}
	*to = '\0';
}

int text_number(const char *text, long long low, long long high, long long *ret_value)
{
	char *end = NULL;
	long long value;

	if (!text || (*text != '-' && !isdigit((unsigned char)*text))) /* strtoll skips blanks, and knows "+" */
		return -1;
	errno = 0;
	value = strtoll(text, &end, 10);
	if (errno || *end || value < low || value > high)
		return -1;
	*ret_value = value;
	return 0;
}

/* Seventeen digits always read back as the same number. Fifteen are never too many, but for subnormal numbers. */
void text_real(char text[REAL_TEXT_SIZE], double real)
{
	for (int digits = isnormal(real) ? 15 : 1; digits <= 17; digits++) {
		snprintf(text, REAL_TEXT_SIZE, "%.*g", digits, real);
		if (strtod(text, NULL) == real)
			break;
	}
}

/* ---- UTF-8 ---- */

/* By length: the bits that mark a first byte, and the lowest code that needs that length. */
static const struct utf8_form {
	uint8_t mask, mark;
	uint32_t lowest, highest;
} utf8_forms[] = {
	{0x80, 0x00, 0x0, 0x7f},
	{0xe0, 0xc0, 0x80, 0x7ff},
	{0xf0, 0xe0, 0x800, 0xffff},
	{0xf8, 0xf0, 0x10000, 0x10ffff},
};

static bool is_surrogate(uint32_t code)
{
	return code >= 0xd800 && code <= 0xdfff;
}

/* Adds the bits of the following bytes. False if one of them is none of a character. */
static bool add_following(const char *bytes, size_t length, uint32_t *code)
{
	for (size_t i = 1; i < length; i++) {
		uint8_t byte = (uint8_t)bytes[i];

		if ((byte & 0xc0) != 0x80)
			return false;
		*code = *code << 6 | (byte & 0x3f);
	}
	return true;
}

size_t utf8_decode(const char *bytes, size_t len, uint32_t *ret_code)
{
	for (size_t i = 0; i < sizeof(utf8_forms) / sizeof(utf8_forms[0]) && i < len; i++) {
		const struct utf8_form *form = &utf8_forms[i];
		uint32_t code = (uint8_t)bytes[0] & (uint8_t)~form->mask;

		if (((uint8_t)bytes[0] & form->mask) != form->mark)
			continue;
		if (!add_following(bytes, i + 1, &code) || code < form->lowest || code > form->highest ||
			is_surrogate(code))
			return 0;
		*ret_code = code;
		return i + 1;
	}
	return 0;
}

size_t utf8_step(const char *bytes, size_t len)
{
	uint32_t code;
	const size_t step = utf8_decode(bytes, len, &code);

	return step > 0 ? step : len > 0;
}

size_t utf8_encode(uint32_t code, char *bytes)
{
	size_t length = 1;

	if (code > 0x10ffff || is_surrogate(code))
		return 0;
	while (code > utf8_forms[length - 1].highest)
		length++;
	for (size_t i = length - 1; i > 0; i--, code >>= 6)
		bytes[i] = (char)(0x80 | (code & 0x3f));
	bytes[0] = (char)(utf8_forms[length - 1].mark | code);
	return length;
}

bool mail_address_valid(const char *address)
{
	const char *at = address ? strchr(address, '@') : NULL;

	if (!at || at == address || !at[1] || strchr(at + 1, '@'))
		return false;
	for (const char *c = address; *c; c++)
		if (*c <= ' ' || *c >= 0x7f || strchr("<>,;:\"()[]\\", *c))
			return false;
	return true;
}
