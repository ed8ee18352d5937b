/* SPDX-License-Identifier: MPL-2.0 */
#ifndef POLICY_IMPORTS_METHODS_H
#define POLICY_IMPORTS_METHODS_H

/* Values with methods are maps: of fields, and of functions whose data is what the value stands for. */

#include "policy/values/value.h"

/* Adds a function for each row. `object` must live as long as the run. */
void methods_add(struct run *run, struct value map, const struct native *methods, size_t count, const void *object);

/* What the argument stands for as text: a string, or the member `field` of a map. False if it is neither. */
bool method_text(struct run *run, struct value argument, const char *field, struct value *ret_text);

#endif
