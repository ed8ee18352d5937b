/* SPDX-License-Identifier: MPL-2.0 */
#include "tests/unit/policy/parsing.h"

#include "policy/core/output.h"
#include "policy/syntax/comment.h"
#include "policy/syntax/lexer.h"
#include "policy/syntax/literal.h"

static char seen[4096];

/* Tokens separated by blanks: their text, "$" for an inserted end of line. */
static void list_tokens(struct run *run, void *data)
{
	struct parsing *parsing = data;
	struct lexer lexer;
	struct token token;
	size_t len = 0;

	seen[0] = '\0';
	lexer_init(&lexer, run, &parsing->source);
	while ((token = lexer_next(&lexer)).kind != TOKEN_END) {
		const char *text = parsing->source.text + token.span.from;
		int width = (int)(token.span.to - token.span.from);

		if (token.kind == TOKEN_NEWLINE) {
			text = "$";
			width = 1;
		}
		len += (size_t)snprintf(seen + len, sizeof(seen) - len, "%s%.*s", len ? " " : "", width, text);
	}
}

static void check_tokens(const char *text, const char *wanted)
{
	struct parsing parsing;

	parsing_begin(&parsing, text, strlen(text), list_tokens);
	assert_string_equal(parsing.error[0] ? parsing.error : seen, wanted);
	parsing_end(&parsing);
}

static void test_newlines_end_statements(void **state)
{
	static const char *const pairs[][2] = {
		{"a\nb", "a $ b $"},
		{"a = 1\n\n\nb", "a = 1 $ b $"},
		{"a = b or\nc", "a = b or c $"},
		{"a is empty\nb is not defined\n", "a is empty $ b is not defined $"},
		{"f(a)\nb[0]\n{}\n", "f ( a ) $ b [ 0 ] $ { } $"},
		{"return\nbreak\ncontinue\n", "return $ break $ continue $"},
		{"\"s\"\n`r`\n1.5\n0x1F\n", "\"s\" $ `r` $ 1.5 $ 0x1F $"},
		{"a,\nb", "a , b $"},
		{"x = v.default\ny = v.in\n", "x = v . default $ y = v . in $"},
		{"x = v.as\n", "x = v . as $"},
		{"a\n  .b\n\n# c\n.d", "a . b . d $"},
		{"a\n.5", "a $ .5 $"},
		{"a # b\n// c\nd /* e\n */ f", "a $ d $ f $"},
		{"a\r\nb\r\n", "a $ b $"},
		{"a /* b */ c", "a c $"},
		{"\xef\xbb\xbf"
		 "a",
			"a $"},
		{"", ""},
		{"# only", ""},
		{"a;b", "a ; b $"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(pairs); i++)
		check_tokens(pairs[i][0], pairs[i][1]);
}

static void test_tokens_are_as_long_as_possible(void **state)
{
	static const char *const pairs[][2] = {
		{"a==b!=c<=d>=e<f>g=!h", "a == b != c <= d >= e < f > g = ! h $"},
		{"a+=1-=2*=3/=4%=5", "a += 1 -= 2 *= 3 /= 4 %= 5 $"},
		{"1. .5 1e6 1.5e-3 072.4 1E+2", "1. .5 1e6 1.5e-3 072.4 1E+2 $"},
		{"a.b[1:2]", "a . b [ 1 : 2 ] $"},
		{"_ _a b1 \xc3\xa4\xd9\xa1 anyone", "_ _a b1 \xc3\xa4\xd9\xa1 anyone $"},
		{"\"a\\\"b\" \"\\\\\"", "\"a\\\"b\" \"\\\\\" $"},
		{"`a\nb\\`", "`a\nb\\` $"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(pairs); i++)
		check_tokens(pairs[i][0], pairs[i][1]);
}

static void test_wrong_characters_are_refused(void **state)
{
	static const char *const pairs[][2] = {
		{"a = \"b", "1:5: the string is not closed on its line"},
		{"a = \"b\nc\"", "1:5: the string is not closed on its line"},
		{"a = \"b\\\n\"", "1:5: the string is not closed on its line"},
		{"\n a = `b", "2:6: the raw string is not closed"},
		{"a /* b", "1:3: the comment is not closed"},
		{"a /*/", "1:3: the comment is not closed"},
		{"a & b", "1:3: the character \"&\" is not allowed here"},
		{"a \xe2\x82\xac", "1:3: the character \"\xe2\x82\xac\" is not allowed here"},
		{"a \x01", "1:3: the character U+0001 is not allowed here"},
		{"a \xff", "1:3: the byte ff is not UTF-8"},
		{"12ab", "1:1: the number is followed by a letter"},
		{"0x", "1:1: the number has no digits after 0x"},
		{"\"\xc3\xa4\" \xc3\xa4 &", "1:7: the character \"&\" is not allowed here"},
		{"a\r\n&", "2:1: the character \"&\" is not allowed here"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(pairs); i++)
		check_tokens(pairs[i][0], pairs[i][1]);
}

/* ---- literals ---- */

static struct word word_seen;
static uint64_t number_seen;

static void read_string(struct run *run, void *data)
{
	struct parsing *parsing = data;

	word_seen = literal_string(run, &parsing->source, (struct span){0, (uint32_t)parsing->source.len});
}

static void read_int(struct run *run, void *data)
{
	struct parsing *parsing = data;

	number_seen = literal_int(run, &parsing->source, (struct span){0, (uint32_t)parsing->source.len});
}

static void test_escapes_become_bytes(void **state)
{
	static const char *const pairs[][2] = {
		{"\"plain\"", "plain"},
		{"\"\\a\\b\\f\\n\\r\\t\\v\\\\\\\"\"", "\a\b\f\n\r\t\v\\\""},
		{"\"\\101\\x41\\xfF\"", "AA\xff"},
		{"\"\\u00e4\\U0001F600x\"", "\xc3\xa4\xf0\x9f\x98\x80x"},
		{"\"\"", ""},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
		struct parsing parsing;

		parsing_begin(&parsing, pairs[i][0], strlen(pairs[i][0]), read_string);
		assert_string_equal(parsing.error, "");
		assert_int_equal(word_seen.len, strlen(pairs[i][1]));
		assert_memory_equal(word_seen.bytes, pairs[i][1], word_seen.len);
		parsing_end(&parsing);
	}
}

static void test_wrong_escapes_are_refused(void **state)
{
	static const char *const pairs[][2] = {
		{"\"a\\q\"", "1:3: the escape sequence is not known"},
		{"\"\\'\"", "1:2: the escape sequence is not known"},
		{"\"\\12\"", "1:2: the escape sequence has too few digits"},
		{"\"\\x4\"", "1:2: the escape sequence has too few digits"},
		{"\"\\u12g4\"", "1:2: the escape sequence has too few digits"},
		{"\"\\400\"", "1:2: the escape sequence is larger than a byte"},
		{"\"\\ud800\"", "1:2: the escape sequence is no character"},
		{"\"\\U00110000\"", "1:2: the escape sequence is no character"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
		struct parsing parsing;

		parsing_begin(&parsing, pairs[i][0], strlen(pairs[i][0]), read_string);
		assert_string_equal(parsing.error, pairs[i][1]);
		parsing_end(&parsing);
	}
}

static void test_ints_have_three_bases(void **state)
{
	static const struct {
		const char *text;
		uint64_t number;
		const char *error;
	} rows[] = {
		{"0", 0, ""},
		{"017", 15, ""},
		{"0x1F", 31, ""},
		{"9223372036854775807", INT64_MAX, ""},
		{"9223372036854775808", (uint64_t)1 << 63, ""},
		{"9223372036854775809", 0, "1:1: the number does not fit into 64 bits"},
		{"0xffffffffffffffff", 0, "1:1: the number does not fit into 64 bits"},
		{"089", 0, "1:2: \"8\" is no octal digit"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct parsing parsing;

		parsing_begin(&parsing, rows[i].text, strlen(rows[i].text), read_int);
		assert_string_equal(parsing.error, rows[i].error);
		if (!rows[i].error[0])
			assert_true(number_seen == rows[i].number);
		parsing_end(&parsing);
	}
}

/* ---- comments ---- */

static void read_comment(struct run *run, void *data)
{
	struct parsing *parsing = data;

	word_seen = comment_text(run, &parsing->source, comment_first(run, &parsing->source));
}

static void test_the_first_comment_is_read_without_its_marks(void **state)
{
	static const char *const pairs[][2] = {
		{"# a\n#  b\n\n# c\nx", "a\nb"},
		{"\n\n// a // b\r\n//\r\n// c\r\nx", "a // b\n\nc"},
		{"##########\n# a\n##########\nx", "a"},
		{"/*\n * a\n *\n * b\n */\nx", "a\n\nb"},
		{"/* a */ x", "a"},
		{"x = 1 # a", ""},
		{"x\n# a", ""},
		{"", ""},
		{"#", ""},
		{"/**/", ""},
		{"# a", "a"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
		struct parsing parsing;
		char text[100];

		parsing_begin(&parsing, pairs[i][0], strlen(pairs[i][0]), read_comment);
		assert_string_equal(parsing.error, "");
		snprintf(text, sizeof(text), "%.*s", (int)word_seen.len, word_seen.bytes);
		assert_string_equal(text, pairs[i][1]);
		parsing_end(&parsing);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_newlines_end_statements),
		cmocka_unit_test(test_tokens_are_as_long_as_possible),
		cmocka_unit_test(test_wrong_characters_are_refused),
		cmocka_unit_test(test_escapes_become_bytes),
		cmocka_unit_test(test_wrong_escapes_are_refused),
		cmocka_unit_test(test_ints_have_three_bases),
		cmocka_unit_test(test_the_first_comment_is_read_without_its_marks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
