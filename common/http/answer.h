/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_HTTP_ANSWER_H
#define COMMON_HTTP_ANSWER_H

/* Sanitizes the answers of third-party servers, so that they can be stored and shown. */

#include "common/json/json.h"

enum { MAX_HEADERS = 64, MAX_HEADER = 1024 };

/* Bytes of an answer that are shown, and bytes that are collected so that a secret that begins in them is complete. */
enum { ANSWER_SHOWN = 1024, ANSWER_COLLECTED = 2 * ANSWER_SHOWN };

/* Returns the first ANSWER_SHOWN bytes of an answer as printable UTF-8. Control characters other than tab and line
 * end, and bytes that are not UTF-8, become '?'. `secret` (at most ANSWER_SHOWN bytes, or NULL) becomes "***". The
 * caller frees the result. */
char *answer_clean(const char *bytes, size_t len, const char *secret);
/* Adds a header line from libcurl (the final zero byte may be missing) to {"name": ["value", ...]}, with names in
 * lower case. Lines that are too long and headers over the limit are left out. */
void answer_header_add(json_t *headers, const char *line, size_t len);

#endif
