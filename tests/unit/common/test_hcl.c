/* SPDX-License-Identifier: MPL-2.0 */
/* The reader of HCL, by the blocks that it finds in configurations of any kind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/hcl/blocks.h"

/* The blocks' types, labels and attributes: `policy "a" {"query":"x"}`, on a line each. */
static void assert_blocks(const char *text, const char *wanted)
{
	_cleanup_(buf_release) struct buf shown = BUF_INIT(1 << 20);
	json_auto_t *blocks = NULL;
	struct err err = ERR_INIT;
	const json_t *block;
	size_t i;

	if (hcl_blocks(text, strlen(text), &blocks, &err) < 0)
		fail_msg("%s: %s", text, err.message);
	json_array_foreach(blocks, i, block)
	{
		_cleanup_(freep) char *attributes = json_text(json_at(block, "attributes"));

		buf_printf(&shown, "%s%s \"%s\" %s", i > 0 ? "\n" : "", json_string_at(block, "type"),
			json_string_at(block, "label"), attributes);
	}
	assert_string_equal(buf_str(&shown), wanted);
}

static void assert_error(const char *text, size_t len, const char *wanted)
{
	json_t *blocks = NULL;
	struct err err = ERR_INIT;

	assert_int_equal(hcl_blocks(text, len, &blocks, &err), -1);
	assert_int_equal(err.kind, ERR_INVALID);
	assert_string_equal(err.message, wanted);
}

static void bodies_may_hold_anything(void **state)
{
	static const char *const rows[][2] = {
		{"", ""},
		{"\xef\xbb\xbf# policies\r\npolicy \"one\" { /* in\n a line */ query = \"data.a[\\\"b\\\"].deny\" "
		 "}\r\n",
			"policy \"one\" {\"query\":\"data.a[\\\"b\\\"].deny\"}"},
		{"top = [1, \"}\", {a = 2}]\nmodule tools {\n  source = \"./tools\"\n}\n",
			"module \"tools\" {\"source\":\"./tools\"}"},
		{"policy \"two\" {\n params = {\n list = [\"]\", 2] // }\n }\n nested \"x\" {\n query = \"inner\"\n "
		 "}\n}",
			"policy \"two\" {\"params\":null}"},
		{"a {\n text = <<-END\n    } \"\n      x\n    END\n more = <<E\n${b}\nE\n}",
			"a \"\" {\"text\":\"} \\\"\\n  x\\n\",\"more\":null}"},
		{"a { b = \"$${a}%%{c}\\u00e9\\n\", c = 3 }", "a \"\" {\"b\":\"${a}%{c}é\\n\",\"c\":null}"},
		{"a {\n b = \"${var.x}\"\n c = \"x\" == \"y\" ? 1 : \"z\"\n d = \"x\" # y\n e = lower(\"x\")\n}",
			"a \"\" {\"b\":null,\"c\":null,\"d\":\"x\",\"e\":null}"},
		{"a {\n b = \"${f(\"}\", {c = \"%{if \"x\"}\"})}\"\n d = \"y\"\n}", "a \"\" {\"b\":null,\"d\":\"y\"}"},
		{"a {\n b = f(<<E\n)\nE\n, [\n for x in y : x\n ])\n d = \"y\"\n}", "a \"\" {\"b\":null,\"d\":\"y\"}"},
		{"resource \"t\" \"n\" {\n lifecycle {\n  ignore_changes = [a]\n }\n}\n"
		 "variable \"v\" {}\nlocals {\n a = 1\n}",
			"resource \"n\" {}\nvariable \"v\" {}\nlocals \"\" {\"a\":null}"},
		{"terraform { backend \"s3\" {} }", "terraform \"\" {}"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_blocks(rows[i][0], rows[i][1]);
}

static void blocks_have_their_place(void **state)
{
	static const char text[] = "# x\na \"é\" {\n b = \"}\"\n}, c {}\n";
	json_auto_t *blocks = NULL;
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(hcl_blocks(text, strlen(text), &blocks, &err), 0);
	assert_int_equal(json_int_at(json_array_get(blocks, 0), "begin", -1), 4);
	assert_int_equal(json_int_at(json_array_get(blocks, 0), "end", -1), strlen("# x\na \"é\" {\n b = \"}\"\n}"));
	assert_int_equal(json_int_at(json_array_get(blocks, 1), "end", -1), strlen(text) - 1);
}

static void errors_name_the_line(void **state)
{
	static const char *const rows[][2] = {
		{"\npolicy \"a\" {\n", "line 2: the block \"policy\" is not closed"},
		{"\npolicy \"a", "line 2: the string is not closed on its line"},
		{"policy \"a\" {\n  query\n}", "line 2: = or a block is missing behind \"query\""},
		{"policy \"a\" {\n  x =\n}", "line 2: a value is missing"},
		{"policy \"a\" {\n  x = [1, (2\n}", "line 2: the bracket is not closed"},
		{"policy \"a\"\n", "line 1: = or a block is missing behind \"policy\""},
		{"policy \"a\" \"b\" \"c\" {}", "line 1: the block \"policy\" has too many labels"},
		{"policy \"a${b}\" {}",
			"line 1: an expression is not possible in a configuration, only a literal value"},
		{"policy \"a\" { x = \"\\q\" }", "line 1: the escape is not known"},
		{"policy \"a\" { x = \"\\u00g0\" }", "line 1: 4 hexadecimal digits are missing"},
		{"policy \"a\" { x = \"\\ud800\" }", "line 1: the escape is no character of Unicode"},
		{"policy \"a\" {\n x = <<END\n", "line 2: the heredoc has no closing END"},
		{"/* never", "line 1: the comment is not closed"},
		{"policy \"\xff\" {}", "line 1: it is not valid UTF-8, or has a zero byte"},
		{"policy \"a\" {\n enforcement_level = \"\xff\"\n}",
			"line 2: it is not valid UTF-8, or has a zero byte"},
		{"policy \"a\\u0000b\" {}", "line 1: it is not valid UTF-8, or has a zero byte"},
		{"policy \"a\" {\n x = \"1\"\n x = \"2\"\n}", "line 3: \"x\" is given twice"},
		{"policy \"a\" {\n x = \"1\" y = \"2\"\n}\na b", "line 4: = or a block is missing behind \"a\""},
		{"policy \"a\" {} b {}", "line 1: a new line is missing behind \"policy\""},
		{"{}", "line 1: the name of a block or attribute is missing"},
		{"/* a */\n\xef\xbb\xbf {}", "line 2: the name of a block or attribute is missing"},
		{"policy \"a\" {\n  = 1\n}", "line 2: the name of a block or attribute is missing"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_error(rows[i][0], strlen(rows[i][0]), rows[i][1]);
	assert_error("a {\0}", 5, "line 1: the name of a block or attribute is missing");
}

static void depth_and_number_have_a_limit(void **state)
{
	static const char *const parts[] = {"[", "{", "(", "\"${", "[\"%{"};
	enum { DEEP = 100000 };
	_cleanup_(buf_release) struct buf text = BUF_INIT(4 << 20);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		buf_reset(&text);
		buf_text(&text, "a = ");
		for (int n = 0; n < DEEP; n++)
			buf_text(&text, parts[i]);
		assert_error(buf_str(&text), text.len, "line 1: brackets are nested more than 64 deep");
	}
	buf_reset(&text);
	for (int n = 0; n < DEEP; n++)
		buf_text(&text, "a{b");
	assert_error(buf_str(&text), text.len, "line 1: brackets are nested more than 64 deep");
	buf_reset(&text);
	for (int n = 0; n <= DEEP; n++)
		buf_text(&text, "a{}\n");
	assert_error(buf_str(&text), text.len, "line 100001: there are more than 100000 blocks and attributes");
}

/* The reader terminates on truncated and changed texts, and reads within bounds. */
static void damaged_texts_are_read_safely(void **state)
{
	static const char text[] =
		"policy \"a\" {\n q = \"\\u00e9\" # c\n b { x = <<E\n }\nE\n }\n l = [{}, (\"${1}\")] /* */\n}\n";
	static const char odd[] = "\"{}[]()<=#/*\\$\n";

	(void)state;
	for (size_t cut = 0; cut <= strlen(text); cut++) {
		for (size_t change = 0; change <= strlen(odd); change++) {
			char *copy = mem_new(cut + 1, 1); /* exactly sized, for the sanitizer */
			json_t *blocks = NULL;
			struct err err = ERR_INIT;

			memcpy(copy, text, cut);
			if (cut > 0 && odd[change])
				copy[cut / 2] = odd[change];
			if (hcl_blocks(copy, cut, &blocks, &err) < 0)
				assert_int_equal(err.kind, ERR_INVALID);
			json_decref(blocks);
			free(copy);
		}
	}
}

static void the_json_syntax_is_equivalent(void **state)
{
	static const char *const texts[] = {
		"{\"policy\": {\"a\": {\"query\": \"data.a\"}}}",
		"{\"policy\": [{\"a\": {\"query\": \"data.a\"}}]}",
		"{\"policy\": {\"a\": [{\"query\": \"data.a\"}]}}",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		json_auto_t *blocks = NULL;
		struct err err = ERR_INIT;

		assert_int_equal(hcl_blocks_json(texts[i], strlen(texts[i]), &blocks, &err), 0);
		assert_int_equal(json_array_size(blocks), 1);
		assert_string_equal(json_string_at(json_array_get(blocks, 0), "label"), "a");
		assert_string_equal(json_string_at(json_array_get(blocks, 0), "attributes.query"), "data.a");
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(bodies_may_hold_anything),
		cmocka_unit_test(blocks_have_their_place),
		cmocka_unit_test(errors_name_the_line),
		cmocka_unit_test(depth_and_number_have_a_limit),
		cmocka_unit_test(damaged_texts_are_read_safely),
		cmocka_unit_test(the_json_syntax_is_equivalent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
