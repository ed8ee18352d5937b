/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/policy/sentinel/core/source.h"

#include "common/text.h"

static size_t character_len(const char *bytes, size_t len)
{
	uint32_t code;
	size_t length = utf8_decode(bytes, len, &code);

	return length ? length : 1;
}

void place_position(struct place place, unsigned *ret_line, unsigned *ret_column)
{
	const struct source *source = place.source;
	unsigned line = 1, column = 1;
	size_t at = 0;

	while (source && at < place.offset && at < source->len) {
		if (source->text[at] == '\n') {
			line++;
			column = 1;
			at++;
			continue;
		}
		column++;
		at += character_len(source->text + at, source->len - at);
	}
	*ret_line = line;
	*ret_column = column;
}
