/* SPDX-License-Identifier: MPL-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include "common/buf.h"
#include "policy/evaluate/evaluate.h"
#include "policy/imports/standard.h"

/* What each import does is in tests/policy/imports. Here is what needs the run: clocks, limits, memory. */

struct policy {
	const char *text;
	struct run run;
	struct value x; /* of the variable x */
	char printed[256];
};

static void evaluate(struct run *run, void *data)
{
	struct policy *policy = data;
	struct source *source = run_alloc(run, 1, sizeof(*source));
	struct outcome outcome;
	struct unit *unit;
	struct tree *tree;
	struct value text;

	*source = (struct source){.name = "test", .text = policy->text, .len = strlen(policy->text)};
	tree = tree_parse(run, source, TREE_POLICY);
	unit = unit_new(run, tree);
	for (uint32_t i = 0; i < tree->import_count; i++) {
		struct word path = tree->imports[i].path;
		const struct import *import = standard_import(path.bytes, path.len);

		assert_non_null(import);
		unit_set_import(unit, i, (struct value){.type = VALUE_IMPORT, .import = import});
	}
	unit_evaluate(run, unit, &outcome);
	if (!unit_variable(unit, "x", 1, &policy->x))
		run_fail(run, "x has no value");
	text = value_print(run, policy->x, VALUE_QUOTED);
	snprintf(policy->printed, sizeof(policy->printed), "%.*s", (int)string_len(text), string_bytes(text));
}

static void policy_init(struct policy *policy, const char *text)
{
	*policy = (struct policy){.text = text};
	run_init(&policy->run, &run_limits_default);
}

static void assert_x(const char *text, const char *wanted)
{
	struct policy policy;

	policy_init(&policy, text);
	if (run_protected(&policy.run, evaluate, &policy) < 0)
		fail_msg("%s", policy.run.failure.message);
	assert_string_equal(policy.printed, wanted);
	run_release(&policy.run);
}

static void assert_failure(const char *text, const char *wanted)
{
	struct policy policy;

	policy_init(&policy, text);
	assert_int_equal(run_protected(&policy.run, evaluate, &policy), -1);
	if (!strstr(policy.run.failure.message, wanted))
		fail_msg("%s", policy.run.failure.message);
	run_release(&policy.run);
}

static void test_all_imports_are_found_by_name(void **state)
{
	size_t count = 0;

	(void)state;
	for (const struct import *const *import = standard_imports; *import; import++, count++)
		assert_ptr_equal(standard_import((*import)->name, strlen((*import)->name)), *import);
	assert_int_equal(count, 14);
	assert_null(standard_import("string", 6));
	assert_null(standard_import("collection/", 11));
	assert_null(standard_import("https", 5));
}

static void test_now_is_fixed(void **state)
{
	struct policy policy;

	(void)state;
	policy_init(&policy,
		"import \"time\"\nx = [time.now.unix, time.now.unix_nano, time.now.zone_string]\nmain = true\n");
	policy.run.now.tv_sec = 1709251199;
	policy.run.now.tv_nsec = 5;
	policy.run.has_now = true;
	assert_int_equal(run_protected(&policy.run, evaluate, &policy), 0);
	assert_string_equal(policy.printed, "[1709251199, 1709251199000000005, \"+00:00\"]");
	run_release(&policy.run);
	assert_x("import \"time\"\na = time.now.unix_nano\nfor range(1000) as i { i }\nx = a is time.now.unix_nano\n"
		 "main = true\n",
		"true");
}

static void test_an_unknown_time_zone_is_an_error(void **state)
{
	struct policy policy;

	(void)state;
	policy_init(&policy, "import \"time\"\nx = time.now.unix\nmain = true\n");
	policy.run.timezone = "Atlantis/Capital";
	assert_int_equal(run_protected(&policy.run, evaluate, &policy), -1);
	assert_non_null(strstr(policy.run.failure.message, "Atlantis/Capital"));
	run_release(&policy.run);
}

/* import "json"; x = json.FUNCTION("[[[…"), with or without the closing brackets */
static char *nested_json(const char *function, size_t depth, bool closed)
{
	struct buf text = BUF_INIT(1 << 20);

	buf_printf(&text, "import \"json\"\nx = json.%s(`", function);
	for (size_t i = 0; i < depth; i++)
		buf_text(&text, "[");
	for (size_t i = 0; closed && i < depth; i++)
		buf_text(&text, "]");
	buf_text(&text, "`) is 1\nmain = true\n");
	return buf_take(&text);
}

static void assert_nested(const char *function, size_t depth, bool closed, const char *failure)
{
	_cleanup_(freep) char *text = nested_json(function, depth, closed);

	if (failure)
		assert_failure(text, failure);
	else
		assert_x(text, "false");
}

static void test_json_may_be_nested_as_deeply_as_the_language(void **state)
{
	(void)state;
	assert_nested("unmarshal", 4900, true, NULL);
	assert_nested("unmarshal", 100000, true, "nesting");
	assert_nested("unmarshal", 100000, false, "nesting");
	assert_nested("valid", 100000, false, "nesting");
}

static void test_what_holds_itself_ends_at_the_nesting_limit(void **state)
{
	(void)state;
	assert_failure("import \"json\"\nl = []\nappend(l, l)\nx = json.marshal(l)\nmain = true\n", "nesting");
	assert_failure(
		"import \"strings\"\nl = []\nappend(l, l)\nx = strings.join(l, \",\")\nmain = true\n", "nesting");
	assert_failure(
		"import \"collection/maps\" as maps\nm = {}\nm[\"a\"] = m\nx = maps.set(m, \"b\", 1)\nmain = true\n",
		"nesting");
	assert_failure(
		"import \"collection/maps\" as maps\nm = {}\nm[\"a\"] = m\nx = maps.pick(m, [\"a\"])\nmain = true\n",
		"nesting");
	assert_failure("import \"collection\"\nm = {}\nm[\"a\"] = m\nx = collection.matches([m], m)\nmain = true\n",
		"nesting");
}

static void test_a_deep_path_ends_at_the_nesting_limit(void **state)
{
	(void)state;
	assert_failure("import \"collection/maps\" as maps\np = \"a\"\nfor range(14) as _ { p += \".\" + p }\n"
		       "x = maps.set({}, p, 1)\nmain = true\n",
		"nesting");
	assert_x("import \"collection/maps\" as maps\np = \"a\"\nfor range(14) as _ { p += \".\" + p }\n"
		 "x = maps.get({\"a\": {}}, p, 7)\nmain = true\n",
		"7");
}

static void test_an_inconsistent_order_ends(void **state)
{
	(void)state;
	assert_x("import \"collection/lists\" as lists\nx = length(lists.sort(range(1000), func(a, b) { return true "
		 "}))\n"
		 "main = true\n",
		"1000");
	assert_x("import \"collection/lists\" as lists\nl = [3, 1, 2]\n"
		 "x = lists.sort(l, func(a, b) { append(l, 9)\nreturn a < b })\nmain = true\n",
		"[1, 2, 3]");
}

static void test_strings_have_a_bound(void **state)
{
	(void)state;
	assert_failure("import \"strings\"\ns = \"0123456789abcdef\"\nfor range(20) as _ { s += s }\n"
		       "x = length(strings.replace(s, \"\", s))\nmain = true\n",
		"256 MiB");
}

static void test_what_import_functions_copy_is_not_shared(void **state)
{
	(void)state;
	assert_x("import \"collection/maps\" as maps\na = {\"b\": {\"c\": [1]}}\nn = maps.set(a, \"d\", 2)\n"
		 "n.b.c[0] = 5\na.b[\"e\"] = 6\nx = [a, n]\nmain = true\n",
		"[{\"b\": {\"c\": [1], \"e\": 6}}, {\"b\": {\"c\": [5]}, \"d\": 2}]");
	assert_x("import \"collection/maps\" as maps\na = {\"b\": {\"c\": 1}}\ng = maps.get(a, \"b\")\ng[\"c\"] = 5\n"
		 "x = [a, g]\nmain = true\n",
		"[{\"b\": {\"c\": 1}}, {\"c\": 5}]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_imports_are_found_by_name),
		cmocka_unit_test(test_now_is_fixed),
		cmocka_unit_test(test_an_unknown_time_zone_is_an_error),
		cmocka_unit_test(test_json_may_be_nested_as_deeply_as_the_language),
		cmocka_unit_test(test_what_holds_itself_ends_at_the_nesting_limit),
		cmocka_unit_test(test_a_deep_path_ends_at_the_nesting_limit),
		cmocka_unit_test(test_an_inconsistent_order_ends),
		cmocka_unit_test(test_strings_have_a_bound),
		cmocka_unit_test(test_what_import_functions_copy_is_not_shared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
