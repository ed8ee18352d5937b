/* SPDX-License-Identifier: MPL-2.0 */
#include "policy/syntax/character.h"

#include <stdlib.h>

#include "common/base.h"
#include "common/text.h"

struct range {
	uint32_t first, last;
};

#define LETTER(first, last) {first, last},
#define DIGIT(first, last)
static const struct range letters[] = {
#include "policy/syntax/letters.def"
};
#undef LETTER
#undef DIGIT

#define LETTER(first, last)
#define DIGIT(first, last) {first, last},
static const struct range digits[] = {
#include "policy/syntax/letters.def"
};
#undef LETTER
#undef DIGIT

static int compare_range(const void *key, const void *element)
{
	uint32_t code = *(const uint32_t *)key;
	const struct range *range = element;

	if (code < range->first)
		return -1;
	return code > range->last;
}

static bool in_ranges(uint32_t code, const struct range *ranges, size_t count)
{
	return bsearch(&code, ranges, count, sizeof(*ranges), compare_range) != NULL;
}

bool character_is_letter(uint32_t code)
{
	if (code < 0x80)
		return code == '_' || (code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z');
	return in_ranges(code, letters, ARRAY_LEN(letters));
}

bool character_is_digit(uint32_t code)
{
	if (code < 0x80)
		return code >= '0' && code <= '9';
	return in_ranges(code, digits, ARRAY_LEN(digits));
}

/* The length of the character at the beginning if an identifier may have it there; else 0. */
static size_t part_len(const char *bytes, size_t len, bool first)
{
	uint32_t code = len > 0 ? (uint8_t)*bytes : 0;
	size_t step = code < 0x80 ? len > 0 : utf8_decode(bytes, len, &code);

	return step > 0 && (character_is_letter(code) || (!first && character_is_digit(code))) ? step : 0;
}

size_t identifier_len(const char *bytes, size_t len)
{
	size_t at = 0, step;

	while ((step = part_len(bytes + at, len - at, at == 0)) > 0)
		at += step;
	return at;
}
