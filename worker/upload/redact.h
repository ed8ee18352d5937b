/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_UPLOAD_REDACT_H
#define WORKER_UPLOAD_REDACT_H

/* Removes the values of sensitive variables from log lines, from errors and from the output of policies: in plain form,
 * as JSON strings and as JSON in JSON strings. Pure. */

#include "common/buf.h"
#include "worker/runtime/assignment.h"

/* Shorter values are not redacted, because they occur in too many places. */
enum {
	REDACT_SHORTEST = 4,
	REDACT_PARTS = 4096, /* once there are as many secrets, the texts in literals are not added */
};

struct redactor {
	struct redact_secret {
		char *text; /* owned */
		size_t len;
	} * secrets; /* the longest first, so that a secret that contains another is replaced as a whole; owned */
	size_t count;
	unsigned char pairs[65536 / 8]; /* a bit for each pair of bytes that begins a secret */
};

void redactor_init(struct redactor *redactor, const struct assignment *assignment);
/* Line ends at the end of a value are no part of the secret: programs print it without them, too. */
void redactor_add(struct redactor *redactor, const char *text);
/* The same for a literal of HCL or JSON, and for each text in it that is no key. */
void redactor_add_literal(struct redactor *redactor, const char *literal);
void redactor_release(struct redactor *redactor);
/* Appends the line with every secret replaced by "(sensitive value)". -1: over the buffer's limit. */
int redact(const struct redactor *redactor, const char *line, size_t len, struct buf *out);
/* The same for a text that may have been cut: at its end, or where a trace says so ("... (12 bytes more)"). There, the
 * beginning of a secret is replaced, too. */
int redact_cut(const struct redactor *redactor, const char *text, size_t len, struct buf *out);
/* The same for a text that is not part of the job's log, such as an error. The caller frees it. */
char *redact_text(const struct redactor *redactor, const char *text);

/* The number of bytes of an incomplete line that can be redacted now, because no secret can extend past them. All, if
 * that is not possible. */
size_t redact_settled(const struct redactor *redactor, const char *line, size_t len);

#endif
