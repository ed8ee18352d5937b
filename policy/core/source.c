/* SPDX-License-Identifier: MPL-2.0 */
#include "policy/core/source.h"

#include "common/text.h"

size_t position_move(struct position *position, struct place place)
{
	const struct source *source = place.source;
	size_t begin;

	if (!position->source || position->source != source || position->offset > place.offset)
		*position = (struct position){.source = source, .line = 1, .column = 1};
	begin = position->offset;
	while (source && position->offset < place.offset && position->offset < source->len) {
		const char *at = source->text + position->offset;

		if (*at == '\n') {
			position->line++;
			position->column = 1;
			position->offset++;
			continue;
		}
		position->column++;
		position->offset += utf8_step(at, source->len - position->offset);
	}
	return position->offset - begin;
}

void place_position(struct place place, unsigned *ret_line, unsigned *ret_column)
{
	struct position position = {0};

	position_move(&position, place);
	*ret_line = position.line;
	*ret_column = position.column;
}
