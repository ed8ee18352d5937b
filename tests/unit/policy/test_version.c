/* SPDX-License-Identifier: MPL-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include "common/base.h"
#include "policy/library/version.h"

static struct version V(const char *text) {
	struct version version;

	if (!version_parse(text, strlen(text), &version))
		fail_msg("%s is not parsed", text);
	return version;
}

static void
test_texts(void **state)
{
	static const char *const pairs[][2] = {
		{"1.2.3", "1.2.3"},
		{"v1.2", "1.2.0"},
		{"7", "7.0.0"},
		{"01.002.3", "1.2.3"},
		{"1.2.3-beta.2+build.7", "1.2.3-beta.2+build.7"},
		{"1.2.3+meta-data", "1.2.3+meta-data"},
		{"1.2-rc1", "1.2.0-rc1"},
		{" 1.2.3 ", "1.2.3"},
	};
	char text[VERSION_TEXT_SIZE];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
		struct version version = V(pairs[i][0]);

		assert_string_equal(version_text(&version, text), pairs[i][1]);
	}
}

static void test_what_is_no_version_is_refused(void **state)
{
	static const char *const texts[] = {"", "v", "a", "1.", ".1", "1..2", "1.2.3.4", "1.2.3-", "1.2.3+",
		"1.2.3-a..b", "1.2.3-.a", "1.2.3-a.", "1.2.3-a_b", "1.2.x", "-1", "1 .2", "99999999999999999999",
		"1.2.3beta"};
	struct version version;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		if (version_parse(texts[i], strlen(texts[i]), &version))
			fail_msg("%s is accepted", texts[i]);
}

static void test_order(void **state)
{
	/* Each is below the next. */
	static const char *const ordered[] = {"0.9", "1.0.0-1", "1.0.0-2", "1.0.0-10", "1.0.0-alpha", "1.0.0-alpha.1",
		"1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1", "1.0.0", "1.0.1",
		"1.1", "1.10", "2"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(ordered); i++)
		for (size_t j = 0; j < ARRAY_LEN(ordered); j++) {
			struct version a = V(ordered[i]), b = V(ordered[j]);

			assert_int_equal(version_compare(&a, &b), (i > j) - (i < j));
		}
	struct version a = V("1.2.3+a"), b = V("1.2.3+b");

	assert_int_equal(version_compare(&a, &b), 0);
}

static void test_constraints(void **state)
{
	static const struct {
		const char *version, *constraints;
		int wanted;
	} rows[] = {
		{"1.2.3", "1.2.3", 1},
		{"1.2.3", "= 1.2.3", 1},
		{"1.2.4", "=1.2.3", 0},
		{"1.2.3", "!= 1.2.3", 0},
		{"1.2.4", "!= 1.2.3", 1},
		{"1.2.3", "> 1.2.3", 0},
		{"1.2.4", "> 1.2.3", 1},
		{"1.2.3", ">= 1.2.3", 1},
		{"1.2.2", ">= 1.2.3", 0},
		{"1.2.2", "< 1.2.3", 1},
		{"1.2.3", "< 1.2.3", 0},
		{"1.2.3", "<= 1.2.3", 1},
		{"1.2.4", "<= 1.2.3", 0},
		{"1.2.0", "~> 1.2", 1},
		{"1.9.9", "~> 1.2", 1},
		{"2.0.0", "~> 1.2", 0},
		{"1.1.9", "~> 1.2", 0},
		{"1.2.9", "~> 1.2.3", 1},
		{"1.3.0", "~> 1.2.3", 0},
		{"1.2.2", "~> 1.2.3", 0},
		{"5.0.0", "~> 1", 1},
		{"0.9.0", "~> 1", 0},
		{"1.2.4", "~> 1.2, != 1.2.3", 1},
		{"1.2.3", "~> 1.2, != 1.2.3", 0},
		{"1.5.0", ">= 1.0,< 2.0 , != 1.6", 1},
		{"1.2.3-beta", ">= 1.0", 0},
		{"1.2.3-beta", "~> 1.2", 0},
		{"1.2.3-beta", ">= 1.2.3-alpha", 1},
		{"1.2.3-beta", "> 1.2.2-alpha", 0},
		{"1.2.3-beta", "= 1.2.3-beta", 1},
		{"1.2.3-beta", "~> 1.2.3-alpha", 1},
		{"1.2.4", ">= 1.2.3-alpha", 1},
		{"1.2.3", "", -1},
		{"1.2.3", ">=", -1},
		{"1.2.3", "=> 1", -1},
		{"1.2.3", ">= 1,", -1},
		{"1.2.3", "one", -1},
		{"1.2.3", "< 1, x", -1},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct version version = V(rows[i].version);
		int result = version_satisfies(&version, rows[i].constraints, strlen(rows[i].constraints));

		if (result != rows[i].wanted)
			fail_msg("%s of \"%s\": %d", rows[i].version, rows[i].constraints, result);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_what_is_no_version_is_refused),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_constraints),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
