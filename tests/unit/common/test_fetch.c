/* SPDX-License-Identifier: MPL-2.0 */
/* URLs as logs and messages show them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "common/base.h"
#include "common/http/fetch.h"

static void assert_shown(const char *url, const char *wanted, const char *wanted_without_path)
{
	_cleanup_(freep) char *shown = fetch_shown(url, false);
	_cleanup_(freep) char *without_path = fetch_shown(url, true);

	assert_string_equal(shown, wanted);
	assert_string_equal(without_path, wanted_without_path);
}

static void secret_parts_are_left_out(void **state)
{
	(void)state;
	assert_shown("https://a.test/b/c", "https://a.test/b/c", "https://a.test");
	assert_shown("https://me:pw@a.test:8443/b?token=1#x", "https://a.test:8443/b", "https://a.test:8443");
	assert_shown("https://me:p@w@a.test/b@c", "https://a.test/b@c", "https://a.test");
	assert_shown("https://me@a.test?b/c@d", "https://a.test", "https://a.test");
	assert_shown("https://me:pw@[::1]:80", "https://[::1]:80", "https://[::1]:80");
}

static void what_is_no_url_is_shown_without_secrets_too(void **state)
{
	(void)state;
	assert_shown("", "", "");
	assert_shown("a.test/b", "a.test/b", "a.test");
	assert_shown("me:pw@a.test/b?c", "a.test/b", "a.test");
	assert_shown("https://", "https://", "https://");
	assert_shown("://@", "://", "://");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(secret_parts_are_left_out),
		cmocka_unit_test(what_is_no_url_is_shown_without_secrets_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
