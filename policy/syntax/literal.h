/* SPDX-License-Identifier: MPL-2.0 */
#ifndef POLICY_SYNTAX_LITERAL_H
#define POLICY_SYNTAX_LITERAL_H

/* The values of literals. The spans are those of the tokens, with quotes. Each function fails at a wrong literal. */

#include <stdint.h>

#include "policy/core/run.h"
#include "policy/syntax/comment.h"
#include "policy/syntax/tree.h"

/* Decimal, 0 octal or 0x hexadecimal; at most 2^63, which only the parser of `-` accepts. */
uint64_t literal_int(struct run *run, const struct source *source, struct span span);
double literal_float(struct run *run, const struct source *source, struct span span);
/* The bytes of a string: of the source if it has no escape, else of the arena. */
struct word literal_string(struct run *run, const struct source *source, struct span span);
struct word literal_raw_string(const struct source *source, struct span span);

#endif
