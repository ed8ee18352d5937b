/* SPDX-License-Identifier: MPL-2.0 */
#include "policy/library/json.h"

#include "common/base.h"
#include "policy/imports/arguments.h"
#include "policy/imports/standard.h"

static struct value call_unmarshal(struct run *run, const struct value *args, size_t count, const void *data)
{
	struct json_error error;
	struct value value;

	(void)data;
	arguments_check(run, "json.unmarshal", "s", args, count);
	if (!json_read(run, string_bytes(args[0]), string_len(args[0]), &value, &error))
		run_fail(run, "json.unmarshal: %s at byte %zu", error.message, error.offset);
	return value;
}

static struct value call_valid(struct run *run, const struct value *args, size_t count, const void *data)
{
	struct json_error error;
	struct value value;

	(void)data;
	arguments_check(run, "json.valid", "s", args, count);
	return value_bool(json_read(run, string_bytes(args[0]), string_len(args[0]), &value, &error));
}

static void refuse_functions(struct run *run, struct value value)
{
	struct iterator at;

	if (value_is(value, VALUE_FUNCTION))
		run_fail(run, "json.marshal: JSON has no functions");
	if (!value_is(value, VALUE_LIST) && !value_is(value, VALUE_MAP))
		return;
	run_enter(run);
	at = value_iterate(run, value);
	while (iterator_next(run, &at))
		refuse_functions(run, at.element);
	run_leave(run);
}

static struct value call_marshal(struct run *run, const struct value *args, size_t count, const void *data)
{
	struct output output = {0};

	(void)count;
	(void)data;
	refuse_functions(run, args[0]);
	json_write(run, &output, args[0]);
	return string_borrow(run, output.bytes, output.len);
}

static const struct native functions[] = {
	{"marshal", 1, 1, false, call_marshal},
	{"unmarshal", 1, 1, false, call_unmarshal},
	{"valid", 1, 1, false, call_valid},
};

const struct import import_json = {
	.name = "json",
	.functions = functions,
	.function_count = ARRAY_LEN(functions),
};
