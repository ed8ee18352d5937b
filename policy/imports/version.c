/* SPDX-License-Identifier: MPL-2.0 */
#include "policy/library/version.h"

#include "common/base.h"
#include "policy/imports/arguments.h"
#include "policy/imports/methods.h"
#include "policy/imports/standard.h"

/* A version, or its text. */
static struct version version_argument(struct run *run, const struct value *args)
{
	struct version version;
	struct value text;

	if (!method_text(run, args[0], "version", &text))
		argument_refuse(run, "a function of versions", "a version or a string", args, 0);
	run_step_bytes(run, string_len(text));
	if (!version_parse(string_bytes(text), string_len(text), &version))
		run_fail(run, "not a version: %.*s", string_len(text) < 64 ? (int)string_len(text) : 64,
			string_bytes(text));
	return version;
}

static int compare(struct run *run, const struct value *args, const void *data)
{
	struct version other = version_argument(run, args);

	return version_compare(data, &other);
}

METHOD_COMPARISON(call_greater, compare, order > 0)
METHOD_COMPARISON(call_greater_equal, compare, order >= 0)
METHOD_COMPARISON(call_less, compare, order < 0)
METHOD_COMPARISON(call_less_equal, compare, order <= 0)
METHOD_COMPARISON(call_equals, compare, order == 0)

static struct value call_compare(struct run *run, const struct value *args, size_t count, const void *data)
{
	(void)count;
	return value_int(compare(run, args, data));
}

static struct value call_satisfies(struct run *run, const struct value *args, size_t count, const void *data)
{
	int satisfied;

	arguments_check(run, "satisfies", "s", args, count);
	run_step_bytes(run, string_len(args[0]));
	satisfied = version_satisfies(data, string_bytes(args[0]), string_len(args[0]));
	if (satisfied < 0)
		run_fail(run, "not a constraint of versions: %.*s",
			string_len(args[0]) < 64 ? (int)string_len(args[0]) : 64, string_bytes(args[0]));
	return value_bool(satisfied);
}

static const struct native methods[] = {
	{"greater_than", 1, 1, false, call_greater},
	{"gt", 1, 1, false, call_greater},
	{"greater_than_or_equals", 1, 1, false, call_greater_equal},
	{"gte", 1, 1, false, call_greater_equal},
	{"less_than", 1, 1, false, call_less},
	{"lt", 1, 1, false, call_less},
	{"less_than_or_equals", 1, 1, false, call_less_equal},
	{"lte", 1, 1, false, call_less_equal},
	{"equals", 1, 1, false, call_equals},
	{"eq", 1, 1, false, call_equals},
	{"compare", 1, 1, false, call_compare},
	{"cmp", 1, 1, false, call_compare},
	{"satisfies", 1, 1, false, call_satisfies},
	{"sat", 1, 1, false, call_satisfies},
};

static struct value call_new(struct run *run, const struct value *args, size_t count, const void *data)
{
	struct version *version = run_alloc(run, 1, sizeof(*version));
	struct value map = map_new(run, 32);
	char text[VERSION_TEXT_SIZE];

	(void)count;
	(void)data;
	*version = version_argument(run, args);
	map_set_text(run, map, "major", value_int(version->numbers[0]));
	map_set_text(run, map, "minor", value_int(version->numbers[1]));
	map_set_text(run, map, "patch", value_int(version->numbers[2]));
	map_set_text(run, map, "prerelease", string_text(run, version->prerelease));
	map_set_text(run, map, "metadata", string_text(run, version->metadata));
	map_set_text(run, map, "version", string_text(run, version_text(version, text)));
	methods_add(run, map, methods, ARRAY_LEN(methods), version);
	return map;
}

static const struct native functions[] = {
	{"new", 1, 1, false, call_new},
};

const struct import import_version = {
	.name = "version",
	.functions = functions,
	.function_count = ARRAY_LEN(functions),
};
