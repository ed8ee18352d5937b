/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_SHIP_REDACT_H
#define WORKER_SHIP_REDACT_H

/* Takes the values of sensitive variables out of log lines, as they are and as they stand in JSON. Pure. */

#include "common/buf.h"
#include "worker/assignment.h"

/* Shorter values are left: they would take half of every line with them. */
enum { REDACT_SHORTEST = 4 };

struct redactor {
	struct redact_secret {
		char *text; /* owned */
		size_t len;
	} * secrets; /* the longest first, so that one that contains another goes as a whole; owned */
	size_t count;
	unsigned char pairs[65536 / 8]; /* a bit for each two bytes that a secret begins with */
};

void redactor_init(struct redactor *redactor, const struct assignment *assignment);
void redactor_add(struct redactor *redactor, const char *value);
void redactor_release(struct redactor *redactor);
/* Appends the line with every secret replaced by "(sensitive value)". -1: over the buffer's limit. */
int redact(const struct redactor *redactor, const char *line, size_t len, struct buf *out);

/* How many bytes of a line that goes on can be redacted by themselves, since no secret reaches over their end; all, if
 * none can. */
size_t redact_settled(const struct redactor *redactor, const char *line, size_t len);

#endif
