/* SPDX-License-Identifier: MPL-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "worker/git/git_result.h"
#include "worker/git/pointers.h"
#include "worker/git/proxy_settings.h"
#include "worker/git/records.h"
#include "worker/git/remote.h"
#include "worker/git/upstream.h"

/* ---- addresses ---- */

static void test_addresses_that_lead_to_a_server(void **state)
{
	static const struct {
		const char *url, *host;
		enum remote_scheme scheme;
		int port;
		bool with_user;
	} rows[] = {
		{"https://git.example.com/acme/network.git", "git.example.com", REMOTE_HTTPS, 443, false},
		{"http://Git.Example.com:3000/x", "git.example.com", REMOTE_HTTP, 3000, false},
		{"ssh://git@host_1/x/y", "host_1", REMOTE_SSH, 22, true},
		{"ssh://git@[2001:DB8::1]:2222/x", "2001:db8::1", REMOTE_SSH, 2222, true},
		{"git://10.0.0.1/x", "10.0.0.1", REMOTE_GIT, 9418, false},
		{"https://host/p%20q/_git/r\xc3\xbc", "host", REMOTE_HTTPS, 443, false},
	};
	struct remote remote;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_true(remote_parse(rows[i].url, &remote));
		assert_string_equal(remote.host, rows[i].host);
		assert_int_equal(remote.scheme, rows[i].scheme);
		assert_int_equal(remote.port, rows[i].port);
		assert_int_equal(remote.with_user, rows[i].with_user);
	}
}

static void test_everything_else_is_no_address(void **state)
{
	static const char *const urls[] = {"", "/etc", "file:///etc", "ext::sh -c id", "fd::17/x", "ftp://host/x",
		"https://", "https://host", "https://host/", "https:///x", "https://user:password@host/x",
		"https://-host/x", "https://.host/x", "ssh://-oProxyCommand=id/x", "ssh://-l@host/x",
		"https://host:0/x", "https://host:65536/x", "https://host:80a/x", "https://host:/x", "https://ho st/x",
		"https://host/a b", "https://host/a\nb", "https://host/$(id)`", "https://host/\"x", "https://host/x?y",
		"https://host/x#y", "https://[::1/x", "https://[]/x", "HTTPS://host/x", "--upload-pack=x"};
	struct remote remote;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(urls); i++)
		if (remote_parse(urls[i], &remote))
			fail_msg("%s", urls[i]);
}

static void test_addresses_of_submodules(void **state)
{
	static const char base[] = "https://host:3000/acme/network.git";
	static const struct {
		const char *given, *resolved;
	} rows[] = {
		{"../modules.git", "https://host:3000/acme/modules.git"},
		{"../../other/x.git", "https://host:3000/other/x.git"},
		{"./inner", "https://host:3000/acme/network.git/inner"},
		{"../.././x", "https://host:3000/x"},
		{"../../../x", NULL},
		{"../../../../etc", NULL},
		{"https://elsewhere/x", "https://elsewhere/x"},
		{"git@host:acme/x.git", "ssh://git@host/acme/x.git"},
		{"git@host:/acme/x.git", "ssh://git@host/acme/x.git"},
		{"ext::sh -c id", NULL},
		{"-oProxyCommand=x@host:y", NULL},
		{"git@-host:x", NULL},
		{"/etc", NULL},
		{"modules", NULL},
		{"", NULL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		_cleanup_(freep) char *resolved = remote_resolve(base, rows[i].given);

		if (!text_equal(text_or_empty(resolved), text_or_empty(rows[i].resolved)))
			fail_msg("%s: %s", rows[i].given, text_or_empty(resolved));
	}
}

/* ---- records ---- */

static void test_records(void **state)
{
	_cleanup_(buf_release) struct buf records = BUF_INIT(24);
	struct record record;
	size_t at = 0;

	(void)state;
	assert_int_equal(record_add(&records, "a", "1"), 0);
	assert_int_equal(record_add(&records, "b", NULL), 0);
	assert_int_equal(record_add(&records, "a", "two\nlines"), 0);
	assert_int_equal(record_add(&records, "c", "does not fit any more"), -1);
	assert_string_equal(record_value(buf_bytes(&records), "a"), "1");
	assert_string_equal(record_value(buf_bytes(&records), "c"), "");
	assert_true(record_next(buf_bytes(&records), &at, &record));
	assert_true(record_next(buf_bytes(&records), &at, &record));
	assert_string_equal(record.value, "two\nlines");
	assert_false(record_next(buf_bytes(&records), &at, &record));
	at = 0;
	assert_false(record_next((struct bytes){"name\0value", 10}, &at, &record));
	assert_false(record_next((struct bytes){NULL, 0}, &at, &record));
}

/* ---- results ---- */

static json_t *result_of(const char *kind, const struct buf *records, bool ended)
{
	json_auto_t *order = json_pack("{ss s{ss ss}}", "kind", kind, "login", "user", "ada", "password", "hunter22");

	return git_result_read(order, buf_bytes(records), ended, 512);
}

static void test_a_look_names_the_commits_of_annotated_tags(void **state)
{
	_cleanup_(buf_release) struct buf records = BUF_INIT(4096);
	json_auto_t *result = NULL;

	(void)state;
	record_add(&records, "outcome", "done");
	record_add(&records, "head", "refs/heads/main");
	record_add(&records, "ref", "11 refs/tags/v1");
	record_add(&records, "ref", "22 refs/tags/v1^{}");
	record_add(&records, "ref", "33 refs/heads/\xff");
	result = result_of("look", &records, true);
	assert_string_equal(json_string_value(json_object_get(json_object_get(result, "refs"), "refs/tags/v1")), "22");
	assert_string_equal(json_string_at(result, "head"), "refs/heads/main");
	assert_string_equal(json_string_value(json_object_get(json_object_get(result, "refs"), "refs/heads/?")), "33");
}

static void test_a_failure_has_no_secret_and_the_proxys_reason(void **state)
{
	_cleanup_(buf_release) struct buf records = BUF_INIT(4096), refused = BUF_INIT(4096);
	json_auto_t *first = NULL, *second = NULL, *third = NULL;

	(void)state;
	record_add(&records, "outcome", "failed");
	record_add(&records, "error", "he said hunter22 and YWRhOmh1bnRlcjIy \xff");
	first = result_of("fetch", &records, true);
	assert_string_equal(json_string_at(first, "error"), "he said ******** and **************** ?");
	record_add(&refused, "outcome", "retry");
	record_add(&refused, "error", "SOCKS5");
	record_add(&refused, "refused", "x port 1 is refused: a private address");
	second = result_of("fetch", &refused, true);
	assert_string_equal(json_string_at(second, "outcome"), "failed");
	assert_string_equal(json_string_at(second, "error"), "x port 1 is refused: a private address.");
	buf_reset(&records);
	third = result_of("fetch", &records, false);
	assert_string_equal(json_string_at(third, "outcome"), "retry");
	assert_true(*json_string_at(third, "error"));
}

/* ---- the operator's proxy ---- */

/* The order of a worker with these variables. */
static void order_with(struct buf *order, const char *https, const char *http, const char *none)
{
	setenv("HTTPS_PROXY", https, 1);
	setenv("http_proxy", http, 1);
	setenv("NO_PROXY", none, 1);
	unsetenv("https_proxy");
	unsetenv("no_proxy");
	buf_reset(order);
	assert_int_equal(proxy_settings_add(order), 0);
}

static void test_settings_of_proxies(void **state)
{
	static const struct {
		const char *url, *record;
	} rows[] = {
		{"http://proxy.example.com:3128", "proxy.example.com 3128 "},
		{"http://proxy.example.com/", "proxy.example.com 80 "},
		{"proxy.example.com:3128", "proxy.example.com 3128 "},
		{"http://ada:hunter%2022@10.0.0.1:8080", "10.0.0.1 8080 YWRhOmh1bnRlciAyMg=="},
		{"http://[2001:db8::1]:3128", "2001:db8::1 3128 "},
		{"https://proxy.example.com", "-"},
		{"socks5://proxy.example.com:1080", "-"},
		{"http://", "-"},
		{"http://a b:1", "-"},
		{"", ""},
	};
	_cleanup_(buf_release) struct buf order = BUF_INIT(4096);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		order_with(&order, rows[i].url, "", "");
		assert_string_equal(record_value(buf_bytes(&order), UPSTREAM_HTTPS), rows[i].record);
		assert_string_equal(record_value(buf_bytes(&order), UPSTREAM_HTTP), "");
	}
}

static void test_which_servers_are_reached_through_a_proxy(void **state)
{
	static const struct {
		enum remote_scheme scheme;
		const char *host;
		int port;
		const char *proxy; /* NULL: none */
	} rows[] = {
		{REMOTE_HTTPS, "git.example.org", 443, "secure"},
		{REMOTE_HTTP, "git.example.org", 80, "plain"},
		{REMOTE_SSH, "git.example.org", 22, NULL},
		{REMOTE_GIT, "git.example.org", 9418, NULL},
		{REMOTE_HTTPS, "localhost", 443, NULL},
		{REMOTE_HTTPS, "127.9.9.9", 443, NULL},
		{REMOTE_HTTPS, "::1", 443, NULL},
		{REMOTE_HTTPS, "corp", 443, NULL},
		{REMOTE_HTTPS, "git.corp", 443, NULL},
		{REMOTE_HTTPS, "notcorp", 443, "secure"},
		{REMOTE_HTTPS, "git.inner.net", 443, NULL},
		{REMOTE_HTTPS, "git.wild.net", 443, NULL},
		{REMOTE_HTTPS, "one.port", 8443, NULL},
		{REMOTE_HTTPS, "one.port", 443, "secure"},
		{REMOTE_HTTPS, "10.1.2.3", 443, NULL},
		{REMOTE_HTTPS, "11.1.2.3", 443, "secure"},
		{REMOTE_HTTPS, "2001:db8::1", 443, NULL},
	};
	_cleanup_(buf_release) struct buf order = BUF_INIT(4096), all = BUF_INIT(4096);
	struct upstreams upstreams;

	(void)state;
	order_with(&order, "http://secure:1", "http://plain:2",
		"CORP, .inner.net,,*.wild.net one.port:8443,10.0.0.0/8,2001:db8::/32");
	upstreams = upstreams_read(buf_bytes(&order));
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct upstream *found = upstream_for(&upstreams, rows[i].scheme, rows[i].host, rows[i].port);

		if (!text_equal(found ? found->host : "", text_or_empty(rows[i].proxy)))
			fail_msg("%s %d: %s", rows[i].host, rows[i].port, found ? found->host : "none");
	}
	order_with(&all, "http://secure:1", "", "*");
	upstreams = upstreams_read(buf_bytes(&all));
	assert_null(upstream_for(&upstreams, REMOTE_HTTPS, "git.example.org", 443));
	upstreams = upstreams_read((struct bytes){NULL, 0});
	assert_null(upstream_for(&upstreams, REMOTE_HTTPS, "git.example.org", 443));
}

static void test_the_request_for_a_connection(void **state)
{
	static const struct upstream with = {.host = "p", .port = 1, .login = "YTpi"}, without = {.login = ""};
	_cleanup_(freep) char *first = upstream_request(&with, "git.example.org", 443);
	_cleanup_(freep) char *second = upstream_request(&without, "2001:db8::1", 8443);

	(void)state;
	assert_string_equal(first,
		"CONNECT git.example.org:443 HTTP/1.1\r\nHost: git.example.org:443\r\n"
		"Proxy-Authorization: Basic YTpi\r\n\r\n");
	assert_string_equal(second, "CONNECT [2001:db8::1]:8443 HTTP/1.1\r\nHost: [2001:db8::1]:8443\r\n\r\n");
}

static void test_answers_of_proxies(void **state)
{
	static const struct {
		const char *answer;
		int status;
		size_t len;
	} rows[] = {
		{"", 0, 0},
		{"HTTP/1.1 200 Connection established\r\n", 0, 0},
		{"HTTP/1.1 200 Connection established\r\n\r\n", 200, 39},
		{"HTTP/1.0 200\r\nVia: x\r\n\r\nSSH-2.0", 200, 24},
		{"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", 407, 46},
		{"HTTP/2 200\r\n\r\n", -1, 14},
		{"SSH-2.0-x\r\n\r\n", -1, 13},
		{"HTTP/1.1 -20\r\n\r\n", -1, 16},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		size_t len = 0;

		assert_int_equal(upstream_status(rows[i].answer, &len), rows[i].status);
		assert_int_equal(len, rows[i].len);
	}
}

static void test_pointers(void **state)
{
	static const char pointer[] = "version https://git-lfs.github.com/spec/v1\n";

	(void)state;
	assert_true(pointer_begins(pointer, sizeof(pointer) - 1));
	assert_false(pointer_begins(pointer, 20));
	assert_false(pointer_begins("", 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_addresses_that_lead_to_a_server),
		cmocka_unit_test(test_everything_else_is_no_address),
		cmocka_unit_test(test_addresses_of_submodules),
		cmocka_unit_test(test_records),
		cmocka_unit_test(test_a_look_names_the_commits_of_annotated_tags),
		cmocka_unit_test(test_a_failure_has_no_secret_and_the_proxys_reason),
		cmocka_unit_test(test_settings_of_proxies),
		cmocka_unit_test(test_which_servers_are_reached_through_a_proxy),
		cmocka_unit_test(test_the_request_for_a_connection),
		cmocka_unit_test(test_answers_of_proxies),
		cmocka_unit_test(test_pointers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
