/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_POLICY_SENTINEL_CORE_SOURCE_H
#define WORKER_POLICY_SENTINEL_CORE_SOURCE_H

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
 * line end. Reads the source from its beginning, so it is for messages. */
void place_position(struct place place, unsigned *ret_line, unsigned *ret_column);

#endif
