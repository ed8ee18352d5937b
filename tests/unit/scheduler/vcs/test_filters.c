/* SPDX-License-Identifier: MPL-2.0 */
/* Patterns of paths, folders, and regular expressions of tags. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "common/err.h"
#include "scheduler/vcs/globs.h"
#include "scheduler/vcs/tags_regex.h"

struct glob_row {
	const char *pattern, *path;
	bool matches;
};

static const struct glob_row glob_rows[] = {
	/* every documented example */
	{"/**/*", "main.tf", true},
	{"/**/*", "a/b/c/main.tf", true},
	{"/module/**/*", "module/main.tf", true},
	{"/module/**/*", "module/a/b/main.tf", true},
	{"/module/**/*", "modules/main.tf", false},
	{"/module/**/*", "a/module/main.tf", false},
	{"/**/networking/*", "networking/main.tf", true},
	{"/**/networking/*", "a/b/networking/main.tf", true},
	{"/**/networking/*", "a/networking/private/main.tf", false},
	{"/**/networking/*", "a/networking-2/main.tf", false},
	{"/**/networking/**/*", "submodule/service-1/networking/private/main.tf", true},
	{"/**/networking/**/*", "networking/main.tf", true},
	{"/**/networking/**/*", "my-networking/main.tf", false},
	{"/**/*.tf", "main.tf", true},
	{"/**/*.tf", "a/b/main.tf", true},
	{"/**/*.tf", "a/b/main.tf.json", false},
	{"/submodule/*.???", "submodule/main.txt", true},
	{"/submodule/*.???", "submodule/main.tf", false},
	{"/submodule/*.???", "submodule/main.json", false},
	{"/submodule/*.???", "submodule/a/main.txt", false},
	{"/submodule/**/*.tf", "submodule/main.tf", true},
	{"/submodule/**/*.tf", "submodule/a/b/main.tf", true},
	{"/submodule/**/*.tf", "submodule/a/b/main.md", false},
	/* the root */
	{"main.tf", "main.tf", true},
	{"/main.tf", "main.tf", true},
	{"main.tf", "/main.tf", true},
	{"main.tf", "a/main.tf", false},
	{"*.tf", "a/main.tf", false},
	/* hidden files */
	{"*", ".terraform.lock.hcl", true},
	{"/**/*", ".github/workflows/ci.yml", true},
	{"/**/*", "a/.b/.c", true},
	{"?hidden", ".hidden", true},
	/* one character */
	{"a?c", "abc", true},
	{"a?c",
		"a\xc3\xa4"
		"c",
		true},
	{"a??c",
		"a\xc3\xa4"
		"c",
		false},
	{"a?c", "ac", false},
	{"a?c", "a/c", false},
	/* no folders */
	{"a/*", "a/b/c", false},
	{"a*", "a/b", false},
	{"*/b", "a/b", true},
	{"*", "", true},
	{"a/**", "a/b", true},
	{"a/**", "a/b/c", true},
	{"a/**", "a", false},
	{"**", "a/b/c", true},
	{"a/**/b", "a/b", true},
	{"a/**/b", "a/x/y/b", true},
	{"a/**/b", "a/xb", false},
	{"a/**/**/b", "a/b", true},
	{"**/a/**/b/**", "x/a/y/b/z", true},
	{"**/a/**/b/**", "x/a/y/b", false},
	{"a**b", "axxb", true},
	{"a**b", "ax/xb", false},
	{"**a", "xa", true},
	{"**a", "x/a", false},
	/* no other characters mean anything */
	{"a[b]c", "a[b]c", true},
	{"a[b]c", "abc", false},
	{"{a,b}", "a", false},
	{"a.b", "axb", false},
	{"\\*", "*", true},
	{"\\*", "a", false},
	{"\\a", "a", true},
	/* case counts */
	{"Main.tf", "main.tf", false},
	/* not valid */
	{"", "a", false},
	{"/", "a", false},
};

static void globs_match_as_documented(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(glob_rows); i++) {
		if (vcs_glob_match(glob_rows[i].pattern, glob_rows[i].path) != glob_rows[i].matches)
			fail_msg("%s and %s", glob_rows[i].pattern, glob_rows[i].path);
	}
}

/* A slow matcher that follows the definition, for short patterns without "?" and "\". */
static bool slow_match(const char *pattern, const char *path)
{
	if (!strncmp(pattern, "**/", 3)) {
		if (slow_match(pattern + 3, path))
			return true;
		for (const char *at = path; (at = strchr(at, '/')) != NULL; at++) {
			if (at > path && slow_match(pattern + 3, at + 1))
				return true;
		}
		return false;
	}
	if (*pattern == '*')
		return slow_match(pattern + 1, path) || (*path && *path != '/' && slow_match(pattern, path + 1));
	if (!*pattern || !*path)
		return !*pattern && !*path;
	return *pattern == *path && slow_match(pattern + 1, path + 1);
}

static void globs_agree_with_their_definition(void **state)
{
	static const char *const parts[] = {"a", "b", "*", "**/", "/", "ab"};
	unsigned seed = 7;
	size_t matches = 0;

	(void)state;
	for (int round = 0; round < 200000; round++) {
		char pattern[64] = "", path[32] = "";
		size_t len = 0;

		for (int i = 0; i < 6; i++) {
			const char *part = parts[rand_r(&seed) % ARRAY_LEN(parts)];

			/* "**" only where it is a whole part, and no empty parts */
			if ((*part == '/' || !strcmp(part, "**/")) && len && pattern[len - 1] != '/' &&
				strcmp(part, "/") != 0)
				part = "/**/";
			if (!strcmp(part, "*") && len && pattern[len - 1] == '*')
				continue;
			if (!strcmp(part, "/") && (!len || pattern[len - 1] == '/'))
				continue;
			len += (size_t)snprintf(pattern + len, sizeof(pattern) - len, "%s", part);
		}
		for (size_t i = 0, size = 1 + (size_t)rand_r(&seed) % 9; i < size; i++)
			path[i] = "ab/"[(size_t)rand_r(&seed) % (i && path[i - 1] != '/' && i + 1 < size ? 3 : 2)];
		if (!len || pattern[len - 1] == '/')
			continue;
		matches += slow_match(pattern, path);
		if (vcs_glob_match(pattern, path) != slow_match(pattern, path))
			fail_msg("%s and %s", pattern, path);
	}
	assert_true(matches > 1000);
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void no_glob_takes_exponential_time(void **state)
{
	char pattern[VCS_GLOB_MAX + 1], path[4097];
	const double begin = seconds();

	(void)state;
	for (size_t i = 0; i + 2 <= sizeof(pattern); i += 2)
		memcpy(pattern + i, "*a", 2);
	pattern[VCS_GLOB_MAX] = '\0';
	memset(path, 'a', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	assert_true(vcs_glob_match(pattern, path));
	path[sizeof(path) - 2] = 'b';
	assert_false(vcs_glob_match(pattern, path));
	for (size_t i = 0; i + 3 <= sizeof(pattern); i += 3)
		memcpy(pattern + i, "**/", 3);
	pattern[VCS_GLOB_MAX / 3 * 3] = '\0';
	for (size_t i = 1; i < sizeof(path) - 1; i += 2)
		path[i] = '/';
	vcs_glob_match(pattern, path);
	assert_true(seconds() - begin < 5);
}

static void bad_globs_are_refused(void **state)
{
	static const char *const bad[] = {"", "/", "//", "a\nb", "a\x7f", "..", "../a", "a/../b", "a/..", "a\\"};
	static const char *const good[] = {"a", "/**/*", "a..b", "..a/b", "a\\\\", "\xc3\xa4", "[", "{"};
	char wide[VCS_GLOB_MAX + 2];
	struct err err = ERR_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		if (vcs_glob_check(bad[i], &err) == 0)
			fail_msg("%s", bad[i]);
		assert_int_equal(err.kind, ERR_INVALID);
	}
	for (size_t i = 0; i < ARRAY_LEN(good); i++)
		assert_int_equal(vcs_glob_check(good[i], &err), 0);
	memset(wide, 'a', sizeof(wide) - 1);
	wide[sizeof(wide) - 1] = '\0';
	assert_int_equal(vcs_glob_check(wide, &err), -1);
	assert_false(vcs_glob_match(wide, wide));
}

static void folders_are_whole_names(void **state)
{
	static const struct glob_row rows[] = {
		{"modules", "modules/a.tf", true},
		{"modules", "modules2/a.tf", false},
		{"modules", "a/modules/a.tf", false},
		{"modules", "modules", true},
		{"/modules/", "modules/a.tf", true},
		{"./modules", "modules/a.tf", true},
		{"modules/vpc", "modules/vpc/a/b.tf", true},
		{"modules/vpc", "modules/a.tf", false},
		{".hidden", ".hidden/a", true},
		{".hidden", "hidden/a", false},
		{"", "a.tf", true},
		{".", "a/b.tf", true},
		{"/", "a/b.tf", true},
		{"./", "a/b.tf", true},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (vcs_folder_has(rows[i].pattern, rows[i].path) != rows[i].matches)
			fail_msg("%s and %s", rows[i].pattern, rows[i].path);
	}
}

static void tags_match_regular_expressions(void **state)
{
	static const struct {
		const char *pattern, *tag;
		enum tags_regex_match result;
	} rows[] = {
		/* the documented ones */
		{"^\\d+.\\d+.\\d+$", "0.4.2", TAGS_REGEX_YES},
		{"^\\d+.\\d+.\\d+$", "v0.4.2", TAGS_REGEX_NO},
		{"^\\d+.\\d+.\\d+$", "0.4.2-alpha", TAGS_REGEX_NO},
		{"\\d+.\\d+.\\d+$", "version-0.4.2", TAGS_REGEX_YES},
		{"\\d+.\\d+.\\d+$", "0.4.2-alpha", TAGS_REGEX_NO},
		{"^\\d+.\\d+.\\d+", "0.4.2-alpha", TAGS_REGEX_YES},
		{"^\\d+.\\d+.\\d+", "v0.4.2", TAGS_REGEX_NO},
		{"^v(?!0)", "v1.0", TAGS_REGEX_YES},
		{"\xc3\xa4$", "1\xc3\xa4", TAGS_REGEX_YES},
		/* what would run for ages, or deep */
		{"(a+)+$", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!", TAGS_REGEX_LIMIT},
		{"(a|aa)+$", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!", TAGS_REGEX_LIMIT},
		{"^(a?){50}a{50}!$", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", TAGS_REGEX_NO},
		{"(a+)+$", "aaaa", TAGS_REGEX_YES},
		{"(", "a", TAGS_REGEX_LIMIT},
	};
	const double begin = seconds();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (tags_regex_match(rows[i].pattern, rows[i].tag) != rows[i].result)
			fail_msg("%s and %s", rows[i].pattern, rows[i].tag);
	}
	assert_true(seconds() - begin < 5);
}

static void bad_regular_expressions_are_refused(void **state)
{
	static const char *const bad[] = {
		"(", "a)", "[", "*", "a{2,1}", "\\", "\\C", "(?<n", "\xff", "((a{1000}){1000}){1000}"};
	_cleanup_(freep) char *deep = mem_new(401, 1);
	char wide[TAGS_REGEX_MAX + 2];
	struct err err = ERR_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		err = (struct err)ERR_INIT;
		if (tags_regex_check(bad[i], &err) == 0)
			fail_msg("%s", bad[i]);
		assert_int_equal(err.kind, ERR_INVALID);
		assert_non_null(strstr(err.message, "not valid"));
	}
	assert_int_equal(tags_regex_check("^v\\d+$", &err), 0);
	memset(wide, 'a', sizeof(wide) - 1);
	wide[sizeof(wide) - 1] = '\0';
	assert_int_equal(tags_regex_check(wide, &err), -1);
	memset(deep, '(', 200);
	memset(deep + 200, ')', 200);
	assert_int_equal(tags_regex_check(deep, &err), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(globs_match_as_documented),
		cmocka_unit_test(globs_agree_with_their_definition),
		cmocka_unit_test(no_glob_takes_exponential_time),
		cmocka_unit_test(bad_globs_are_refused),
		cmocka_unit_test(folders_are_whole_names),
		cmocka_unit_test(tags_match_regular_expressions),
		cmocka_unit_test(bad_regular_expressions_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
