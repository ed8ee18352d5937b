/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/events/cursor.h"

#include <stdio.h>
#include <string.h>

void cursor_text(const struct cursor *cursor, char ret_text[CURSOR_TEXT_SIZE])
{
	size_t len = 0;

	*ret_text = '\0';
	for (int i = 0; i < cursor->count; i++)
		len += (size_t)snprintf(
			ret_text + len, CURSOR_TEXT_SIZE - len, "%s%lld", i ? "-" : "", (long long)cursor->next[i]);
}

/* Parses a number of at most 18 digits. Returns the text after it, or NULL. */
static const char *offset_parse(const char *text, int64_t *ret_offset)
{
	size_t digits = strspn(text, "0123456789");
	int64_t offset = 0;

	if (!digits || digits > 18)
		return NULL;
	for (size_t i = 0; i < digits; i++)
		offset = offset * 10 + (text[i] - '0');
	*ret_offset = offset;
	return text + digits;
}

bool cursor_parse(const char *text, struct cursor *ret_cursor)
{
	struct cursor cursor = {.count = 0};

	while (cursor.count < CURSOR_PARTITIONS) {
		text = offset_parse(text, &cursor.next[cursor.count++]);
		if (!text)
			return false;
		if (!*text) {
			*ret_cursor = cursor;
			return true;
		}
		if (*text++ != '-')
			return false;
	}
	return false;
}
