/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/policy/sentinel/core/utf8.h"

#include <stdbool.h>

#include "common/base.h"

/* By length: the bits that mark a first byte, and the lowest code that needs that length. */
static const struct form {
	uint8_t mask, mark;
	uint32_t lowest, highest;
} forms[] = {
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
	for (size_t i = 0; i < ARRAY_LEN(forms) && i < len; i++) {
		const struct form *form = &forms[i];
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

size_t utf8_encode(uint32_t code, char *bytes)
{
	size_t length = 1;

	if (code > 0x10ffff || is_surrogate(code))
		return 0;
	while (code > forms[length - 1].highest)
		length++;
	for (size_t i = length - 1; i > 0; i--, code >>= 6)
		bytes[i] = (char)(0x80 | (code & 0x3f));
	bytes[0] = (char)(forms[length - 1].mark | code);
	return length;
}
