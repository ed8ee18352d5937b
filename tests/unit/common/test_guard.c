/* SPDX-License-Identifier: MPL-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include <curl/curl.h>

#include "common/err.h"
#include "common/http/guard.h"

static struct guard *guard_of(const char *allow)
{
	struct guard *guard = NULL;
	struct err err = ERR_INIT;

	assert_int_equal(guard_parse(allow, &guard, &err), 0);
	return guard;
}

/* The refusal of an address that the host (or NULL) resolved to, at a port that no list below names. */
static const char *refusal(const struct guard *guard, const char *host, const char *address)
{
	return guard_judge_text(guard, &(struct guard_target){host, address, 8443}).refusal;
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

static void only_public_addresses_are_allowed(void **state)
{
	struct guard *guard = guard_of("");

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(private); i++)
		if (!refusal(guard, NULL, private[i]))
			fail_msg("%s passes", private[i]);
	for (size_t i = 0; i < ARRAY_LEN(public); i++)
		if (refusal(guard, NULL, public[i]))
			fail_msg("%s is refused", public[i]);
	assert_string_equal(refusal(guard, NULL, "169.254.169.254"), "a cloud's metadata service");
	assert_string_equal(refusal(guard, NULL, "::1"), "a loopback address");
	guard_free(guard);
}

static void addresses_and_hosts_of_the_list_are_allowed(void **state)
{
	struct guard *guard = guard_of("10.1.0.0/16, 192.168.7.7 ,fd12::/16,intern.example.com,.lan,");

	(void)state;
	assert_null(refusal(guard, NULL, "10.1.2.3"));
	assert_null(refusal(guard, NULL, "::ffff:10.1.2.3"));
	assert_non_null(refusal(guard, NULL, "10.2.2.3"));
	assert_null(refusal(guard, NULL, "192.168.7.7"));
	assert_non_null(refusal(guard, NULL, "192.168.7.8"));
	assert_null(refusal(guard, NULL, "fd12:3::1"));
	assert_null(refusal(guard, "Intern.example.com", "127.0.0.1"));
	assert_non_null(refusal(guard, "x.intern.example.com", "127.0.0.1"));
	assert_null(refusal(guard, "box.lan", "10.9.9.9"));
	assert_non_null(refusal(guard, ".lan", "10.9.9.9"));
	assert_non_null(refusal(guard, "notlan", "10.9.9.9"));
	guard_free(guard);
}

static void ranges_with_odd_prefix_lengths_are_exact(void **state)
{
	struct guard *guard = guard_of("10.0.0.128/25,172.16.0.0/31");

	(void)state;
	assert_null(refusal(guard, NULL, "10.0.0.128"));
	assert_null(refusal(guard, NULL, "10.0.0.255"));
	assert_non_null(refusal(guard, NULL, "10.0.0.127"));
	assert_null(refusal(guard, NULL, "172.16.0.1"));
	assert_non_null(refusal(guard, NULL, "172.16.0.2"));
	guard_free(guard);
}

static void address_ranges_are_parsed_with_their_port(void **state)
{
	static const struct {
		const char *text;
		int bits, port;
	} good[] = {{"10.0.0.0/8", 104, 0}, {"10.1.2.3", 128, 0}, {"10.1.2.3:80", 128, 80},
		{"10.0.0.0/8:65535", 104, 65535}, {"::1", 128, 0}, {"[::1]", 128, 0}, {"[::1]:443", 128, 443},
		{"fd00::/8", 8, 0}, {"[fd00::]/8", 8, 0}, {"[fd00::]/8:443", 8, 443}, {"::ffff:10.0.0.1", 128, 0},
		{"[::ffff:10.0.0.1]:9", 128, 9}, {"0.0.0.0/0:1", 96, 1}};
	static const char *const bad[] = {"", ":", "10.0.0.1:", "10.0.0.1:0", "10.0.0.1:65536", "10.0.0.1:80:90",
		"10.0.0.1:x", "10.0.0.1:80/8", "[10.0.0.1]:80", "[::1]:80:90", "[::1]80", "[::1", "::1]:80", "[]:80",
		"[::1]/129", "[::1/64]:80", "10.0.0.0/8:", "[[::1]]:80", "host:80",
		"[ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255]/128:655350000000"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		struct address_range range;

		if (address_range_parse(good[i].text, &range) < 0)
			fail_msg("%s is refused", good[i].text);
		assert_int_equal(range.bits, good[i].bits);
		assert_int_equal(range.port, good[i].port);
	}
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct address_range range;

		if (address_range_parse(bad[i], &range) == 0)
			fail_msg("%s is accepted", bad[i]);
	}
}

static void an_entry_with_a_port_allows_only_that_port(void **state)
{
	static const struct {
		const char *host, *address;
		int port;
		bool listed;
	} cases[] = {
		{NULL, "127.0.0.1", 8080, true},
		{NULL, "127.0.0.1", 8081, false},
		{NULL, "::ffff:127.0.0.1", 8080, true},
		{NULL, "::ffff:127.0.0.1", 80, false},
		{NULL, "::1", 8443, true},
		{NULL, "::1", 8080, false},
		{NULL, "10.9.9.9", 443, true},
		{NULL, "10.9.9.9", 444, false},
		{NULL, "192.168.7.7", 1, true},
		{"box.lan", "127.0.0.2", 9000, true},
		{"box.lan", "127.0.0.2", 9001, false},
		{"a.intern", "172.16.0.1", 77, true},
		{"a.intern", "172.16.0.1", 78, false},
		{"open.example.com", "127.0.0.9", 6379, true},
		{NULL, "2002:7f00:1::", 8080, true},
		{NULL, "2002:7f00:1::", 8081, false},
	};
	struct guard *guard = guard_of("127.0.0.1:8080,[::1]:8443,10.0.0.0/8:443,192.168.7.7,box.lan:9000,.intern:77,"
				       "open.example.com");

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct guard_verdict verdict =
			guard_judge_text(guard, &(struct guard_target){cases[i].host, cases[i].address, cases[i].port});

		if (verdict.listed != cases[i].listed || !verdict.refusal != cases[i].listed)
			fail_msg("%s %s port %d: %s", text_or_empty(cases[i].host), cases[i].address, cases[i].port,
				text_or_empty(verdict.refusal));
	}
	assert_true(guard_names_ports(guard));
	assert_true(guard_allows(guard, "192.168.7.7"));
	assert_false(guard_allows(guard, "127.0.0.1"));
	guard_free(guard);
}

static void a_public_address_is_listed_only_by_the_list(void **state)
{
	struct guard *guard = guard_of("8.8.8.8:53,hook.example.com");
	const struct guard_target targets[] = {{NULL, "8.8.8.8", 53}, {"hook.example.com", "1.1.1.1", 443},
		{NULL, "8.8.8.8", 443}, {"x", "1.1.1.1", 443}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(targets); i++) {
		struct guard_verdict verdict = guard_judge_text(guard, &targets[i]);

		assert_null(verdict.refusal);
		assert_int_equal(verdict.listed, i < 2);
	}
	guard_free(guard);
}

static void all_addresses_can_be_allowed(void **state)
{
	struct guard *guard = guard_of("0.0.0.0/0,::/0");

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(private); i++)
		assert_null(refusal(guard, NULL, private[i]));
	guard_free(guard);
}

static void invalid_lists_are_refused(void **state)
{
	static const char *const bad[] = {"10.0.0.0/33", "10.0.0.0/", "fe80::/129", "a b", "http://x/", "10.0.0.0/x",
		"127.0.0.1:0", "127.0.0.1:70000", "127.0.0.1:", "host:", "host:x", ".lan:99999", "[::1]:", "[::1]:1:2",
		":80"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct guard *guard = NULL;
		struct err err = ERR_INIT;

		assert_int_equal(guard_parse(bad[i], &guard, &err), -1);
		assert_int_equal(err.kind, ERR_INVALID);
	}
}

static void urls_are_checked_before_the_request(void **state)
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

static void listed_only_permits_hosts_of_the_list_alone(void **state)
{
	static const struct {
		const char *url;
		bool permitted;
	} cases[] = {
		{"https://api.example.com/x", true},
		{"https://API.example.com:8443/", true},
		{"http://a.below.test/", true},
		{"http://10.1.2.3/", true},
		{"http://8.8.8.8:53/", true},
		{"https://example.com/", false},
		{"https://api.example.com.evil.test/", false},
		{"http://below.test/", false},
		{"http://8.8.8.8/", false},
		{"http://1.1.1.1/", false},
		{"http://11.0.0.1/", false},
		{"http://169.254.169.254/", false},
		{"http://[::ffff:10.1.2.3]/", true},
		{"http://[::ffff:127.0.0.1]/", false},
	};
	struct guard *guard = guard_of("api.example.com,.below.test,10.0.0.0/8,8.8.8.8:53");
	CURL *easy = curl_easy_init();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct guarded guarded = {.guard = guard, .listed_only = true};
		struct err err = ERR_INIT;

		if ((guard_curl(easy, cases[i].url, &guarded, &err) == 0) != cases[i].permitted)
			fail_msg("%s: %s", cases[i].url, err.message);
	}
	curl_easy_cleanup(easy);
	guard_free(guard);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_public_addresses_are_allowed),
		cmocka_unit_test(addresses_and_hosts_of_the_list_are_allowed),
		cmocka_unit_test(ranges_with_odd_prefix_lengths_are_exact),
		cmocka_unit_test(address_ranges_are_parsed_with_their_port),
		cmocka_unit_test(an_entry_with_a_port_allows_only_that_port),
		cmocka_unit_test(a_public_address_is_listed_only_by_the_list),
		cmocka_unit_test(all_addresses_can_be_allowed),
		cmocka_unit_test(invalid_lists_are_refused),
		cmocka_unit_test(urls_are_checked_before_the_request),
		cmocka_unit_test(listed_only_permits_hosts_of_the_list_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
