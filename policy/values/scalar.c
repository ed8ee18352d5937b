/* SPDX-License-Identifier: MPL-2.0 */
#include "policy/values/value.h"

struct value value_undefined(const struct run *run)
{
	return (struct value){.type = VALUE_UNDEFINED, .offset = run->at.offset, .origin = run->at.source};
}

struct place value_origin(struct value undefined)
{
	return (struct place){.source = undefined.origin, .offset = undefined.offset};
}

struct value value_null(void)
{
	return (struct value){.type = VALUE_NULL};
}

struct value value_bool(bool truth)
{
	/* All eight bytes are written: a value may be compared or copied as a whole. */
	return (struct value){.type = VALUE_BOOL, .number = truth};
}

struct value value_int(int64_t number)
{
	return (struct value){.type = VALUE_INT, .number = number};
}

struct value value_float(double real)
{
	return (struct value){.type = VALUE_FLOAT, .real = real};
}

const char *value_type_name(struct value value)
{
	static const char *const names[VALUE_TYPES] = {
		[VALUE_UNDEFINED] = "undefined",
		[VALUE_NULL] = "null",
		[VALUE_BOOL] = "bool",
		[VALUE_INT] = "int",
		[VALUE_FLOAT] = "float",
		[VALUE_STRING] = "string",
		[VALUE_LIST] = "list",
		[VALUE_MAP] = "map",
		[VALUE_FUNCTION] = "func",
		[VALUE_RULE] = "rule",
		[VALUE_IMPORT] = "import",
	};

	return value.type < VALUE_TYPES ? names[value.type] : "unset";
}

static double real_of(struct value number)
{
	return number.type == VALUE_INT ? (double)number.number : number.real;
}

int number_compare(struct value a, struct value b)
{
	double left = real_of(a), right = real_of(b);

	if (a.type == VALUE_INT && b.type == VALUE_INT)
		return (a.number > b.number) - (a.number < b.number);
	if (left != left || right != right)
		return 2;
	return (left > right) - (left < right);
}
