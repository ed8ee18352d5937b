/* SPDX-License-Identifier: MPL-2.0 */
#ifndef POLICY_CORE_SOURCE_H
#define POLICY_CORE_SOURCE_H

/* A text that is parsed (a policy, a module, a configuration), and places in it. */

#include <stddef.h>
#include <stdint.h>

struct source {
	const char *name; /* as messages show it: "cis/1.1/policy.sentinel" */
	const char *text; /* any bytes; not terminated */
	size_t len;       /* at most MAX_SOURCE */
};

enum { MAX_SOURCE = 8 << 20 };

struct place {
	const struct source *source; /* NULL: no place is known */
	uint32_t offset;             /* in bytes */
};

/* Line and column count from 1. A column counts characters of UTF-8; a byte that is none counts as one. CRLF is one
 * line end. Reads the source from its beginning, so it is for single messages. */
void place_position(struct place place, unsigned *ret_line, unsigned *ret_column);

/* The line and column of an offset. */
struct position {
	const struct source *source; /* NULL: of none yet */
	size_t offset;
	unsigned line, column;
};

/* Moves the position to the place, from where it is if the place is behind that in the same source. Many places in
 * their order take the time of one. Returns the number of bytes that were read. */
size_t position_move(struct position *position, struct place place);

#endif
