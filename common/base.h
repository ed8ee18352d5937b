/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_BASE_H
#define COMMON_BASE_H

/*
 * The few words that every file uses: scope-bound cleanup and memory that is there or the process is not.
 *
 * Running out of memory ends the process with a line in the log. All that lasts is in PostgreSQL, so a
 * restart is the recovery, and no caller carries a path for it that nobody ever ran.
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

/* Raises the limit of open descriptors (RLIMIT_NOFILE) towards `wanted`, as far as this process may. ERR_INVALID if it
 * stays below `least`; else *ret_limit is the limit. */
int descriptors_raise(
	unsigned long long least, unsigned long long wanted, unsigned long long *ret_limit, struct err *err);

/* Keeps this process's secrets out of reach: it writes no core file, and no other process of its user may trace it or
 * read its memory and environment in /proc. The setting is lost when the process changes its user. */
void process_protect(void);

/* Ends the process with that line: for what a library says to have failed for memory alone. */
_Noreturn void mem_out(void);
/* What a library made, which is NULL for want of memory alone: given back, never NULL. */
void *mem_there(void *memory);
/* Zeroed memory; never NULL. The caller frees it. */
void *mem_new(size_t count, size_t size);
/* Grows or shrinks; never NULL; the old pointer is gone. */
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
/* Copies into a fixed field of `size` bytes, cutting what does not fit (between characters); always terminated. */
void text_copy(char *field, size_t size, const char *text);
/* The name of an attribute in words: "auto-apply" is "Auto apply". */
void text_label(char *field, size_t size, const char *name);
/* A decimal number within [low, high] and nothing else; -1 and *ret_value untouched otherwise. */
int text_number(const char *text, long long low, long long high, long long *ret_value);

#endif
