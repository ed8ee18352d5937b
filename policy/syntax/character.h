/* SPDX-License-Identifier: MPL-2.0 */
#ifndef POLICY_SYNTAX_CHARACTER_H
#define POLICY_SYNTAX_CHARACTER_H

/* Which characters an identifier has: a letter or `_`, then letters and digits, of Unicode. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool character_is_letter(uint32_t code);
bool character_is_digit(uint32_t code);

/* The length of the identifier at the beginning of the bytes; 0 if there is none. */
size_t identifier_len(const char *bytes, size_t len);

#endif
