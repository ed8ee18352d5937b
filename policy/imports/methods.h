/* SPDX-License-Identifier: MPL-2.0 */
#ifndef POLICY_IMPORTS_METHODS_H
#define POLICY_IMPORTS_METHODS_H

/* Values with methods are maps: of fields, and of functions whose data is what the value stands for. */

#include "policy/values/value.h"

/* Adds a function for each row. `object` must live as long as the run. */
void methods_add(struct run *run, struct value map, const struct native *methods, size_t count, const void *object);

/* Defines a method of one argument. `compare` gives how the object is ordered to the argument, and `condition` whether
 * the method is true for that `order`. */
#define METHOD_COMPARISON(name, compare, condition)                                                                    \
	static struct value name(struct run *run, const struct value *args, size_t count, const void *data)            \
	{                                                                                                              \
		const int order = compare(run, args, data);                                                            \
                                                                                                                       \
		(void)count;                                                                                           \
		return value_bool(condition);                                                                          \
	}

/* What the argument stands for as text: a string, or the member `field` of a map. False if it is neither. */
bool method_text(struct run *run, struct value argument, const char *field, struct value *ret_text);

#endif
