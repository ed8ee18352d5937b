/* SPDX-License-Identifier: MPL-2.0 */
#ifndef POLICY_CORE_REGEX_H
#define POLICY_CORE_REGEX_H

/*
 * Regular expressions of the operator `matches`: RE2's syntax, not anchored. (?<name>…) is accepted, as it is since
 * RE2 of 2023; \C (one byte) is not, because a match must not split a character.
 */

#include "policy/core/run.h"

enum {
	MAX_PATTERN = 64 << 10,       /* bytes */
	MAX_PATTERN_MEMORY = 8 << 20, /* of the compiled pattern and of its automaton */
	MAX_PATTERNS = 64,            /* kept by a run; one more drops all */
};

/* The most bytes of a text times instructions of a pattern: a match can't be interrupted, and takes about ten seconds
 * at worst at this limit. A usual pattern has up to 500 instructions. */
#define MAX_MATCH_WORK UINT64_C(10000000000)

/* True if the pattern matches any part of the text. Fails (core/run.h) on a pattern that is wrong or too large.
 * Compiled patterns do not count as memory of the run, nor does the copy of a text that is no UTF-8. A pattern takes up
 * to 100 MiB while it is compiled. */
bool regex_match(struct run *run, const char *pattern, size_t pattern_len, const char *text, size_t len);

#endif
