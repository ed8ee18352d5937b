/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_BASE_H
#define COMMON_BASE_H

/*
 * Helpers that every file uses: scope-bound cleanup, memory, and the texts of common/text.h.
 *
 * Allocations never fail: out of memory, the process logs a line and exits. All persistent state is in PostgreSQL,
 * so a restart recovers it. Callers therefore need no error paths for allocations, which could hardly be tested.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "common/text.h"

/* Runs f(&variable) when the variable's scope ends: `_cleanup_(freep) char *text = ...;` */
#define _cleanup_(f) __attribute__((cleanup(f)))

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/* For _cleanup_: frees what the pointer points to. */
void freep(void *pointer_to_pointer);
/* For _cleanup_: closes the descriptor unless it is negative, and sets it to -1. */
void closep(int *fd);

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

#endif
