/* SPDX-License-Identifier: MPL-2.0 */
#ifndef POLICY_SYNTAX_BUILTINS_H
#define POLICY_SYNTAX_BUILTINS_H

/* The names of the predeclared functions. The slot of a NAME_BUILTIN is an index into this table. */

#include <stddef.h>

extern const char *const builtin_names[];
extern const size_t builtin_count;

/* -1 if there is no predeclared function of that name. */
int builtin_find(const char *name, size_t len);

#endif
