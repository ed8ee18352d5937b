/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/policy/sentinel/syntax/character.h"

#include <stdlib.h>

#include "common/base.h"
#include "worker/policy/sentinel/core/utf8.h"

struct range {
	uint32_t first, last;
};

#define LETTER(first, last) {first, last},
#define DIGIT(first, last)
static const struct range letters[] = {
#include "worker/policy/sentinel/syntax/letters.def"
};
#undef LETTER
#undef DIGIT

#define LETTER(first, last)
#define DIGIT(first, last) {first, last},
static const struct range digits[] = {
#include "worker/policy/sentinel/syntax/letters.def"
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

size_t identifier_len(const char *bytes, size_t len)
{
	size_t at = 0, step;
	uint32_t code;

	while ((step = utf8_decode(bytes + at, len - at, &code)) > 0) {
		if (!character_is_letter(code) && (at == 0 || !character_is_digit(code)))
			break;
		at += step;
	}
	return at;
}
