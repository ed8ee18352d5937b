/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_HTTP_HTTP_HEAD_H
#define COMMON_HTTP_HTTP_HEAD_H

/*
 * Strict checks of a request's header (RFC 9112), where libmicrohttpd 0.9.75 is lenient. Two parsers of one
 * connection must never see different requests (request smuggling).
 *
 * libmicrohttpd parses the header in the buffer that it was received in. It overwrites each line's end and each
 * colon with NUL bytes, and returns pointers into that buffer. So the parts of a well-formed header follow one
 * another without a gap. A bare line feed, a folded line, a NUL byte or a second space leaves a gap of another
 * size. Only the addresses of the parts are compared; no byte outside a part is read.
 *
 * libmicrohttpd 1.0 has an option to refuse these. It leaves out the spaces at the end of a value, which are a gap
 * then.
 */

#include "common/base.h"

/* Fields that a header may have at most once. */
enum http_single { SINGLE_HOST, SINGLE_LENGTH, SINGLE_ENCODING, SINGLE_AUTHORIZATION, SINGLES };

struct http_head {
	const char *version; /* "HTTP/1.1"; borrowed */
	uintptr_t next;      /* where the next line must begin */
	bool trims;          /* the library refuses gaps, but leaves one for spaces at a value's end */
	bool exact;          /* the last field, a Transfer-Encoding, may not end with spaces */
	unsigned seen[SINGLES];
	const char *wrong; /* the first violation, or NULL */
};

/* Returns why a request target as received is refused, or NULL. It must be in origin form, in printable ASCII
 * without "%00". */
const char *http_target_wrong(const char *target);

/* Checks the request line. The target had `target_size` bytes as received; it may have been decoded since. */
void http_head_begin(
	struct http_head *head, const char *method, const char *target, size_t target_size, const char *version);
/* Checks the next field, in the order of the header. */
void http_head_field(struct http_head *head, const char *name, size_t name_size, const char *value, size_t value_size);
/* Checks the end after the last field; the header ends before `end`. Returns why the header is refused, or NULL. */
const char *http_head_end(struct http_head *head, const char *end);
/* True if the body is chunked. */
bool http_head_chunked(const struct http_head *head);

#endif
