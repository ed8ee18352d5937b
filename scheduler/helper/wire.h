/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_HELPER_WIRE_H
#define SCHEDULER_HELPER_WIRE_H

/*
 * The protocol between the scheduler and a helper process, over a socket pair that is the helper's standard input. A
 * message is its length as four bytes, big endian, and a JSON object. The scheduler sends one request at a time; the
 * helper sends one answer for each. There is no state between requests: a request has all that its answer depends on.
 *
 * A request has `do`, the name of one of the helper's operations, and the members that the operation names.
 *
 * An answer is {"answer": object}, or {"refused": sentence} if what came from outside is not acceptable, or
 * {"failed": sentence} if the settings or the helper are the reason.
 */

#include <stddef.h>

enum {
	WIRE_HEAD = 4,
	WIRE_MAX = 1 << 20, /* bytes of a message */
};

/* The length before a message. */
static inline void wire_head_write(char ret_head[WIRE_HEAD], size_t len)
{
	for (int i = 0; i < WIRE_HEAD; i++)
		ret_head[i] = (char)(len >> (8 * (WIRE_HEAD - 1 - i)));
}

static inline size_t wire_head_read(const char head[WIRE_HEAD])
{
	size_t len = 0;

	for (int i = 0; i < WIRE_HEAD; i++)
		len = len << 8 | (unsigned char)head[i];
	return len;
}

#endif
