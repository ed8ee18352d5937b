/* SPDX-License-Identifier: MPL-2.0 */
#include "common/text.h"

#include <ctype.h>
#include <errno.h>
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

void text_label(char *field, size_t size, const char *name)
{
	text_copy(field, size, name);
	for (char *at = field; *at; at++)
		if (*at == '-')
			*at = ' ';
	field[0] = (char)toupper((unsigned char)field[0]);
}

int text_number(const char *text, long long low, long long high, long long *ret_value)
{
	char *end = NULL;
	long long value;

	if (!text || !*text)
		return -1;
	errno = 0;
	value = strtoll(text, &end, 10);
	if (errno || *end || value < low || value > high)
		return -1;
	*ret_value = value;
	return 0;
}
