/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_HTTP_ANSWER_H
#define COMMON_HTTP_ANSWER_H

/* What somebody else's server answered, made fit to be kept and shown. */

#include "common/json/json.h"

enum { HEADERS_MOST = 64, HEADER_MOST = 1024 };

/* Bytes of an answer that are shown; and bytes to collect, so that a secret that begins in them is whole. */
enum { ANSWER_SHOWN = 1024, ANSWER_COLLECTED = 2 * ANSWER_SHOWN };

/* The first ANSWER_SHOWN bytes of a server's answer as printable UTF-8: a control character other than tab and line
 * end, and each byte that is no UTF-8, becomes '?'; `secret` (at most ANSWER_SHOWN bytes, or NULL) becomes "***". The
 * caller frees it. */
char *answer_clean(const char *bytes, size_t len, const char *secret);
/* Adds a header line, as libcurl hands it out (a zero byte may be missing at its end), to {"name": ["value", ...]}, the
 * names in lower case. What is too long or too many is left out. */
void answer_header_add(json_t *headers, const char *line, size_t len);

#endif
