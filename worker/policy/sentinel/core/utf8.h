/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_POLICY_SENTINEL_CORE_UTF8_H
#define WORKER_POLICY_SENTINEL_CORE_UTF8_H

/* Characters of UTF-8 in bytes that need not be UTF-8. */

#include <stddef.h>
#include <stdint.h>

enum { UTF8_MAX = 4 };

/* The length of the character at the beginning of the bytes, 1 to 4. 0 if they are empty or do not begin with a
 * character (overlong forms, surrogates and codes above 10FFFF are none), with *ret_code untouched. */
size_t utf8_decode(const char *bytes, size_t len, uint32_t *ret_code);
/* Writes at most UTF8_MAX bytes and returns how many. 0 for a surrogate or a code above 10FFFF. */
size_t utf8_encode(uint32_t code, char *bytes);

#endif
