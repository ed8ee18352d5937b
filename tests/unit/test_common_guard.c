/* SPDX-License-Identifier: MPL-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
/* cmocka wants the headers above first */
#include <cmocka.h>

#include <curl/curl.h>

#include "common/err.h"
#include "common/guard.h"

static struct guard *guard_of(const char *allow)
{
	struct guard *guard = NULL;
	struct err err = ERR_INIT;

	assert_int_equal(guard_parse(allow, &guard, &err), 0);
	return guard;
}

static const char *const private[] = {
	"127.0.0.1",
	"127.255.255.255",
	"0.0.0.0",
	"0.1.2.3",
	"10.0.0.1",
	"10.255.255.255",
	"100.64.0.1",
	"100.127.255.255",
	"169.254.0.1",
	"169.254.169.254",
	"168.63.129.16",
	"100.100.100.200",
	"172.16.0.1",
	"172.31.255.255",
	"192.0.0.1",
	"192.168.0.1",
	"198.18.0.1",
	"224.0.0.1",
	"239.255.255.255",
	"255.255.255.255",
	"::",
	"::1",
	"::ffff:127.0.0.1",
	"::ffff:a9fe:a9fe",
	"::127.0.0.1",
	"64:ff9b::10.0.0.1",
	"64:ff9b:1::1",
	"2002:7f00:1::",
	"2002:a00:1::1",
	"2001::1",
	"2001:db8::1",
	"fe80::1",
	"fec0::1",
	"fc00::1",
	"fd00:ec2::254",
	"ff02::1",
};

static const char *const public[] = {
	"1.1.1.1",
	"9.255.255.255",
	"11.0.0.0",
	"100.63.255.255",
	"100.128.0.0",
	"126.255.255.255",
	"128.0.0.1",
	"169.253.255.255",
	"172.15.255.255",
	"172.32.0.0",
	"192.167.255.255",
	"223.255.255.255",
	"::ffff:8.8.8.8",
	"64:ff9b::8.8.8.8",
	"2002:808:808::1",
	"2606:4700::1",
	"2a00::1",
};

static void only_public_addresses_pass(void **state)
{
	struct guard *guard = guard_of("");

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(private); i++)
		if (!guard_refuses_text(guard, NULL, private[i]))
			fail_msg("%s passes", private[i]);
	for (size_t i = 0; i < ARRAY_LEN(public); i++)
		if (guard_refuses_text(guard, NULL, public[i]))
			fail_msg("%s is refused", public[i]);
	assert_string_equal(guard_refuses_text(guard, NULL, "169.254.169.254"), "a cloud's metadata service");
	assert_string_equal(guard_refuses_text(guard, NULL, "::1"), "a loopback address");
	guard_free(guard);
}

static void the_list_lets_through(void **state)
{
	struct guard *guard = guard_of("10.1.0.0/16, 192.168.7.7 ,fd12::/16,intern.example.com,.lan,");

	(void)state;
	assert_null(guard_refuses_text(guard, NULL, "10.1.2.3"));
	assert_null(guard_refuses_text(guard, NULL, "::ffff:10.1.2.3"));
	assert_non_null(guard_refuses_text(guard, NULL, "10.2.2.3"));
	assert_null(guard_refuses_text(guard, NULL, "192.168.7.7"));
	assert_non_null(guard_refuses_text(guard, NULL, "192.168.7.8"));
	assert_null(guard_refuses_text(guard, NULL, "fd12:3::1"));
	assert_null(guard_refuses_text(guard, "Intern.example.com", "127.0.0.1"));
	assert_non_null(guard_refuses_text(guard, "x.intern.example.com", "127.0.0.1"));
	assert_null(guard_refuses_text(guard, "box.lan", "10.9.9.9"));
	assert_non_null(guard_refuses_text(guard, ".lan", "10.9.9.9"));
	assert_non_null(guard_refuses_text(guard, "notlan", "10.9.9.9"));
	guard_free(guard);
}

static void ranges_end_at_their_bits(void **state)
{
	struct guard *guard = guard_of("10.0.0.128/25,172.16.0.0/31");

	(void)state;
	assert_null(guard_refuses_text(guard, NULL, "10.0.0.128"));
	assert_null(guard_refuses_text(guard, NULL, "10.0.0.255"));
	assert_non_null(guard_refuses_text(guard, NULL, "10.0.0.127"));
	assert_null(guard_refuses_text(guard, NULL, "172.16.0.1"));
	assert_non_null(guard_refuses_text(guard, NULL, "172.16.0.2"));
	guard_free(guard);
}

static void everything_can_be_let_through(void **state)
{
	struct guard *guard = guard_of("0.0.0.0/0,::/0");

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(private); i++)
		assert_null(guard_refuses_text(guard, NULL, private[i]));
	guard_free(guard);
}

static void a_bad_list_is_refused(void **state)
{
	static const char *const bad[] = {"10.0.0.0/33", "10.0.0.0/", "fe80::/129", "a b", "http://x/", "10.0.0.0/x"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct guard *guard = NULL;
		struct err err = ERR_INIT;

		assert_int_equal(guard_parse(bad[i], &guard, &err), -1);
		assert_int_equal(err.kind, ERR_INVALID);
	}
}

static void urls_are_checked_before_anything_is_sent(void **state)
{
	static const char *const bad[] = {"ftp://example.com/", "file:///etc/passwd", "gopher://x", "http://",
		"http://127.0.0.1/", "http://0x7f000001/", "http://2130706433/", "http://017700000001/",
		"https://[::1]:8443/x", "http://user:pass@10.0.0.1/", "example.com"};
	struct guard *guard = guard_of("");
	CURL *easy = curl_easy_init();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct guarded guarded = {.guard = guard};
		struct err err = ERR_INIT;

		if (guard_curl(easy, bad[i], &guarded, &err) == 0)
			fail_msg("%s passes", bad[i]);
		assert_int_equal(err.kind, ERR_INVALID);
	}
	for (size_t i = 0; i < 2; i++) {
		struct guarded guarded = {.guard = guard};
		struct err err = ERR_INIT;

		assert_int_equal(
			guard_curl(easy, i ? "http://8.8.8.8/" : "https://example.com/x?y", &guarded, &err), 0);
	}
	curl_easy_cleanup(easy);
	guard_free(guard);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_public_addresses_pass),
		cmocka_unit_test(the_list_lets_through),
		cmocka_unit_test(ranges_end_at_their_bits),
		cmocka_unit_test(everything_can_be_let_through),
		cmocka_unit_test(a_bad_list_is_refused),
		cmocka_unit_test(urls_are_checked_before_anything_is_sent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
