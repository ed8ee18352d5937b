/* SPDX-License-Identifier: MPL-2.0 */
#include "tests/unit/policy/parsing.h"

#include "tests/unit/policy/tree_text.h"

static const char *text_seen;
static struct tree *tree_seen;
static enum tree_role role;

static void parse(struct run *run, void *data)
{
	struct parsing *parsing = data;

	tree_seen = tree_parse(run, &parsing->source, role);
	text_seen = tree_text(run, tree_seen, true);
}

static void check_pairs(const char *const (*pairs)[2], size_t count, enum tree_role of_role)
{
	role = of_role;
	for (size_t i = 0; i < count; i++) {
		struct parsing parsing;

		parsing_begin(&parsing, pairs[i][0], strlen(pairs[i][0]), parse);
		assert_string_equal(parsing.error[0] ? parsing.error : text_seen, pairs[i][1]);
		parsing_end(&parsing);
	}
}

static void test_names_are_slots_of_scopes(void **state)
{
	static const char *const pairs[][2] = {
		{"a = 1\nb = a", "(= a@0.0 1) (= b@0.1 a@0.0)"},
		{"if 1 { a = 1 } else { b = 2 }\na\nb", "(if 1 { (= a@0.0 1) } { (= b@0.1 2) }) a@0.0 b@0.1"},
		{"case 1 {\nwhen 1: a = 1\n}\na", "(case 1 when 1 { (= a@0.0 1) }) a@0.0"},
		{"func f(x, y) { return y }", "(= f@0.0 (func f(x y) { (return y@0.1) }))"},
		{"for [] as k, v { z = v }", "(for (list) as k,v { (= z@0.2 v@0.1) })"},
		{"x = 1\nall [] as v { v is x }", "(= x@0.0 1) (all (list) as v (is v@0.0 x@1.0))"},
		{"x = 1\nfor [] as v { for [] as w { x += v } }",
			"(= x@0.0 1) (for (list) as v { (for (list) as w { (+= x@2.0 v@1.0) }) })"},
		{"x = 1\nfor [] as v { x = v }", "(= x@0.0 1) (for (list) as v { (= x@1.0 v@0.0) })"},
		{"f = func(x) { for [] as v { x = v } }",
			"(= f@0.0 (func (x) { (for (list) as v { (= x@1.0 v@0.0) }) }))"},
		{"import \"strings\"\nimport \"b\" as c\na = c.x(strings)",
			"(import strings strings) (import b c) (= a@0.0 (call (. c@import 1 x) strings@import 0))"},
		{"length(x) is keys(x)\nx = 1",
			"(is (call length@builtin 8 x@0.0) (call keys@builtin 7 x@0.0)) (= x@0.0 1)"},
		{"func f(x, x) { return x }", "(= f@0.0 (func f(x x) { (return x@0.1) }))"},
		{"import \"a\"\nf = func(a) { a = 1 }", "(import a a) (= f@0.0 (func (a) { (= a@0.0 1) }))"},
		{"a = a.a(a)", "(= a@0.0 (call (. a@0.0 a) a@0.0))"},
		{"func f() { f() }", "(= f@0.0 (func f() { (call f@1.0) }))"},
	};

	(void)state;
	check_pairs(pairs, ARRAY_LEN(pairs), TREE_MODULE);
}

static void test_assignments_may_have_several_candidates(void **state)
{
	static const char *const pairs[][2] = {
		/* The file's x may have no value yet when f runs. */
		{"f = func() { x = 1; return x }\nx = f()",
			"(= f@0.0 (func () { (= x@0.0|1.1 1) (return x@0.0|1.1) })) (= x@0.1 (call f@0.0))"},
		/* It has one. */
		{"x = 1\nf = func() { x = 2; return x }",
			"(= x@0.0 1) (= f@0.1 (func () { (= x@1.0 2) (return x@1.0) }))"},
		/* A condition stands around it. */
		{"if 1 { x = 1 }\nfor [] as v { x = v }",
			"(if 1 { (= x@0.0 1) }) (for (list) as v { (= x@0.1|1.0 v@0.0) })"},
		/* A parameter has always one. */
		{"f = func(x) { g = func() { x = 1 } }\nx = 1",
			"(= f@0.0 ^(func (x) { (= g@0.1 (func () { (= x@1.0 1) })) })) (= x@0.1 1)"},
		/* Predeclared names can be variables. */
		{"keys = keys({})\nkeys", "(= keys@0.0|builtin 7 (call keys@0.0|builtin 7 (map))) keys@0.0"},
		{"f = func() { values = values({}) }",
			"(= f@0.0 (func () { (= values@0.0|builtin 12 (call values@0.0|builtin 12 (map))) }))"},
	};

	(void)state;
	check_pairs(pairs, ARRAY_LEN(pairs), TREE_MODULE);
}

static void test_scopes_that_outlive_their_end_are_captured(void **state)
{
	static const char *const pairs[][2] = {
		{"f = func(x) { return func() { return x } }",
			"(= f@0.0 ^(func (x) { (return (func () { (return x@1.0) })) }))"},
		{"f = func(x) { return func(y) { return y } }",
			"(= f@0.0 (func (x) { (return (func (y) { (return y@0.0) })) }))"},
		/* What reaches the file passes each scope on the way. */
		{"z = 1\nf = func(x) { return func() { return z } }",
			"(= z@0.0 1) (= f@0.1 ^(func (x) { (return (func () { (return z@2.0) })) }))"},
		{"for [] as v { r = rule { v } }", "^(for (list) as v { (= r@0.1 (rule v@0.0)) })"},
		{"for [] as v { r = rule { any v as w { w } } }",
			"^(for (list) as v { (= r@0.1 (rule (any v@0.0 as w w@0.0))) })"},
		{"f = func(x) { for [] as v { x += v } }",
			"(= f@0.0 (func (x) { (for (list) as v { (+= x@1.0 v@0.0) }) }))"},
		{"f = func(x) { return func() { return all [] as v { x } } }",
			"(= f@0.0 ^(func (x) { (return (func () { (return (all (list) as v x@2.0)) })) }))"},
		{"f = func(x) { return rule when x { 1 } }", "(= f@0.0 ^(func (x) { (return (rule 1 x@0.0)) }))"},
	};

	(void)state;
	check_pairs(pairs, ARRAY_LEN(pairs), TREE_MODULE);
}

static void test_errors_name_what_is_wrong(void **state)
{
	static const char *const pairs[][2] = {
		{"a = 1", "1:1: main is missing"},
		{"for [] as v { main = 1 }", "1:1: main is missing"},
		{"", "1:1: main is missing"},
		{"import \"a\"\nimport \"b\" as a\nmain = 1", "2:8: the import \"a\" is repeated with another path"},
		{"import \"a\"\nmain = 1\na = 1", "3:1: the import \"a\" cannot be assigned"},
		{"import \"a\"\nmain = 1\nfunc f() {\n a += 1\n}", "4:2: the import \"a\" cannot be assigned"},
		{"import \"a\"\nmain = 1\na += 1", "3:1: the import \"a\" cannot be assigned"},
		{"import \"a\"\nmain = 1\nfunc a() { }", "3:6: the import \"a\" cannot be assigned"},
		{"import \"a\"\nmain = 1\na = rule { 1 }", "3:1: the import \"a\" cannot be assigned"},
		{"import \"a\"\nparam a\nmain = 1", "2:7: the parameter \"a\" has the name of an import"},
		{"param length\nmain = 1", "1:7: the parameter \"length\" has a predeclared name"},
		{"param true\nmain = 1", "1:7: \"true\" is predeclared and cannot name anything else"},
		{"param a\nparam a\nmain = 1", "2:7: the parameter \"a\" is repeated"},
		{"main = 1\nkeys += 1", "2:1: the function \"keys\" is predeclared and has no value to change"},
	};

	(void)state;
	check_pairs(pairs, ARRAY_LEN(pairs), TREE_POLICY);
}

static void test_accepted_policies(void **state)
{
	static const char *const pairs[][2] = {
		{"import \"report\" as report\nmain = 1", "(import report report) (= main@0.0 1)"},
		{"import \"a\" as b\nimport \"a\" as c\nmain = 1", "(import a b) (import a c) (= main@0.0 1)"},
		{"if 1 { main = 1 }", "(if 1 { (= main@0.0 1) })"},
		{"param main", "(param main)"},
		{"param p\nmain = p", "(param p) (= main@0.1 p@0.0)"},
	};

	(void)state;
	check_pairs(pairs, ARRAY_LEN(pairs), TREE_POLICY);
}

static void test_unassigned_names_are_noted_once(void **state)
{
	static const char text[] = "main = rule { a and b }\nf = func() { return a }\nfor [] as v { c = 1 }\nd = c\n";
	static const struct {
		const char *name;
		uint32_t offset;
	} wanted[] = {{"a", 14}, {"b", 20}, {"c", 74}};
	struct parsing parsing;
	uint32_t slot;

	(void)state;
	role = TREE_POLICY;
	parsing_begin(&parsing, text, strlen(text), parse);
	assert_string_equal(parsing.error, "");
	assert_int_equal(tree_seen->unassigned_count, ARRAY_LEN(wanted));
	for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
		const struct word *name = &tree_seen->unassigned[i].name;

		assert_int_equal(name->len, strlen(wanted[i].name));
		assert_memory_equal(name->bytes, wanted[i].name, name->len);
		assert_int_equal(tree_seen->unassigned[i].offset, wanted[i].offset);
		assert_true(tree_variable(tree_seen, wanted[i].name, 1, &slot));
	}
	parsing_end(&parsing);
}

static void test_variables_of_the_file_are_found(void **state)
{
	static const char text[] = "param p default 1\na = rule { 1 }\nmain = a\n";
	struct parsing parsing;
	uint32_t slot;

	(void)state;
	role = TREE_POLICY;
	parsing_begin(&parsing, text, strlen(text), parse);
	assert_string_equal(parsing.error, "");
	assert_true(tree_variable(tree_seen, "p", 1, &slot));
	assert_int_equal(slot, tree_seen->params[0].slot);
	assert_true(tree_variable(tree_seen, "a", 1, &slot));
	assert_int_equal(slot, tree_seen->rules[0].slot);
	assert_true(tree_variable(tree_seen, "main", 4, &slot));
	assert_false(tree_variable(tree_seen, "mai", 3, &slot));
	assert_false(tree_variable(tree_seen, "strings", 7, &slot));
	parsing_end(&parsing);
}

/* A long chain of operators is a deep tree. */
static void test_long_chains_end_at_the_nesting_limit(void **state)
{
	enum { COUNT = 6000 };
	static char text[8 + COUNT * 2] = "main = 1";
	struct parsing parsing;

	(void)state;
	for (size_t i = 0; i < COUNT; i++)
		memcpy(text + 8 + i * 2, "+1", 2);
	role = TREE_POLICY;
	parsing_begin(&parsing, text, sizeof(text), parse);
	assert_int_equal(parsing.run.failure.kind, FAILURE_RUNTIME);
	assert_string_equal(parsing.run.failure.message, "the limit of nesting, 5000, is reached");
	parsing_end(&parsing);
}

/* Each of many names is found without a walk over all of them. */
static void test_many_names_take_linear_steps(void **state)
{
	enum { COUNT = 100000, WIDTH = 14 };
	char *text = mem_new(COUNT, WIDTH);
	struct parsing parsing;

	(void)state;
	for (size_t i = 0; i < COUNT; i++) {
		char line[40];

		snprintf(line, sizeof(line), "v%08zu = 1\n", i);
		memcpy(text + i * WIDTH, line, WIDTH);
	}
	role = TREE_MODULE;
	parsing_begin(&parsing, text, COUNT * (size_t)WIDTH, parse);
	assert_string_equal(parsing.error, "");
	assert_int_equal(tree_seen->scope.count, COUNT);
	assert_in_range(parsing.run.steps, COUNT, COUNT * 40);
	parsing_end(&parsing);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_are_slots_of_scopes),
		cmocka_unit_test(test_assignments_may_have_several_candidates),
		cmocka_unit_test(test_scopes_that_outlive_their_end_are_captured),
		cmocka_unit_test(test_errors_name_what_is_wrong),
		cmocka_unit_test(test_accepted_policies),
		cmocka_unit_test(test_unassigned_names_are_noted_once),
		cmocka_unit_test(test_variables_of_the_file_are_found),
		cmocka_unit_test(test_long_chains_end_at_the_nesting_limit),
		cmocka_unit_test(test_many_names_take_linear_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
