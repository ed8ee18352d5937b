/* SPDX-License-Identifier: MPL-2.0 */
#include "policy/imports/methods.h"

void methods_add(struct run *run, struct value map, const struct native *methods, size_t count, const void *object)
{
	run_step(run, count);
	for (size_t i = 0; i < count; i++)
		map_set_text(run, map, methods[i].name, function_native(run, &methods[i], object));
}

bool method_text(struct run *run, struct value argument, const char *field, struct value *ret_text)
{
	struct value text = argument;

	if (value_is(argument, VALUE_MAP) && !map_get_text(run, argument, field, &text))
		return false;
	if (!value_is(text, VALUE_STRING))
		return false;
	*ret_text = text;
	return true;
}
