/* SPDX-License-Identifier: MPL-2.0 */
#include "common/base.h"
#include "policy/imports/standard.h"

static struct value type_of(struct run *run, const struct value *args, size_t count, const void *data)
{
	(void)count;
	(void)data;
	return string_text(run, value_type_name(args[0]));
}

static const struct native functions[] = {
	{"type_of", 1, 1, true, type_of},
};

const struct import import_types = {
	.name = "types",
	.functions = functions,
	.function_count = ARRAY_LEN(functions),
};
