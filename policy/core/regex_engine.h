/* SPDX-License-Identifier: MPL-2.0 */
#ifndef POLICY_CORE_REGEX_ENGINE_H
#define POLICY_CORE_REGEX_ENGINE_H

/*
 * RE2 behind functions of C. No exception leaves them, and they know nothing of runs: core/regex.h has what the
 * evaluator calls. Matching takes time linear in the text.
 */

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { REGEX_ERROR_SIZE = 256 };

/* A compiled pattern. */
struct regex_program;

/* Compiles a pattern of RE2's syntax to a program of at most max_memory bytes. NULL with a message if it is no pattern
 * or too large, or if there is no memory. The caller frees the program. */
struct regex_program *regex_program_new(
	const char *pattern, size_t len, size_t max_memory, char ret_error[REGEX_ERROR_SIZE]);
void regex_program_free(struct regex_program *program);
/* The number of its instructions. In the worst case, matching takes about a nanosecond for each of them and each byte
 * of the text. */
size_t regex_program_size(const struct regex_program *program);
enum regex_result { REGEX_NO_MATCH, REGEX_MATCH, REGEX_NO_MEMORY };
/* Whether the program matches any part of the text. Each byte of the text that is not part of a character of UTF-8
 * matches as U+FFFD. Without memory the program may only be freed. */
enum regex_result regex_program_match(const struct regex_program *program, const char *text, size_t len);

#ifdef __cplusplus
}
#endif

#endif
