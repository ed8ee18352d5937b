/* SPDX-License-Identifier: MPL-2.0 */
#include "tests/unit/policy/parsing.h"

#include "policy/configuration/hcl.h"
#include "policy/core/output.h"

/* Each text and what it gives: its tree on one line, or its error as "LINE:COLUMN: message". */
struct row {
	const char *text, *wanted;
};

static const char *const mock_attributes[] = {"data", "value", NULL};
static const char *const module_attributes[] = {"source", NULL};
static const char *const policy_attributes[] = {"source", "params", NULL};
static const char *const test_attributes[] = {"rules", NULL};

static const struct hcl_type nested[] = {{"module", 0, module_attributes, NULL, NULL}, {0}};

static const struct hcl_type types[] = {
	{"policy", 1, policy_attributes, NULL, NULL},
	{"import", 2, module_attributes, NULL, NULL},
	{"mock", 1, mock_attributes, "value", nested},
	{"test", 0, test_attributes, "rules", NULL},
	{0},
};

/* ---- the tree as a text ---- */

static void add_body(struct run *run, struct output *output, const struct hcl_body *body)
{
	const char *separator = "";

	for (const struct hcl_attribute *attribute = body->attributes; attribute; attribute = attribute->next) {
		struct value text = value_print(run, attribute->value, VALUE_QUOTED);

		output_text(run, output, run_text(run, "%s%s = ", separator, attribute->name));
		output_add(run, output, string_bytes(text), string_len(text));
		separator = "; ";
	}
	for (const struct hcl_block *block = body->blocks; block; block = block->next) {
		output_text(run, output, run_text(run, "%s%s", separator, block->type));
		for (unsigned i = 0; i < block->label_count; i++)
			output_text(run, output, run_text(run, " \"%s\"", block->labels[i]));
		output_text(run, output, " {");
		add_body(run, output, &block->body);
		output_text(run, output, "}");
		separator = "; ";
	}
}

static char shown[8192];

static void show(struct run *run, const struct hcl_body *body)
{
	struct output output = {0};

	add_body(run, &output, body);
	snprintf(shown, sizeof(shown), "%.*s", (int)output.len, output.bytes ? output.bytes : "");
}

static void read_native(struct run *run, void *data)
{
	show(run, hcl_read(run, &((struct parsing *)data)->source));
}

static void read_json(struct run *run, void *data)
{
	show(run, hcl_read_json(run, &((struct parsing *)data)->source, types));
}

static void assert_reads(const char *text, size_t len, const char *wanted, void (*read)(struct run *run, void *data))
{
	struct parsing parsing;

	shown[0] = '\0';
	parsing_begin(&parsing, text, len, read);
	if (strcmp(*parsing.error ? parsing.error : shown, wanted) != 0)
		fail_msg("%s\ngives:  %s\nwanted: %s", text, *parsing.error ? parsing.error : shown, wanted);
	parsing_end(&parsing);
}

static void assert_rows(const struct row *rows, size_t count, void (*read)(struct run *run, void *data))
{
	for (size_t i = 0; i < count; i++)
		assert_reads(rows[i].text, strlen(rows[i].text), rows[i].wanted, read);
}

/* ---- tests ---- */

#define EXPRESSION "an expression is not possible in a configuration, only a literal value"

static void test_literals(void **state)
{
	static const struct row rows[] = {
		{"", ""},
		{"a = 1", "a = 1"},
		{"a = -12\n", "a = -12"},
		{"a = 1.5e3", "a = 1500.0"},
		{"a = 9223372036854775807", "a = 9223372036854775807"},
		{"a = true\nb = false\nc = null", "a = true; b = false; c = null"},
		{"a = \"x\\n\\t\\\"\\\\\\u00e9\\U0001F600\"", "a = \"x\\n\\t\\\"\\\\\xc3\xa9\xf0\x9f\x98\x80\""},
		{"a = \"$${x} %%{y} $x $$ %\"", "a = \"${x} %{y} $x $$ %\""},
		{"a = []", "a = []"},
		{"a = [1, \"b\",\n  [2] , # three\n  ]", "a = [1, \"b\", [2]]"},
		{"a = {}", "a = {}"},
		{"a = { b = 1, \"c\": 2\n d = 3 }", "a = {\"b\": 1, \"c\": 2, \"d\": 3}"},
		{"a = {\n\n  \"b.c\" = [\n1\n]\n /* x */ 5 : null // y\n}", "a = {\"b.c\": [1], \"5\": null}"},
		{"a-b = 1", "a-b = 1"},
		{"\xef\xbb\xbf"
		 "a = 1\r\nb = 2\r\n",
			"a = 1; b = 2"},
	};

	(void)state;
	assert_rows(rows, sizeof(rows) / sizeof(rows[0]), read_native);
}

static void test_heredocs(void **state)
{
	static const struct row rows[] = {
		{"a = <<EOT\nx\n  y \"\\n\nEOT\nb = 1", "a = \"x\\n  y \\\"\\\\n\\n\"; b = 1"},
		{"a = <<EOT\nEOT", "a = \"\""},
		{"a = <<-EOT\n    x\n\n      y\n    EOT\n", "a = \"x\\n\\n  y\\n\""},
		{"a = <<-EOT\n    x\n  y\n  EOT\n", "a = \"  x\\ny\\n\""},
		{"a = <<E\n$${b}\n  E\n", "a = \"${b}\\n\""},
		{"a = <<E\nx\r\nE\r\n", "a = \"x\\n\""},
		{"a = {\n  b = <<E\nx\nE\n  c = 1\n}", "a = {\"b\": \"x\\n\", \"c\": 1}"},
		{"a = <<E\nx ${b}\nE\n", "2:3: " EXPRESSION},
		{"a = <<E\nx\n", "1:5: the heredoc has no closing E"},
		{"a = <<", "1:5: << needs a name and a new line"},
	};

	(void)state;
	assert_rows(rows, sizeof(rows) / sizeof(rows[0]), read_native);
}

static void test_blocks(void **state)
{
	static const struct row rows[] = {
		{"policy \"a\" {}", "policy \"a\" {}"},
		{"policy \"a\" { source = \"x\" }", "policy \"a\" {source = \"x\"}"},
		{"import \"module\" \"a\" {\n  source = \"x\"\n}\n", "import \"module\" \"a\" {source = \"x\"}"},
		{"mock a {\n module {\n source = \"x\"\n }\n}", "mock \"a\" {module {source = \"x\"}}"},
		{"a { b = 1, c = 2 }", "a {b = 1; c = 2}"},
		{"# x\n// y\n/* z\n*/ a {\n# x\n}", "a {}"},
	};

	(void)state;
	assert_rows(rows, sizeof(rows) / sizeof(rows[0]), read_native);
}

static void test_errors_have_a_place(void **state)
{
	static const struct row rows[] = {
		{"a = b", "1:5: " EXPRESSION},
		{"a = 1 + 2", "1:7: " EXPRESSION},
		{"a = f(1)", "1:5: " EXPRESSION},
		{"a = (1)", "1:5: " EXPRESSION},
		{"a = \"x\" == \"y\"", "1:9: " EXPRESSION},
		{"\n\na = {\n  b = var.c\n}", "4:7: " EXPRESSION},
		{"a = { (b) = 1 }", "1:7: " EXPRESSION},
		{"a = [for x in y : x]", "1:6: " EXPRESSION},
		{"a = \"${b}\"", "1:6: " EXPRESSION},
		{"a = \"%{if b}\"", "1:6: " EXPRESSION},
		{"a = true ? 1 : 2", "1:10: " EXPRESSION},
		{"a = -b", "1:5: " EXPRESSION},
		{"a =\n1", "1:4: a value is missing"},
		{"a = \"x\ny\"", "1:5: the string is not closed on its line"},
		{"a = \"\\q\"", "1:6: the escape is not known"},
		{"a = \"\\ud800\"", "1:6: the escape is no character of Unicode"},
		{"a = \"\\u12\"", "1:8: 4 hexadecimal digits are missing"},
		{"a = 1 b = 2", "1:7: a new line is missing behind \"a\""},
		{"a = [1 2]", "1:8: a comma or ] is missing"},
		{"a = [1", "1:5: the list is not closed"},
		{"a = {b = 1 c = 2}", "1:12: a comma, a new line or } is missing"},
		{"a = {b 1}", "1:8: = or : is missing behind the object's key"},
		{"a = {", "1:5: the object is not closed"},
		{"a \"b\" {", "1:1: the block \"a\" is not closed"},
		{"a \"b\"", "1:6: = or a block is missing behind \"a\""},
		{"a \"b\" \"c\" \"d\" {}", "1:11: the block \"a\" has too many labels"},
		{"a = 1\na = 2", "2:1: \"a\" is given twice"},
		{"}", "1:1: the name of a block or attribute is missing"},
		{"/* x", "1:1: the comment is not closed"},
		{"a \"x\\u0000\" {}", "1:3: a name has a zero byte"},
	};

	(void)state;
	assert_rows(rows, sizeof(rows) / sizeof(rows[0]), read_native);
}

static void test_the_json_form(void **state)
{
	static const struct row rows[] = {
		{"{}", ""},
		{"{\"policy\": {\"a\": {\"source\": \"x\"}, \"b\": {}}}",
			"policy \"a\" {source = \"x\"}; policy \"b\" {}"},
		{"{\"policy\": [{\"a\": {}}, {\"b\": [{}]}]}", "policy \"a\" {}; policy \"b\" {}"},
		{"{\"import\": {\"module\": {\"a\": {\"source\": \"x\"}}}}",
			"import \"module\" \"a\" {source = \"x\"}"},
		{"{\"mock\": {\"a\": {\"module\": {\"source\": \"x\"}}}}", "mock \"a\" {module {source = \"x\"}}"},
		{"{\"mock\": {\"a\": {\"data\": {\"b\": 1}}}}", "mock \"a\" {data = {\"b\": 1}}"},
		{"{\"mock\": {\"a\": \"f\", \"b\": {\"c\": 1}, \"d\": {}}}",
			"mock \"a\" {value = \"f\"}; mock \"b\" {value = {\"c\": 1}}; mock \"d\" {value = {}}"},
		{"{\"test\": {\"rules\": {\"main\": true}}}", "test {rules = {\"main\": true}}"},
		{"{\"test\": {\"main\": false}}", "test {rules = {\"main\": false}}"},
		{"{\"odd\": 1}", "odd = 1"},
		{"{\"policy\": {\"a\": 1}}", "1:1: \"policy\" is no object of its attributes"},
		{"{\"policy\": 1}", "1:1: \"policy\" is no object by name"},
		{"[]", "1:1: the configuration is no object"},
		{"{\n  \"a\": tru }", "2:8: a value is missing"},
		{"\xef\xbb\xbf{\"odd\": 1}\r\n", "odd = 1"},
		{"\xef\xbb\xbf{\n  \"a\": tru }", "2:8: a value is missing"},
	};

	(void)state;
	assert_rows(rows, sizeof(rows) / sizeof(rows[0]), read_json);
}

static void assert_too_deep(const char *head, const char *part, void (*read)(struct run *run, void *data))
{
	enum { DEEP = 100000 };
	size_t head_len = strlen(head), part_len = strlen(part);
	char *text = malloc(head_len + DEEP * part_len);
	struct parsing parsing;

	memcpy(text, head, head_len);
	for (size_t i = 0; i < DEEP; i++)
		memcpy(text + head_len + i * part_len, part, part_len);
	parsing_begin(&parsing, text, head_len + DEEP * part_len, read);
	assert_non_null(strstr(parsing.error, "the limit of nesting, 5000, is reached"));
	parsing_end(&parsing);
	free(text);
}

static void test_nesting_has_a_limit(void **state)
{
	(void)state;
	assert_too_deep("a = ", "[", read_native);
	assert_too_deep("a = ", "{a=", read_native);
	assert_too_deep("", "a {", read_native);
	assert_too_deep("", "[", read_json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_literals),
		cmocka_unit_test(test_heredocs),
		cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_errors_have_a_place),
		cmocka_unit_test(test_the_json_form),
		cmocka_unit_test(test_nesting_has_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
