/* SPDX-License-Identifier: MPL-2.0 */
#include <string.h>

#include "policy/values/value.h"

static bool equal_strings(struct run *run, struct value a, struct value b)
{
	if (string_len(a) != string_len(b))
		return false;
	run_step_bytes(run, string_len(a));
	return memcmp(string_bytes(a), string_bytes(b), string_len(a)) == 0;
}

static bool equal_lists(struct run *run, struct value a, struct value b)
{
	size_t len = list_len(a);
	bool equal = len == list_len(b);

	run_enter(run);
	for (size_t i = 0; equal && i < len; i++)
		equal = value_equal(run, list_at(run, a, i), list_at(run, b, i));
	run_leave(run);
	return equal;
}

static bool equal_maps(struct run *run, struct value a, struct value b)
{
	bool equal = map_len(a) == map_len(b);
	struct iterator at = value_iterate(run, a);
	struct value other;

	run_enter(run);
	while (equal && iterator_next(run, &at))
		equal = map_get(run, b, at.key, &other) && value_equal(run, at.element, other);
	run_leave(run);
	return equal;
}

bool value_equal(struct run *run, struct value a, struct value b)
{
	run_step(run, 1);
	if (value_is_number(a) && value_is_number(b))
		return number_compare(a, b) == 0;
	if (a.type != b.type)
		return false;
	switch (a.type) {
	case VALUE_BOOL:
		return a.truth == b.truth;
	case VALUE_STRING:
		return equal_strings(run, a, b);
	case VALUE_LIST:
		return equal_lists(run, a, b);
	case VALUE_MAP:
		return equal_maps(run, a, b);
	case VALUE_FUNCTION:
		return a.function == b.function;
	default:
		return a.type == VALUE_UNDEFINED || a.type == VALUE_NULL;
	}
}
