/* SPDX-License-Identifier: MPL-2.0 */
/* The interface of the evaluation: units, imports, verdicts, rules. tests/policy has the cases of the language. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "policy/evaluate/evaluate.h"

/* Bodies run in a thread of their own, out of which no assertion may jump. */
#define check(run, condition) ((condition) ? (void)0 : run_fail((run), "line %d: %s", __LINE__, #condition))

typedef void (*body)(struct run *run, void *data);

static void run_with(body test)
{
	struct run run;
	int result;

	run_init(&run, &run_limits_default);
	result = run_protected(&run, test, NULL);
	if (result < 0)
		print_error("%s\n", run.failure.message);
	assert_int_equal(result, 0);
	run_release(&run);
}

static struct unit *parse(struct run *run, const char *text, enum tree_role role)
{
	struct source *source = run_alloc(run, 1, sizeof(*source));

	*source = (struct source){.name = "test", .text = text, .len = strlen(text)};
	return unit_new(run, tree_parse(run, source, role));
}

static enum verdict verdict_of(struct run *run, struct unit *unit)
{
	struct outcome outcome;

	unit_evaluate(run, unit, &outcome);
	return outcome.verdict;
}

static bool prints(struct run *run, struct value value, const char *text)
{
	return string_equals(value_print(run, value, VALUE_QUOTED), text);
}

/* ---- verdicts and rules ---- */

static void verdicts(struct run *run, void *data)
{
	(void)data;
	check(run, verdict_of(run, parse(run, "main = rule { 1 is 1 }", TREE_POLICY)) == VERDICT_PASSED);
	check(run, verdict_of(run, parse(run, "main = rule { 1 is 2 }", TREE_POLICY)) == VERDICT_FAILED);
	check(run, verdict_of(run, parse(run, "main = rule { {}.a }", TREE_POLICY)) == VERDICT_UNDEFINED);
}

static void rules(struct run *run, void *data)
{
	struct unit *unit = parse(run,
		"// the first\na = rule { 1 }\n\nb = rule { false }\nx = 3\n# the result\nmain = rule { a is 1 }\n",
		TREE_POLICY);
	struct evaluated_rule *evaluated;
	struct value value;

	(void)data;
	check(run, unit_rules(run, unit, &evaluated) == 0);
	check(run, verdict_of(run, unit) == VERDICT_PASSED);
	check(run, unit_rules(run, unit, &evaluated) == 2);
	check(run, evaluated[0].note->name.len == 4 && evaluated[0].value.truth);
	check(run, evaluated[1].note->name.len == 1 && evaluated[1].value.number == 1);
	check(run, unit_variable(unit, "x", 1, &value) && value.number == 3);
	check(run, unit_variable(unit, "a", 1, &value) && value.number == 1);
	check(run, !unit_variable(unit, "b", 1, &value) && !unit_variable(unit, "y", 1, &value));
}

static void policies_have_a_verdict_and_rules(void **state)
{
	(void)state;
	run_with(verdicts);
	run_with(rules);
}

struct failing {
	struct unit *unit;
	size_t count;
};

static void evaluate_failing(struct run *run, void *data)
{
	struct failing *failing = data;
	struct outcome outcome;

	failing->unit =
		parse(run, "a = rule { 1 }\nb = rule { 1 + \"a\" }\nmain = rule { a is 1 and b }\n", TREE_POLICY);
	unit_evaluate(run, failing->unit, &outcome);
}

static void count_rules(struct run *run, void *data)
{
	struct failing *failing = data;
	struct evaluated_rule *evaluated;

	failing->count = unit_rules(run, failing->unit, &evaluated);
}

static void an_error_keeps_the_rules_before_it(void **state)
{
	struct failing failing = {0};
	struct run run;
	unsigned line, column;

	(void)state;
	run_init(&run, &run_limits_default);
	assert_int_equal(run_protected(&run, evaluate_failing, &failing), -1);
	place_position(run.failure.place, &line, &column);
	assert_int_equal(line, 2);
	assert_int_equal(column, 14);
	assert_int_equal(run_protected(&run, count_rules, &failing), 0);
	assert_int_equal(failing.count, 1);
	run_release(&run);
}

/* ---- imports ---- */

static struct value make_item(struct run *run, const void *data, uint32_t offset)
{
	struct value map = map_new(run, 1);

	(void)offset;
	(*(int *)data)++;
	map_set_text(run, map, "n", value_int(1));
	return map;
}

/* `data` counts the elements that were made. */
static bool items_field(
	struct run *run, const struct import *import, const char *name, size_t len, struct value *ret_field)
{
	static struct value items;

	if (len != 5 || memcmp(name, "items", 5) != 0)
		return false;
	if (*(int *)import->data < 0) {
		*(int *)import->data = 0;
		items = map_new(run, 0);
		for (int i = 0; i < 1000; i++)
			map_set_lazy(run, items, value_int(i), (struct lazy){make_item, import->data});
	}
	*ret_field = items;
	return true;
}

/* Calls its second argument with each element of its first. */
static struct value native_each(struct run *run, const struct value *args, size_t count, const void *data)
{
	struct value results = list_new(run, 0);

	(void)count;
	(void)data;
	for (size_t i = 0; i < list_len(args[0]); i++) {
		struct value element = list_at(run, args[0], i);

		list_push(run, results, value_call(run, args[1], &element, 1));
	}
	return results;
}

static const struct native each = {"each", 2, 2, false, native_each};

static void import_fields(struct run *run, void *data)
{
	int made = -1;
	struct import import = {.name = "data", .field = items_field, .data = &made};
	struct unit *unit = parse(run,
		"import \"data\"\n"
		"a = data.items[5].n\nx = data.items\nx[7][\"n\"] = 2\n"
		"main = [a, x[7].n, data.items[7].n, data.others is defined]\n",
		TREE_POLICY);
	struct value main;

	(void)data;
	unit_set_import(unit, 0, (struct value){.type = VALUE_IMPORT, .import = &import});
	unit_run(run, unit);
	check(run, unit_variable(unit, "main", 4, &main) && prints(run, main, "[1, 2, 1, false]"));
	check(run, made == 2);
}

static void import_functions(struct run *run, void *data)
{
	struct import import = {.name = "tools", .functions = &each, .function_count = 1};
	struct unit *unit = parse(run,
		"import \"tools\"\nn = 10\n"
		"main = tools.each([1, 2], func(x) { n += x; return n })\n",
		TREE_POLICY);
	struct value main;

	(void)data;
	unit_set_import(unit, 0, (struct value){.type = VALUE_IMPORT, .import = &import});
	unit_run(run, unit);
	check(run, unit_variable(unit, "main", 4, &main) && prints(run, main, "[11, 13]"));
}

static void imports_have_fields_and_functions(void **state)
{
	(void)state;
	run_with(import_fields);
	run_with(import_functions);
}

static void import_circle(struct run *run, void *data)
{
	struct unit *unit = parse(run, "import \"m\"\nmain = true\n", TREE_POLICY);

	(void)data;
	unit_set_import(unit, 0, unit_as_import(unit));
	unit_run(run, unit);
}

static void a_circle_of_modules_is_an_error(void **state)
{
	struct run run;

	(void)state;
	run_init(&run, &run_limits_default);
	assert_int_equal(run_protected(&run, import_circle, NULL), -1);
	assert_string_equal(run.failure.message, "the module test imports itself");
	run_release(&run);
}

/* ---- variables that are given ---- */

static void given_variables(struct run *run, void *data)
{
	struct unit *unit = parse(run, "param p default 1\nmain = p + given\n", TREE_POLICY);
	struct value main;
	uint32_t slot;

	(void)data;
	unit_set_variable(unit, unit_tree(unit)->params[0].slot, value_int(5));
	check(run, tree_variable(unit_tree(unit), "given", 5, &slot));
	unit_set_variable(unit, slot, value_int(2));
	unit_run(run, unit);
	check(run, unit_variable(unit, "main", 4, &main) && main.number == 7);
}

static void parameters_and_globals_are_given(void **state)
{
	(void)state;
	run_with(given_variables);
}

/* ---- memory ---- */

static size_t memory_of(struct run *run, const char *text)
{
	size_t before = run->allocated;

	unit_run(run, parse(run, text, TREE_POLICY));
	return run->allocated - before;
}

static void loops(struct run *run, void *data)
{
	(void)data;
	check(run, memory_of(run, "s = \"\"\nfor range(50000) as i { s += \"line\\n\" }\nmain = true") < 10 << 20);
	check(run, memory_of(run, "l = []\nfor range(50000) as i { l += [i] }\nmain = true") < 30 << 20);
	check(run, memory_of(run, "n = 0\nfor range(50000) as i { if i < 5 { n += i } }\nmain = true") < 3 << 20);
	check(run,
		memory_of(run,
			"f = func(x) { y = x + 1; return y }\nn = 0\n"
			"for range(50000) as i { n = f(n) }\nmain = true") < 3 << 20);
}

static void loops_take_linear_memory(void **state)
{
	(void)state;
	run_with(loops);
}

/* ---- limits ---- */

static void evaluate_false(struct run *run, void *data)
{
	static const char text[] = "s = \"\"\nl = []\nfor range(40) as i { s += \"text\"; l += [{\"n\": i}] }\n"
				   "r = rule when s matches \"t+e\" { any l as e { e.n is 40 } }\n"
				   "main = rule { r or length(s) is not 160 }\n";
	struct outcome outcome;

	unit_evaluate(run, parse(run, text, TREE_POLICY), &outcome);
	*(bool *)data = outcome.verdict == VERDICT_FAILED;
	check(run, outcome.verdict == VERDICT_FAILED);
}

/* The policy fails, or its limit is reached; it never passes. Returns true if it was evaluated. */
static bool evaluate_within(const struct run_limits *limits)
{
	bool failed = false;
	struct run run;
	int result;

	run_init(&run, limits);
	result = run_protected(&run, evaluate_false, &failed);
	assert_int_equal(result, failed ? 0 : -1);
	if (!failed)
		assert_string_equal(strstr(run.failure.message, "the limit of ") ? "" : run.failure.message, "");
	run_release(&run);
	return failed;
}

static void no_limit_makes_a_policy_pass(void **state)
{
	struct run_limits limits = run_limits_default;

	(void)state;
	for (limits.steps = 1; !evaluate_within(&limits); limits.steps += 7)
		;
	assert_in_range(limits.steps, 500, 5000);
	limits = run_limits_default;
	for (limits.memory_bytes = 16; !evaluate_within(&limits); limits.memory_bytes += 512)
		;
	assert_in_range(limits.memory_bytes, 10000, 200000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(policies_have_a_verdict_and_rules),
		cmocka_unit_test(an_error_keeps_the_rules_before_it),
		cmocka_unit_test(imports_have_fields_and_functions),
		cmocka_unit_test(a_circle_of_modules_is_an_error),
		cmocka_unit_test(parameters_and_globals_are_given),
		cmocka_unit_test(loops_take_linear_memory),
		cmocka_unit_test(no_limit_makes_a_policy_pass),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
