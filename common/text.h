/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_TEXT_H
#define COMMON_TEXT_H

/* Texts: comparison, copies into fixed fields, numbers. Nothing here allocates or logs. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True if both are texts and equal. */
bool text_equal(const char *a, const char *b);
/* FNV-1a, continued from `hash`: TEXT_HASH, a seed, or the hash of an earlier text. */
#define TEXT_HASH 0xcbf29ce484222325u
uint64_t text_hash(uint64_t hash, const char *text);
/* True if text begins with prefix. */
bool text_starts(const char *text, const char *prefix);
/* The text, or "" for NULL. */
const char *text_or_empty(const char *text);
/* The text, or NULL for "". */
const char *text_or_null(const char *text);
/* Copies into a fixed field of `size` bytes. Truncates between UTF-8 characters; always terminated. */
void text_copy(char *field, size_t size, const char *text);
/* The same in lower case; only ASCII letters change. */
void text_copy_lower(char *field, size_t size, const char *text);
/* Converts the name of an attribute to words: "auto-apply" to "Auto apply". */
void text_label(char *field, size_t size, const char *name);
/* Decodes %XX in place. "%00", and a percent sign without two hexadecimal digits, stay as they are. */
void text_percent_decode(char *text);
/* Parses a decimal number within [low, high] that is the whole text, without blanks and "+". -1 otherwise, with
 * *ret_value unchanged. */
int text_number(const char *text, long long low, long long high, long long *ret_value);
/* The shortest text that reads back as the same number: "1.5", "1000", "1e+20", "inf", "nan". */
enum { REAL_TEXT_SIZE = 40 };
void text_real(char text[REAL_TEXT_SIZE], double real);

/* True if a mail address can be used unescaped in a mail's headers and in SMTP commands: printable ASCII, one @, and no
 * characters with a special meaning there. */
bool mail_address_valid(const char *address);

/* Characters of UTF-8 in bytes that need not be UTF-8. */
enum { UTF8_MAX = 4 };

/* The length of the character at the beginning of the bytes, 1 to 4. 0 if they are empty or do not begin with a
 * character (overlong forms, surrogates and codes above 10FFFF are none), with *ret_code untouched. */
size_t utf8_decode(const char *bytes, size_t len, uint32_t *ret_code);
/* The same length, but 1 for a byte that begins no character. 0 without bytes. */
size_t utf8_step(const char *bytes, size_t len);
/* Writes at most UTF8_MAX bytes and returns how many. 0 for a surrogate or a code above 10FFFF. */
size_t utf8_encode(uint32_t code, char *bytes);

#endif
