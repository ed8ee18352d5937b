/* SPDX-License-Identifier: MPL-2.0 */
#include <string.h>

#include "policy/values/value.h"

const struct native *import_function(const struct import *import, const char *name, size_t len)
{
	for (size_t i = 0; i < import->function_count; i++) {
		const char *known = import->functions[i].name;

		if (strlen(known) == len && memcmp(known, name, len) == 0)
			return &import->functions[i];
	}
	return NULL;
}

bool import_get(struct run *run, const struct import *import, const char *name, size_t len, struct value *ret_value)
{
	const struct native *function = import_function(import, name, len);
	struct value field;

	if (function) {
		*ret_value = function_native(run, function, import->data);
		return true;
	}
	if (!import->field || !import->field(run, import, name, len, &field))
		return false;
	*ret_value = value_view(run, field);
	return true;
}
