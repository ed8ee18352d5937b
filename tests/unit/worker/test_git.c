/* SPDX-License-Identifier: MPL-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "worker/git/git_result.h"
#include "worker/git/pointers.h"
#include "worker/git/records.h"
#include "worker/git/remote.h"

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
		cmocka_unit_test(test_pointers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
