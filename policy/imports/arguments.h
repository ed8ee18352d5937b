/* SPDX-License-Identifier: MPL-2.0 */
#ifndef POLICY_IMPORTS_ARGUMENTS_H
#define POLICY_IMPORTS_ARGUMENTS_H

/* The types of the arguments of native functions. */

#include "policy/values/value.h"

/*
 * Fails unless each argument has its type. `types` has one letter for each parameter:
 *
 *	s string    i int       n int or float    l list    m map    c list or map    f function
 *	. anything
 *
 * `function` is for the message: "strings.split".
 */
void arguments_check(struct run *run, const char *function, const char *types, const struct value *args, size_t count);

/* Fails because the argument (from 0) is not what the function takes: "a number". */
_Noreturn void argument_refuse(
	struct run *run, const char *function, const char *wanted, const struct value *args, size_t index);

#endif
