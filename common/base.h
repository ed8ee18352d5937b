/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_BASE_H
#define COMMON_BASE_H

/*
 * Helpers that every file uses: scope-bound cleanup, memory and texts.
 *
 * Allocations never fail: out of memory, the process logs a line and exits. All persistent state is in PostgreSQL,
 * so a restart recovers it. Callers therefore need no error paths for allocations, which could hardly be tested.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

struct err;

/* Runs f(&variable) when the variable's scope ends: `_cleanup_(freep) char *text = ...;` */
#define _cleanup_(f) __attribute__((cleanup(f)))

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/* For _cleanup_: frees what the pointer points to. */
void freep(void *pointer_to_pointer);
/* For _cleanup_: closes the descriptor unless it is negative. */
void closep(const int *fd);

/* Raises the limit of open descriptors (RLIMIT_NOFILE) to `wanted`, or as far as this process may. *ret_limit is the
 * new limit. ERR_INVALID if it is below `least`. */
int descriptors_raise(
	unsigned long long least, unsigned long long wanted, unsigned long long *ret_limit, struct err *err);

/* Protects the secrets in this process. It writes no core file. Other processes of its user can't trace it or read
 * its memory and environment in /proc. The setting is lost when the process changes its user. */
void process_protect(void);

/* Ends the process as out of memory. For calls of libraries that fail for no other reason. */
_Noreturn void mem_out(void);
/* Returns `memory`, or ends the process if it is NULL. For results of libraries that are NULL only when out of
 * memory. */
void *mem_check(void *memory);
/* Zeroed memory; never NULL. The caller frees it. */
void *mem_new(size_t count, size_t size);
/* Grows or shrinks; never NULL; the old pointer becomes invalid. */
void *mem_resize(void *old, size_t count, size_t size);
/* A copy of the text, or NULL for NULL. The caller frees it. */
char *mem_text(const char *text);
/* Formatted text; never NULL. The caller frees it. */
char *mem_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* True if both are texts and equal. */
bool text_equal(const char *a, const char *b);
/* True if text begins with prefix. */
bool text_starts(const char *text, const char *prefix);
/* The text, or "" for NULL. */
const char *text_or_empty(const char *text);
/* Copies into a fixed field of `size` bytes. Truncates between UTF-8 characters; always terminated. */
void text_copy(char *field, size_t size, const char *text);
/* Converts the name of an attribute to words: "auto-apply" to "Auto apply". */
void text_label(char *field, size_t size, const char *name);
/* Parses a decimal number within [low, high] that is the whole text. -1 otherwise, with *ret_value unchanged. */
int text_number(const char *text, long long low, long long high, long long *ret_value);

#endif
