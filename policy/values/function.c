/* SPDX-License-Identifier: MPL-2.0 */
#include "policy/values/value.h"

struct value function_native(struct run *run, const struct native *native, const void *data)
{
	struct function *function = run_alloc(run, 1, sizeof(*function));

	*function = (struct function){.native = native, .data = data, .arity = native->max_args};
	return (struct value){.type = VALUE_FUNCTION, .function = function};
}

size_t function_arity(struct value function)
{
	return function.function->arity;
}

static _Noreturn void fail_count(struct run *run, const char *name, const char *expected, size_t count)
{
	const char *subject = *name ? name : "the function";

	run_fail(run, "%s takes %s, %zu given", subject, expected, count);
}

static const char *plural(size_t count)
{
	return count == 1 ? "" : "s";
}

void call_check(struct run *run, const char *name, size_t min, size_t max, size_t count)
{
	if (count >= min && (count <= max || max == NATIVE_ANY))
		return;
	if (min == max)
		fail_count(run, name, run_text(run, "%zu argument%s", min, plural(min)), count);
	if (max == NATIVE_ANY)
		fail_count(run, name, run_text(run, "at least %zu argument%s", min, plural(min)), count);
	fail_count(run, name, run_text(run, "%zu to %zu arguments", min, max), count);
}

struct value native_call(
	struct run *run, const struct native *native, const void *data, const struct value *args, size_t count)
{
	call_check(run, native->name, native->min_args, native->max_args, count);
	for (size_t i = 0; i < count && !native->takes_undefined; i++)
		if (args[i].type == VALUE_UNDEFINED)
			return args[i];
	return native->call(run, args, count, data);
}

struct value value_call(struct run *run, struct value called, const struct value *args, size_t count)
{
	const struct function *function = called.function;

	if (called.type == VALUE_UNDEFINED)
		return called;
	if (called.type != VALUE_FUNCTION)
		run_fail(run, "only a function can be called, not %s", value_type_name(called));
	if (function->native)
		return native_call(run, function->native, function->data, args, count);
	call_check(run, "", function->arity, function->arity, count);
	return function->call(run, function, args, count);
}
