/* SPDX-License-Identifier: MPL-2.0 */
/* The predeclared functions (builtins.def). */
#include <string.h>

#include "policy/core/output.h"
#include "policy/evaluate/activation.h"

static _Noreturn void refuse(struct run *run, const char *function, const char *wanted, struct value given)
{
	run_fail(run, "%s takes %s, not %s", function, wanted, value_type_name(given));
}

/* ---- lists and maps ---- */

static struct value builtin_append(struct run *run, const struct value *args, size_t count, const void *data)
{
	(void)count;
	(void)data;
	if (args[0].type != VALUE_LIST)
		refuse(run, "append", "a list", args[0]);
	list_push(run, args[0], args[1]);
	return value_undefined(run);
}

static struct value builtin_delete(struct run *run, const struct value *args, size_t count, const void *data)
{
	(void)count;
	(void)data;
	if (args[0].type != VALUE_MAP)
		refuse(run, "delete", "a map", args[0]);
	if (args[1].type != VALUE_UNDEFINED)
		map_delete(run, args[0], args[1]);
	return value_undefined(run);
}

static struct value builtin_length(struct run *run, const struct value *args, size_t count, const void *data)
{
	(void)count;
	(void)data;
	switch (args[0].type) {
	case VALUE_STRING:
		return value_int((int64_t)string_len(args[0]));
	case VALUE_LIST:
		return value_int((int64_t)list_len(args[0]));
	case VALUE_MAP:
		return value_int((int64_t)map_len(args[0]));
	default:
		refuse(run, "length", "a string, a list or a map", args[0]);
	}
}

static struct value builtin_keys(struct run *run, const struct value *args, size_t count, const void *data)
{
	struct iterator at;
	struct value list;

	(void)count;
	(void)data;
	if (args[0].type != VALUE_MAP)
		refuse(run, "keys", "a map", args[0]);
	at = value_iterate(run, args[0]);
	list = list_new(run, map_len(args[0]));
	while (iterator_next(run, &at))
		list_push(run, list, at.key);
	return list;
}

static struct value builtin_values(struct run *run, const struct value *args, size_t count, const void *data)
{
	struct iterator at;
	struct value list;

	(void)count;
	(void)data;
	if (args[0].type != VALUE_MAP)
		refuse(run, "values", "a map", args[0]);
	at = value_iterate(run, args[0]);
	list = list_new(run, map_len(args[0]));
	while (iterator_next(run, &at))
		list_push(run, list, at.element);
	return list;
}

/* ---- range ---- */

struct bounds {
	int64_t start, end, step;
};

static struct bounds range_bounds(struct run *run, const struct value *args, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (args[i].type != VALUE_INT)
			refuse(run, "range", "ints", args[i]);
	return (struct bounds){
		.start = count > 1 ? args[0].number : 0,
		.end = count > 1 ? args[1].number : args[0].number,
		.step = count > 2 ? args[2].number : 1,
	};
}

/* The distance is less than 2^64, and the width of a step at most 2^63. */
static uint64_t range_length(const struct bounds *bounds)
{
	bool up = bounds->step > 0;
	uint64_t start = (uint64_t)bounds->start, end = (uint64_t)bounds->end, step = (uint64_t)bounds->step;

	if (up ? bounds->start >= bounds->end : bounds->start <= bounds->end)
		return 0;
	return ((up ? end - start : start - end) - 1) / (up ? step : 0 - step) + 1;
}

static struct value builtin_range(struct run *run, const struct value *args, size_t count, const void *data)
{
	struct bounds bounds = range_bounds(run, args, count);
	uint64_t len, number = (uint64_t)bounds.start;
	struct value list;

	(void)data;
	if (bounds.step == 0)
		run_fail(run, "the step of range is zero");
	len = range_length(&bounds);
	list = list_new(run, len > MAX_LIST ? (size_t)MAX_LIST + 1 : len);
	run_step(run, len);
	for (uint64_t i = 0; i < len; i++, number += (uint64_t)bounds.step)
		list_push(run, list, value_int((int64_t)number));
	return list;
}

/* ---- conversions ---- */

static struct value builtin_int(struct run *run, const struct value *args, size_t count, const void *data)
{
	(void)count;
	(void)data;
	return convert_int(run, args[0]);
}

static struct value builtin_float(struct run *run, const struct value *args, size_t count, const void *data)
{
	(void)count;
	(void)data;
	return convert_float(run, args[0]);
}

static struct value builtin_string(struct run *run, const struct value *args, size_t count, const void *data)
{
	(void)count;
	(void)data;
	return convert_string(run, args[0]);
}

static struct value builtin_bool(struct run *run, const struct value *args, size_t count, const void *data)
{
	(void)count;
	(void)data;
	return convert_bool(run, args[0]);
}

static struct value builtin_compare(struct run *run, const struct value *args, size_t count, const void *data)
{
	struct value above;

	(void)count;
	(void)data;
	above = operator_apply(run, OP_GREATER, args[0], args[1]);
	if (above.type != VALUE_BOOL)
		run_fail(run, "compare takes two numbers or two strings, not %s and %s", value_type_name(args[0]),
			value_type_name(args[1]));
	if (above.truth)
		return value_int(1);
	return value_int(operator_apply(run, OP_LESS, args[0], args[1]).truth ? -1 : 0);
}

/* ---- print and error ---- */

static struct output joined(struct run *run, const struct value *args, size_t count)
{
	struct output line = {0};

	for (size_t i = 0; i < count; i++) {
		struct value text = value_print(run, args[i], VALUE_BARE);

		if (i > 0)
			output_add(run, &line, " ", 1);
		output_add(run, &line, string_bytes(text), string_len(text));
	}
	return line;
}

static void print_line(struct run *run, const struct output *line)
{
	run_print(run, line->bytes, line->len);
	run_print(run, "\n", 1);
}

static struct value builtin_print(struct run *run, const struct value *args, size_t count, const void *data)
{
	struct output line = joined(run, args, count);

	(void)data;
	print_line(run, &line);
	return value_bool(true);
}

static struct value builtin_error(struct run *run, const struct value *args, size_t count, const void *data)
{
	struct output line = joined(run, args, count);

	(void)data;
	print_line(run, &line);
	run_fail(run, "%.*s", (int)(line.len < 1024 ? line.len : 1024), line.bytes ? line.bytes : "");
}

/* ---- the tables ---- */

#define BUILTIN(name, min, max, takes_undefined) {#name, (min), (max), (takes_undefined), builtin_##name},
static const struct native natives[] = {
#include "policy/evaluate/builtins.def"
};
#undef BUILTIN

enum {
#define BUILTIN(name, min, max, takes_undefined) INDEX_##name,
#include "policy/evaluate/builtins.def"
#undef BUILTIN
};

#define BUILTIN(name, min, max, takes_undefined) {.native = &natives[INDEX_##name], .arity = (max)},
static const struct function functions[] = {
#include "policy/evaluate/builtins.def"
};
#undef BUILTIN

struct value builtin_function(uint32_t index)
{
	return (struct value){.type = VALUE_FUNCTION, .function = &functions[index]};
}
