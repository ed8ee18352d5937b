/* SPDX-License-Identifier: MPL-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base.h"
#include "common/process.h"

static bool is_protected(void)
{
	struct rlimit core = {1, 1};

	return prctl(PR_GET_DUMPABLE) == 0 && getrlimit(RLIMIT_CORE, &core) == 0 && core.rlim_max == 0;
}

static void test_process_protect(void **state)
{
	int status = -1;
	pid_t child;

	(void)state;
	assert_false(is_protected());
	child = fork();
	if (child == 0) {
		process_protect();
		_exit(is_protected() ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void test_percent_decode(void **state)
{
	static const char *const cases[][2] = {{"", ""}, {"a%20b%2Fc", "a b/c"}, {"%c3%A4", "\xc3\xa4"}, {"%", "%"},
		{"%4", "%4"}, {"%4g%zz", "%4g%zz"}, {"%00", "%00"}, {"%2541", "%41"}, {"a+b", "a+b"}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char text[32];

		text_copy(text, sizeof(text), cases[i][0]);
		text_percent_decode(text);
		assert_string_equal(text, cases[i][1]);
	}
}

static void test_number(void **state)
{
	static const struct {
		const char *text;
		long long number; /* 7: it is none */
	} cases[] = {{"0", 0}, {"-12", -12}, {"0012", 12}, {"", 7}, {NULL, 7}, {" 1", 7}, {"\v1", 7}, {"+1", 7},
		{"1 ", 7}, {"-", 7}, {"- 1", 7}, {"1x", 7}, {"101", 7}, {"-101", 7}, {"9223372036854775808", 7}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		long long number = 7;

		assert_int_equal(text_number(cases[i].text, -100, 100, &number), cases[i].number == 7 ? -1 : 0);
		assert_int_equal(number, cases[i].number);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_process_protect),
		cmocka_unit_test(test_percent_decode),
		cmocka_unit_test(test_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
