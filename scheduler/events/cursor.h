/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_EVENTS_CURSOR_H
#define SCHEDULER_EVENTS_CURSOR_H

/* A position in the topic runyard.events: the offset of the next message of each partition. It is the same at every
 * scheduler. Its text is the offsets in decimal, separated by hyphens. Pure. */

#include "common/base.h"

enum { CURSOR_PARTITIONS = 64, CURSOR_TEXT_SIZE = CURSOR_PARTITIONS * 21 };

struct cursor {
	int count; /* of partitions; 0: no position */
	int64_t next[CURSOR_PARTITIONS];
};

void cursor_text(const struct cursor *cursor, char ret_text[CURSOR_TEXT_SIZE]);
/* False if the text is no cursor. */
bool cursor_parse(const char *text, struct cursor *ret_cursor);

#endif
