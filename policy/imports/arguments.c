/* SPDX-License-Identifier: MPL-2.0 */
#include "policy/imports/arguments.h"

#define TYPE(name)      (1u << VALUE_##name)
#define TYPE_ANY        (~0u)
#define TYPE_NUMBER     (TYPE(INT) | TYPE(FLOAT))
#define TYPE_COLLECTION (TYPE(LIST) | TYPE(MAP))
#define LETTERS         128

struct type_row {
	const char *name;
	unsigned types;
};

static const struct type_row type_rows[LETTERS] = {
	['s'] = {"a string", TYPE(STRING)},
	['i'] = {"an int", TYPE(INT)},
	['n'] = {"a number", TYPE_NUMBER},
	['l'] = {"a list", TYPE(LIST)},
	['m'] = {"a map", TYPE(MAP)},
	['c'] = {"a list or a map", TYPE_COLLECTION},
	['f'] = {"a function", TYPE(FUNCTION)},
	['.'] = {"a value", TYPE_ANY},
};

void argument_refuse(struct run *run, const char *function, const char *wanted, const struct value *args, size_t index)
{
	run_fail(run, "argument %zu of %s must be %s, not %s", index + 1, function, wanted,
		value_type_name(args[index]));
}

void arguments_check(struct run *run, const char *function, const char *types, const struct value *args, size_t count)
{
	for (size_t i = 0; i < count && types[i] != '\0'; i++) {
		const struct type_row *row = &type_rows[(unsigned char)types[i] % LETTERS];

		if ((row->types & 1u << args[i].type) == 0)
			argument_refuse(run, function, row->name, args, i);
	}
}
