/* SPDX-License-Identifier: MPL-2.0 */
#include "policy/library/decimal.h"

#include <string.h>

#include "common/base.h"
#include "policy/imports/arguments.h"
#include "policy/imports/methods.h"
#include "policy/imports/standard.h"

enum { DECIMAL_STEPS = 16 }; /* of one operation */

static struct value decimal_value(struct run *run, struct decimal decimal);

/* ---- arguments ---- */

static struct decimal decimal_of_text(struct run *run, struct value text)
{
	struct decimal decimal;

	run_step_bytes(run, string_len(text));
	if (!decimal_parse(string_bytes(text), string_len(text), &decimal))
		run_fail(run, "decimal: not a number: %.*s", string_len(text) < 64 ? (int)string_len(text) : 64,
			string_bytes(text));
	return decimal;
}

/* A number, its text, or what decimal.new gave. */
static struct decimal decimal_argument(struct run *run, const struct value *args)
{
	struct value text;

	run_step(run, DECIMAL_STEPS);
	if (value_is(args[0], VALUE_INT))
		return decimal_of_int(args[0].number);
	if (value_is(args[0], VALUE_FLOAT))
		return decimal_of_float(args[0].real);
	if (!method_text(run, args[0], "string", &text))
		argument_refuse(run, "a function of decimals", "a decimal, a number or a string", args, 0);
	return decimal_of_text(run, text);
}

/* ---- methods ---- */

typedef struct decimal binary(const struct decimal *a, const struct decimal *b);
typedef struct decimal unary(const struct decimal *a);

static struct value apply_binary(struct run *run, const struct value *args, const void *data, binary *operation)
{
	const struct decimal other = decimal_argument(run, args);

	return decimal_value(run, operation(data, &other));
}

static struct value apply_unary(struct run *run, const void *data, unary *operation)
{
	run_step(run, DECIMAL_STEPS);
	return decimal_value(run, operation(data));
}

/* 2 if one is NaN. */
static int compare(struct run *run, const struct value *args, const void *data)
{
	const struct decimal other = decimal_argument(run, args);

	return decimal_compare(data, &other);
}

#define BINARY(name, operation)                                                                                        \
	static struct value name(struct run *run, const struct value *args, size_t count, const void *data)            \
	{                                                                                                              \
		(void)count;                                                                                           \
		return apply_binary(run, args, data, operation);                                                       \
	}
#define UNARY(name, operation)                                                                                         \
	static struct value name(struct run *run, const struct value *args, size_t count, const void *data)            \
	{                                                                                                              \
		(void)args;                                                                                            \
		(void)count;                                                                                           \
		return apply_unary(run, data, operation);                                                              \
	}

METHOD_COMPARISON(call_is, compare, order == 0)
METHOD_COMPARISON(call_is_not, compare, order != 0)
METHOD_COMPARISON(call_less, compare, order < 0)
METHOD_COMPARISON(call_less_equal, compare, order <= 0)
METHOD_COMPARISON(call_greater, compare, order == 1)
METHOD_COMPARISON(call_greater_equal, compare, order == 0 || order == 1)
BINARY(call_add, decimal_add)
BINARY(call_subtract, decimal_subtract)
BINARY(call_multiply, decimal_multiply)
BINARY(call_divide, decimal_divide)
BINARY(call_remainder, decimal_remainder)
BINARY(call_power, decimal_power)
UNARY(call_exp, decimal_exp)
UNARY(call_ln, decimal_ln)
UNARY(call_log10, decimal_log10)
UNARY(call_sqrt, decimal_sqrt)
UNARY(call_ceiling, decimal_ceiling)
UNARY(call_floor, decimal_floor)
UNARY(call_absolute, decimal_absolute)
UNARY(call_negate, decimal_negate)

static const struct native methods[] = {
	{"is", 1, 1, false, call_is},
	{"is_not", 1, 1, false, call_is_not},
	{"less_than", 1, 1, false, call_less},
	{"lt", 1, 1, false, call_less},
	{"less_than_or_equals", 1, 1, false, call_less_equal},
	{"lte", 1, 1, false, call_less_equal},
	{"greater_than", 1, 1, false, call_greater},
	{"gt", 1, 1, false, call_greater},
	{"greater_than_or_equals", 1, 1, false, call_greater_equal},
	{"gte", 1, 1, false, call_greater_equal},
	{"add", 1, 1, false, call_add},
	{"subtract", 1, 1, false, call_subtract},
	{"sub", 1, 1, false, call_subtract},
	{"multiply", 1, 1, false, call_multiply},
	{"mul", 1, 1, false, call_multiply},
	{"divide", 1, 1, false, call_divide},
	{"div", 1, 1, false, call_divide},
	{"modulo", 1, 1, false, call_remainder},
	{"mod", 1, 1, false, call_remainder},
	{"remainder", 1, 1, false, call_remainder},
	{"rem", 1, 1, false, call_remainder},
	{"power", 1, 1, false, call_power},
	{"pow", 1, 1, false, call_power},
	{"exp", 0, 0, false, call_exp},
	{"loge", 0, 0, false, call_ln},
	{"ln", 0, 0, false, call_ln},
	{"log10", 0, 0, false, call_log10},
	{"log", 0, 0, false, call_log10},
	{"square_root", 0, 0, false, call_sqrt},
	{"sqrt", 0, 0, false, call_sqrt},
	{"ceiling", 0, 0, false, call_ceiling},
	{"ceil", 0, 0, false, call_ceiling},
	{"floor", 0, 0, false, call_floor},
	{"absolute", 0, 0, false, call_absolute},
	{"abs", 0, 0, false, call_absolute},
	{"negate", 0, 0, false, call_negate},
	{"neg", 0, 0, false, call_negate},
};

/* ---- decimals ---- */

static struct value int_field(struct run *run, const struct decimal *decimal)
{
	int64_t number;

	return decimal_int(decimal, &number) ? value_int(number) : value_undefined(run);
}

/* A coefficient of more than 63 bits is a float. */
static struct value coefficient_field(struct run *run, const struct decimal *decimal)
{
	struct decimal coefficient = *decimal;
	int64_t number;

	if (decimal->kind != DECIMAL_FINITE)
		return value_undefined(run);
	if (decimal_coefficient(decimal, &number))
		return value_int(number);
	coefficient.exponent = 0;
	coefficient.negative = false;
	return value_float(decimal_float(&coefficient));
}

static struct value exponent_field(struct run *run, const struct decimal *decimal)
{
	return decimal->kind == DECIMAL_FINITE ? value_int(decimal->exponent) : value_undefined(run);
}

static struct value decimal_value(struct run *run, struct decimal decimal)
{
	struct decimal *kept = run_alloc(run, 1, sizeof(*kept));
	struct value map = map_new(run, ARRAY_LEN(methods) + 8);
	char text[DECIMAL_TEXT_SIZE];

	*kept = decimal;
	map_set_text(run, map, "string", string_text(run, decimal_text(&decimal, text)));
	map_set_text(run, map, "float", value_float(decimal_float(&decimal)));
	map_set_text(run, map, "int", int_field(run, &decimal));
	map_set_text(run, map, "sign", value_int(decimal_sign(&decimal)));
	map_set_text(run, map, "coefficient", coefficient_field(run, &decimal));
	map_set_text(run, map, "exponent", exponent_field(run, &decimal));
	methods_add(run, map, methods, ARRAY_LEN(methods), kept);
	return map;
}

/* ---- the import ---- */

static struct value call_new(struct run *run, const struct value *args, size_t count, const void *data)
{
	(void)count;
	(void)data;
	return decimal_value(run, decimal_argument(run, args));
}

static struct value call_infinity(struct run *run, const struct value *args, size_t count, const void *data)
{
	const struct decimal sign = decimal_argument(run, args);

	(void)count;
	(void)data;
	return decimal_value(run, decimal_infinity(decimal_sign(&sign) < 0));
}

static struct value call_is_nan(struct run *run, const struct value *args, size_t count, const void *data)
{
	(void)count;
	(void)data;
	return value_bool(decimal_argument(run, args).kind == DECIMAL_NAN);
}

static struct value call_is_infinite(struct run *run, const struct value *args, size_t count, const void *data)
{
	(void)count;
	(void)data;
	return value_bool(decimal_argument(run, args).kind == DECIMAL_INFINITE);
}

static bool decimal_field(
	struct run *run, const struct import *import, const char *name, size_t len, struct value *ret_field)
{
	(void)import;
	if (len != strlen("nan") || memcmp(name, "nan", len) != 0)
		return false;
	*ret_field = decimal_value(run, decimal_nan());
	return true;
}

static const struct native functions[] = {
	{"new", 1, 1, false, call_new},
	{"infinity", 1, 1, false, call_infinity},
	{"inf", 1, 1, false, call_infinity},
	{"is_nan", 1, 1, false, call_is_nan},
	{"isnan", 1, 1, false, call_is_nan},
	{"is_infinite", 1, 1, false, call_is_infinite},
	{"is_inf", 1, 1, false, call_is_infinite},
	{"isinf", 1, 1, false, call_is_infinite},
	{"isinfinite", 1, 1, false, call_is_infinite},
};

const struct import import_decimal = {
	.name = "decimal",
	.functions = functions,
	.function_count = ARRAY_LEN(functions),
	.field = decimal_field,
};
