/* SPDX-License-Identifier: MPL-2.0 */
#include "tests/unit/policy/parsing.h"

#include "tests/unit/policy/tree_text.h"
#include "policy/syntax/parser.h"

static const char *text_seen;
static struct tree *tree_seen;
static enum tree_role role;

static void parse(struct run *run, void *data)
{
	struct parsing *parsing = data;

	tree_seen = parser_run(run, &parsing->source, role);
	text_seen = tree_text(run, tree_seen, false);
}

/* The tree's text, or the error. */
static void check(const char *text, const char *wanted)
{
	struct parsing parsing;

	parsing_begin(&parsing, text, strlen(text), parse);
	assert_string_equal(parsing.error[0] ? parsing.error : text_seen, wanted);
	parsing_end(&parsing);
}

static void check_pairs(const char *const (*pairs)[2], size_t count)
{
	role = TREE_POLICY;
	for (size_t i = 0; i < count; i++)
		check(pairs[i][0], pairs[i][1]);
}

#define CHECK_PAIRS(pairs) check_pairs(pairs, ARRAY_LEN(pairs))

static void test_operators_bind_by_level(void **state)
{
	static const char *const pairs[][2] = {
		{"1 + 2 * 3 - 4", "(- (+ 1 (* 2 3)) 4)"},
		{"8 / 4 / 2 % 3", "(% (/ (/ 8 4) 2) 3)"},
		{"a or b xor c and d", "(xor (or a b) (and c d))"},
		{"a and b or c", "(or (and a b) c)"},
		{"a == b and c != d", "(and (is a b) (is not c d))"},
		{"a < 1 <= 2 > 3 >= 4", "(>= (> (<= (< a 1) 2) 3) 4)"},
		{"a is b", "(is a b)"},
		{"a is not b", "(is not a b)"},
		{"a is not not b", "(is not a (not b))"},
		{"a contains b", "(contains a b)"},
		{"a not contains b", "(not contains a b)"},
		{"a in b and c not in d", "(and (in a b) (not in c d))"},
		{"a matches b or c not matches d", "(or (matches a b) (not matches c d))"},
		{"not a contains b", "(contains (not a) b)"},
		{"!a and not not b", "(and (not a) (not (not b)))"},
		{"-a * +b", "(* (- a) (+ b))"},
		{"a - -1", "(- a (- 1))"},
		{"-9223372036854775808", "(- -9223372036854775808)"},
		{"(1 + 2) * 3", "(* (+ 1 2) 3)"},
		{"a is empty and b is not empty", "(and (is empty a) (is not empty b))"},
		{"a is defined is true", "(is (is defined a) true)"},
		{"a is not defined or empty", "(or (is not defined a) empty)"},
		{"a is emptyish", "(is a emptyish)"},
	};

	(void)state;
	CHECK_PAIRS(pairs);
}

static void test_else_binds_tighter_than_comparison(void **state)
{
	static const char *const pairs[][2] = {
		{"foo else \"b\" not in \"c\"", "(not in (else foo \"b\") \"c\")"},
		{"a else b is c", "(is (else a b) c)"},
		{"a is b else c", "(is a (else b c))"},
		{"a else b + 1", "(else a (+ b 1))"},
		{"a + 1 else b", "(else (+ a 1) b)"},
		{"a else b else c", "(else (else a b) c)"},
		{"a else {}", "(else a (map))"},
		{"if a { b } else { c }", "(if a { b } { c })"},
		{"if a else b { c }", "(if (else a b) { c })"},
		{"case a {\nwhen 1: b else: c\n}", "(case a when 1 { b } else { c })"},
		{"case a {\nwhen b else c: d\nelse: e\n}", "(case a when (else b c) { d } else { e })"},
	};

	(void)state;
	CHECK_PAIRS(pairs);
}

static void test_operands(void **state)
{
	static const char *const pairs[][2] = {
		{"[1, \"a\", null, true, false, undefined]", "(list 1 \"a\" null true false undefined)"},
		{"[]", "(list)"},
		{"[\n1,\n2,\n]", "(list 1 2)"},
		{"[\n1,\n2\n]", "(list 1 2)"},
		{"{}", "(map)"},
		{"{\"a\": 1, b: {1.5: [],},}", "(map \"a\" 1 b (map 1.5 (list)))"},
		{"{\n\"a\": 1,\n\"b\": 2\n}", "(map \"a\" 1 \"b\" 2)"},
		{"a.b.c", "(. (. a b) c)"},
		{"a.default.in.true.map", "(. (. (. (. a default) in) true) map)"},
		{"a[0][\"k\"]", "(index (index a 0) \"k\")"},
		{"a[1:2] + a[:2] + a[1:] + a[:]", "(+ (+ (+ (slice a 1:2) (slice a :2)) (slice a 1:)) (slice a :))"},
		{"f()(1, 2,).g(\n3\n)", "(call (. (call (call f) 1 2) g) 3)"},
		{"x = f(v.default\n)\ny", "(= x (call f (. v default))) y"},
		{"(a\nor b)", "(or a b)"},
		{"a\n  .b()\n  .c", "(. (call (. a b)) c)"},
		{"\"a\\n\" + `b\\n`", "(+ \"a\\n\" \"b\\\\n\")"},
		{"012 + 0xa", "(+ 10 10)"},
	};

	(void)state;
	CHECK_PAIRS(pairs);
}

static void test_quantifiers(void **state)
{
	static const char *const pairs[][2] = {
		{"any a as b { b }", "(any a as b b)"},
		{"all a as k, v { k is v }", "(all a as k,v (is k v))"},
		{"all a as _, v {\n\tv;\n}", "(all a as _,v v)"},
		{"filter a as b { b }", "(filter a as b b)"},
		{"map a as b { b }", "(map a as b b)"},
		{"map [1] as b { b }", "(map (list 1) as b b)"},
		{"filter {} as b { b }", "(filter (map) as b b)"},
		{"map \"x\" as b { b }", "(map \"x\" as b b)"},
		{"filter (a) as b { b }", "(filter a as b b)"},
		{"map = 1\nfilter = map", "(= map 1) (= filter map)"},
		{"a = map + filter", "(= a (+ map filter))"},
		{"map.x is filter", "(is (. map x) filter)"},
		{"for map as x { filter.x }", "(for map as x { (. filter x) })"},
		{"map map as x { x }", "(map map as x x)"},
		{"x = map\n(1)", "(= x map) 1"},
		{"func(filter, map) { return filter }", "(func (filter map) { (return filter) })"},
		{"all filter X as _, v { a } as _, v { b }", "(all (filter X as _,v a) as _,v b)"},
		{"map filter x as y { y } as z { z }", "(map (filter x as y y) as z z)"},
		{"length(filter a as b { b }) is 0", "(is (call length (filter a as b b)) 0)"},
	};

	(void)state;
	CHECK_PAIRS(pairs);
}

static void test_rules_and_functions(void **state)
{
	static const char *const pairs[][2] = {
		{"main = rule { true }", "(= main (rule true))"},
		{"main = rule {\n\ta and\n\tb\n}", "(= main (rule (and a b)))"},
		{"main = rule { true; }", "(= main (rule true))"},
		{"main = rule when a { b }", "(= main (rule b a))"},
		{"f = func() { }", "(= f (func () { }))"},
		{"func f(a, type,) { return a }", "(= f (func f(a type) { (return a) }))"},
		{"func(a) { a }(1)", "(call (func (a) { a }) 1)"},
		{"f = func(\n\ta,\n\tb\n) {\n\treturn a\n}\n", "(= f (func (a b) { (return a) }))"},
		{"m = {\"f\": func(x) {\n\ty = x\n\treturn y\n},}",
			"(= m (map \"f\" (func (x) { (= y x) (return y) })))"},
		{"f(func() {\n\ta\n\tb\n},\n1)", "(call f (func () { a b }) 1)"},
	};

	(void)state;
	CHECK_PAIRS(pairs);
}

static void test_statements(void **state)
{
	static const char *const pairs[][2] = {
		{"a = 1; b += 2; c -= 3; d *= 4; e /= 5; f %= 6",
			"(= a 1) (+= b 2) (-= c 3) (*= d 4) (/= e 5) (%= f 6)"},
		{"a[0] = 1\na[\"k\"][1] += 2", "(= (index a 0) 1) (+= (index (index a \"k\") 1) 2)"},
		{"if a { b }", "(if a { b })"},
		{"if a { b; c } else if d {\n} else {\ne\n}", "(if a { b c } { (if d { } { e }) })"},
		{"for a as b {\nif b { continue }\nbreak\n}", "(for a as b { (if b { continue }) break })"},
		{"for a as k, v { }", "(for a as k,v { })"},
		{"case {\nwhen a is 1: b\nc\nwhen d, e:\nelse: f\n}",
			"(case  when (is a 1) { b c } when d e { } else { f })"},
		{"case a { }", "(case a)"},
		{"import \"strings\"\nimport `a/b` as c;param p\nparam q default -1\nmain = 1",
			"(import strings strings) (import a/b c) (param p) (param q (- 1)) (= main 1)"},
		{"import \"tfplan/v2\"", "(import tfplan/v2 v2)"},
		{"param p default {\"a\": [1, -2.5, true, \"x\"]}",
			"(param p (map \"a\" (list 1 (- 2.5) true \"x\")))"},
		{";;\n;a;;", "a"},
		{"a\r\nb\r\n", "a b"},
		{"", ""},
	};

	(void)state;
	CHECK_PAIRS(pairs);
}

static void test_syntax_errors_have_a_position(void **state)
{
	static const char *const pairs[][2] = {
		{"a b", "1:3: expected the end of the statement, found \"b\""},
		{"a = \nb = }", "2:3: expected the end of the statement, found \"=\""},
		{"a = b +", "1:8: expected an expression, found the end of the file"},
		{"}", "1:1: the \"}\" closes nothing"},
		{"if a { b } }", "1:12: the \"}\" closes nothing"},
		{"if a { b", "1:9: expected \"}\", found the end of the file"},
		{"if a\n{ b }", "1:5: expected \"{\", found the end of the line"},
		{"a = (1", "1:7: expected \")\", found the end of the file"},
		{"f(1 2)", "1:5: expected \",\" or \")\", found \"2\""},
		{"[1; 2]", "1:3: expected \",\" or \"]\", found \";\""},
		{"{1}", "1:3: expected \":\", found \"}\""},
		{"a.1", "1:3: expected a name, found \"1\""},
		{"a.\"b\"", "1:3: expected a name, found a string"},
		{"a not b", "1:3: expected the end of the statement, found \"not\""},
		{"for a { }", "1:7: expected \"as\", found \"{\""},
		{"a\nimport \"b\"", "2:1: \"import\" stands after a statement"},
		{"a\nparam b", "2:1: \"param\" stands after a statement"},
		{"import b", "1:8: expected the name of an import as a string, found \"b\""},
		{"if a { import \"b\" }", "1:8: expected an expression, found \"import\""},
		{"break", "1:1: \"break\" stands outside \"for\""},
		{"for a as b { func() { continue } }", "1:23: \"continue\" stands outside \"for\""},
		{"return 1", "1:1: \"return\" stands outside a function"},
		{"func f() { return }", "1:19: expected an expression, found \"}\""},
		{"a.b = 1", "1:1: the selector \".b\" cannot be assigned; an index can: [\"b\"]"},
		{"f() = 1", "1:1: only a name or an index can be assigned"},
		{"1 = 1", "1:1: only a name or an index can be assigned"},
		{"true = 1", "1:1: only a name or an index can be assigned"},
		{"func(null) { }", "1:6: \"null\" is predeclared and cannot name anything else"},
		{"param p default a", "1:17: the default of the parameter \"p\" is not constant"},
		{"param p default 1 + 1", "1:19: the default of the parameter \"p\" is not constant"},
		{"param p default [undefined]", "1:17: the default of the parameter \"p\" is not constant"},
		{"a = 1 / 0", "1:7: division by the constant 0"},
		{"a = b % 0x0", "1:7: division by the constant 0"},
		{"case a { b }", "1:10: expected \"when\", \"else\" or \"}\", found \"b\""},
		{"case a { when 1 b }", "1:17: expected \":\", found \"b\""},
		{"9223372036854775808", "1:1: the number does not fit into 64 bits"},
		{"main = rule { a; b }", "1:18: expected \"}\", found \"b\""},
		{"\"\xc3\xa4\" b", "1:5: expected the end of the statement, found \"b\""},
		{"a\r\nb c\r\n", "2:3: expected the end of the statement, found \"c\""},
		{"x = default", "1:5: expected an expression, found \"default\""},
	};

	(void)state;
	CHECK_PAIRS(pairs);
}

static void test_modules_have_no_parameters(void **state)
{
	(void)state;
	role = TREE_MODULE;
	check("import \"a\"\nparam b", "2:1: \"param\" is not allowed in a module");
	check("a = 1", "(= a 1)");
}

static void test_rules_of_the_file_have_descriptions(void **state)
{
	static const char text[] = "# file\n\nx = 1 # trailing\n// one\n# two\na = rule { 1 }\n\n# lost\n\n"
				   "b = rule { 2 }\nif x {\n\t/* in if */\n\tc = rule { 3 }\n}\n"
				   "f = func() {\n\td = rule { 4 }\n}\n# no rule\ne = 1\n";
	static const char *const wanted[][2] = {{"a", "one\ntwo"}, {"b", ""}, {"c", "in if"}};
	struct parsing parsing;

	(void)state;
	role = TREE_POLICY;
	parsing_begin(&parsing, text, strlen(text), parse);
	assert_string_equal(parsing.error, "");
	assert_true(word_equals(tree_seen->description, "file"));
	assert_int_equal(tree_seen->rule_count, ARRAY_LEN(wanted));
	for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
		assert_true(word_equals(tree_seen->rules[i].name, wanted[i][0]));
		assert_true(word_equals(tree_seen->rules[i].description, wanted[i][1]));
	}
	parsing_end(&parsing);
}

/* 100,000 times the text. */
static void check_deep(const char *text)
{
	enum { COUNT = 100000 };
	size_t len = strlen(text);
	char *source = mem_new(COUNT, len);
	struct parsing parsing;
	unsigned line, column;

	for (size_t i = 0; i < COUNT; i++)
		memcpy(source + i * len, text, len);
	parsing_begin(&parsing, source, COUNT * len, parse);
	assert_int_equal(parsing.run.failure.kind, FAILURE_RUNTIME);
	assert_string_equal(parsing.run.failure.message, "the limit of nesting, 5000, is reached");
	place_position(parsing.run.failure.place, &line, &column);
	assert_int_equal(line, 1);
	assert_in_range(column, MAX_NESTING / 2, MAX_NESTING * len + 1);
	parsing_end(&parsing);
	free(source);
}

static void test_nesting_has_a_limit(void **state)
{
	static const char *const texts[] = {"(", "[", "{", "not ", "- ", "a[", "f(", "1 or (", "if a { ",
		"if a { } else ", "func() { ", "rule when ", "all all ", "case { when 1: ", "for a as b { ", "rule { ",
		"{1: "};

	(void)state;
	role = TREE_POLICY;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		check_deep(texts[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_operators_bind_by_level),
		cmocka_unit_test(test_else_binds_tighter_than_comparison),
		cmocka_unit_test(test_operands),
		cmocka_unit_test(test_quantifiers),
		cmocka_unit_test(test_rules_and_functions),
		cmocka_unit_test(test_statements),
		cmocka_unit_test(test_syntax_errors_have_a_position),
		cmocka_unit_test(test_modules_have_no_parameters),
		cmocka_unit_test(test_rules_of_the_file_have_descriptions),
		cmocka_unit_test(test_nesting_has_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
