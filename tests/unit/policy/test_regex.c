/* SPDX-License-Identifier: MPL-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include "common/base.h"
#include "policy/core/regex.h"
#include "policy/core/regex_engine.h"

enum { MEMORY = 8 << 20 };

/* 1, 0, or -1 with the message in `error`. */
static int match_bytes(const char *pattern, const char *text, size_t len, char error[REGEX_ERROR_SIZE])
{
	struct regex_program *program = regex_program_new(pattern, strlen(pattern), MEMORY, error);
	int matched = program == NULL ? -1 : regex_program_match(program, text, len) == REGEX_MATCH;

	regex_program_free(program);
	return matched;
}

static void assert_match(const char *pattern, const char *text, int wanted)
{
	char error[REGEX_ERROR_SIZE] = "";
	int matched = match_bytes(pattern, text, strlen(text), error);

	if (matched != wanted)
		fail_msg("%s on %s: %d %s", pattern, text, matched, error);
}

static void test_patterns_are_not_anchored(void **state)
{
	(void)state;
	assert_match("b+", "abbc", 1);
	assert_match("^b+", "abbc", 0);
	assert_match("^a.*c$", "abbc", 1);
	assert_match("", "", 1);
	assert_match("^$", "a", 0);
	assert_match("\\d{3}", "ab123", 1);
	assert_match("\\bprod\\b", "a-prod-b", 1);
	assert_match("(?i)PROD", "a-prod-b", 1);
	assert_match("a|b", "xxb", 1);
}

static void test_groups_may_be_named_without_p(void **state)
{
	(void)state;
	assert_match("^(?<name>a+)b$", "aab", 1);
	assert_match("^(?P<name>a+)b$", "aab", 1);
	assert_match("^(?<a>x)(?<b>y)$", "xy", 1);
	assert_match("^[(?<a>]+$", "(?<a>", 1);
	assert_match("^\\(\\?<a>$", "(?<a>", 1);
	assert_match("^\\Q(?<a>\\E$", "(?<a>", 1);
	assert_match("^[](?<a>]+$", "](?<a>", 1);
	assert_match("^[^](?<a>]+$", "xyz", 1);
	assert_match("^[[:alpha:](?<]+$", "ab(?<", 1);
}

static void test_what_re2_does_not_know_is_refused(void **state)
{
	static const char *const patterns[] = {"(?=a)", "(?<=a)b", "(?<!a)b", "(a)\\1", "a**", "[a", "(a", "\\", "a\\C",
		"\\C", "x{1001}", "\xff", "\xed\xbf\xbd", "[z-a]"};
	char error[REGEX_ERROR_SIZE];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(patterns); i++) {
		error[0] = '\0';
		if (match_bytes(patterns[i], "a", 1, error) != -1 || error[0] == '\0')
			fail_msg("%s is accepted", patterns[i]);
	}
	assert_match("\\\\C", "\\C", 1);
	assert_match("\\Qa\\C\\E", "a\\C", 1);
}

static void test_bytes_that_are_no_utf_8_match_as_the_replacement(void **state)
{
	static const char *const texts[] = {"a\xff"
					    "b",
		"a\xc0"
		"b",
		"a\xed"
		"b",
		"a\xf8"
		"b"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		assert_match("^a.b$", texts[i], 1);
		assert_match("^a[^x]b$", texts[i], 1);
		assert_match("^a\\x{fffd}b$", texts[i], 1);
		assert_match("^ab$", texts[i], 0);
	}
	assert_match("^..$", "\xc0\x80", 1);
	assert_match("^...$", "\xed\xa0\x80", 1);
	assert_match("^....$", "\xf4\x90\x80\x80", 1);
	assert_match("^.$", "\xf4\x8f\xbf\xbf", 1);
	assert_match("^.$", "\xed\x9f\xbf", 1);
	assert_match("^12345678.$", "12345678\xc3", 1);
}

static void test_a_large_program_is_refused(void **state)
{
	char error[REGEX_ERROR_SIZE] = "";

	(void)state;
	assert_int_equal(match_bytes("((((a{100}){100}){100}){100})", "a", 1, error), -1);
	assert_string_not_equal(error, "");
}

/* "(?i)", then an alternative of \\pL so many times: its program is small, the tree of the pattern is not. */
static char *properties_new(size_t count)
{
	char *pattern = mem_new(4 * count + 8, 1);
	size_t len = (size_t)snprintf(pattern, 8, "(?i)");

	for (size_t i = 0; i < count; i++, len += 4)
		memcpy(pattern + len, "\\pL|", 5);
	return pattern;
}

static void test_the_number_of_properties_is_limited(void **state)
{
	_cleanup_(freep) char *most = properties_new(1000), *more = properties_new(1001);
	char error[REGEX_ERROR_SIZE] = "";

	(void)state;
	assert_int_equal(match_bytes(most, "a", 1, error), 1);
	assert_int_equal(match_bytes(more, "a", 1, error), -1);
	assert_string_equal(error, "it has more than 1,000 properties (\\p)");
}

/* RE2 keeps what it makes for the first named group, which is no part of the pattern. */
static void test_patterns_share_what_re2_keeps(void **state)
{
	char error[REGEX_ERROR_SIZE] = "";

	(void)state;
	assert_int_equal(match_bytes("(?<a>[a-z]+)[", "a", 1, error), -1);
	for (int i = 0; i < 100; i++)
		assert_int_equal(match_bytes("(?<a>[a-z]+)(?<\xc3\xa4>1)", "a1", 2, error), 1);
}

static void test_a_program_as_large_as_allowed_is_made(void **state)
{
	char error[REGEX_ERROR_SIZE] = "";

	(void)state;
	assert_int_equal(match_bytes("^(\\pL{10}b?){40}", "a", 1, error), 0);
}

static void test_matching_takes_linear_time(void **state)
{
	enum { LEN = 1 << 20 };
	char error[REGEX_ERROR_SIZE] = "";
	char *text = mem_new(LEN, 1);

	(void)state;
	memset(text, 'a', LEN);
	assert_int_equal(match_bytes("^(a*)*b$", text, LEN, error), 0);
	assert_int_equal(match_bytes("(a*)*b", text, LEN, error), 0);
	text[LEN / 2] = '\xff';
	assert_int_equal(match_bytes("(a*)*.a", text, LEN, error), 1);
	free(text);
}

static void test_zero_bytes_are_text(void **state)
{
	char error[REGEX_ERROR_SIZE] = "";

	(void)state;
	assert_int_equal(match_bytes("^a\\x00b$", "a\0b", 3, error), 1);
	assert_int_equal(match_bytes("b$", "a\0b", 3, error), 1);
}

struct match {
	const char *pattern, *text;
	bool matched;
};

static void match_in_run(struct run *run, void *data)
{
	struct match *match = data;

	match->matched = regex_match(run, match->pattern, strlen(match->pattern), match->text, strlen(match->text));
}

static void test_an_error_ends_the_run_with_a_message(void **state)
{
	struct match wrong = {.pattern = "(a", .text = "a"}, right = {.pattern = "a", .text = "a"};
	struct run run;

	(void)state;
	run_init(&run, &run_limits_default);
	assert_int_equal(run_protected(&run, match_in_run, &wrong), -1);
	assert_non_null(strstr(run.failure.message, "missing )"));
	assert_int_equal(run_protected(&run, match_in_run, &right), 0);
	assert_true(right.matched);
	run_release(&run);
}

static void test_a_long_pattern_is_refused(void **state)
{
	char *pattern = mem_new(MAX_PATTERN + 2, 1);
	struct match match = {.pattern = pattern, .text = "a"};
	struct run run;

	(void)state;
	memset(pattern, 'a', MAX_PATTERN + 1);
	run_init(&run, &run_limits_default);
	assert_int_equal(run_protected(&run, match_in_run, &match), -1);
	assert_non_null(strstr(run.failure.message, "64 KiB"));
	pattern[MAX_PATTERN] = '\0';
	assert_int_equal(run_protected(&run, match_in_run, &match), 0);
	assert_false(match.matched);
	run_release(&run);
	free(pattern);
}

static void test_a_match_that_could_take_minutes_is_refused(void **state)
{
	enum { LEN = 2 << 20 };
	char *text = mem_new(LEN + 1, 1);
	struct match slow = {.pattern = "([ab]{1,30}a){1,30}.{900}c", .text = text};
	struct match quick = {.pattern = "(a*)*b", .text = text};
	struct run run;

	(void)state;
	memset(text, 'a', LEN);
	run_init(&run, &run_limits_default);
	assert_int_equal(run_protected(&run, match_in_run, &slow), -1);
	assert_non_null(strstr(run.failure.message, "instructions"));
	assert_int_equal(run_protected(&run, match_in_run, &quick), 0);
	assert_false(quick.matched);
	run_release(&run);
	free(text);
}

static void match_many(struct run *run, void *data)
{
	unsigned *matched = data;

	for (int i = 0; i < 4 * MAX_PATTERNS; i++) {
		char pattern[16];
		int len = snprintf(pattern, sizeof(pattern), "^%d$", i % (2 * MAX_PATTERNS));

		*matched += regex_match(run, pattern, (size_t)len, pattern + 1, (size_t)len - 2);
	}
}

static void test_more_patterns_than_are_kept(void **state)
{
	struct run run;
	unsigned matched = 0;

	(void)state;
	run_init(&run, &run_limits_default);
	assert_int_equal(run_protected(&run, match_many, &matched), 0);
	assert_int_equal(matched, 4 * MAX_PATTERNS);
	run_release(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_patterns_are_not_anchored),
		cmocka_unit_test(test_groups_may_be_named_without_p),
		cmocka_unit_test(test_what_re2_does_not_know_is_refused),
		cmocka_unit_test(test_bytes_that_are_no_utf_8_match_as_the_replacement),
		cmocka_unit_test(test_a_large_program_is_refused),
		cmocka_unit_test(test_the_number_of_properties_is_limited),
		cmocka_unit_test(test_patterns_share_what_re2_keeps),
		cmocka_unit_test(test_a_program_as_large_as_allowed_is_made),
		cmocka_unit_test(test_matching_takes_linear_time),
		cmocka_unit_test(test_zero_bytes_are_text),
		cmocka_unit_test(test_an_error_ends_the_run_with_a_message),
		cmocka_unit_test(test_a_long_pattern_is_refused),
		cmocka_unit_test(test_a_match_that_could_take_minutes_is_refused),
		cmocka_unit_test(test_more_patterns_than_are_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
