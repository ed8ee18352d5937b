/* SPDX-License-Identifier: MPL-2.0 */
#include "policy/syntax/builtins.h"

#include <string.h>

#include "common/base.h"

#define BUILTIN(name, fewest, most, takes_undefined) #name,
const char *const builtin_names[] = {
#include "policy/evaluate/builtins.def"
};
#undef BUILTIN
const size_t builtin_count = ARRAY_LEN(builtin_names);

int builtin_find(const char *name, size_t len)
{
	for (size_t i = 0; i < builtin_count; i++) {
		if (strlen(builtin_names[i]) == len && memcmp(builtin_names[i], name, len) == 0)
			return (int)i;
	}
	return -1;
}
