/* SPDX-License-Identifier: MPL-2.0 */
/* Documents as clients parse them: pages with links, errors, attributes of a body; and signed URLs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "scheduler/auth/signed.h"
#include "scheduler/http/request.h"

static const struct store_settings settings = {.public_url = "http://runyard.test"};
static struct store store = {.settings = &settings};
static const struct http_request http = {.method = "GET", .path = "/api/v2/things"};

/* Returns the page's document. */
static json_t *page_document(long long number, long long size, long long total, bool more)
{
	struct http_answer answer = {.status = 0};
	struct response res = {.http = &answer};
	struct request req = {.http = &http, .store = &store};
	struct page page = {.number = number, .size = size, .total = total, .more = more};
	json_t *document;

	assert_int_equal(respond_page(&req, &res, &page, json_array(), NULL), 0);
	assert_int_equal(answer.status, 200);
	assert_string_equal(answer.content_type, "application/vnd.api+json");
	document = json_loadb(answer.body.data, answer.body.len, 0, NULL);
	buf_release(&answer.body);
	assert_non_null(document);
	return document;
}

static void expect_link(const json_t *document, const char *which, long long number, long long size)
{
	_cleanup_(freep) char *path = mem_printf("links.%s", which);
	_cleanup_(freep) char *url = mem_printf(
		"http://runyard.test/api/v2/things?page%%5Bnumber%%5D=%lld&page%%5Bsize%%5D=%lld", number, size);

	if (number)
		assert_string_equal(json_string_at(document, path), url);
	else
		assert_true(json_is_null(json_at(document, path)));
}

static void a_page_has_links_to_its_neighbours(void **state)
{
	json_t *document = page_document(2, 10, 35, false);

	(void)state;
	expect_link(document, "self", 2, 10);
	expect_link(document, "first", 1, 10);
	expect_link(document, "prev", 1, 10);
	expect_link(document, "next", 3, 10);
	expect_link(document, "last", 4, 10);
	assert_int_equal(json_int_at(document, "meta.pagination.total-count", -1), 35);
	assert_int_equal(json_int_at(document, "meta.pagination.total-pages", -1), 4);
	assert_int_equal(json_int_at(document, "meta.pagination.prev-page", -1), 1);
	json_decref(document);
}

static void the_last_page_has_no_next_link(void **state)
{
	json_t *last = page_document(4, 10, 35, false);
	json_t *empty = page_document(1, 20, 0, false);
	json_t *past = page_document(999, 100, 3, false);
	json_t *uncounted = page_document(1, 20, -1, true);

	(void)state;
	expect_link(last, "next", 0, 0);
	expect_link(empty, "next", 0, 0);
	expect_link(empty, "prev", 0, 0);
	expect_link(empty, "last", 1, 20);
	assert_int_equal(json_int_at(past, "meta.pagination.current-page", -1), 999);
	assert_int_equal(json_int_at(past, "meta.pagination.total-count", -1), 3);
	expect_link(past, "next", 0, 0);
	expect_link(uncounted, "next", 2, 20);
	expect_link(uncounted, "last", 0, 0);
	assert_null(json_at(uncounted, "meta.pagination.total-count"));
	json_decref(last);
	json_decref(empty);
	json_decref(past);
	json_decref(uncounted);
}

static json_t *error_document(const struct err *err, int status)
{
	struct http_answer answer = {.status = 0};
	struct response res = {.http = &answer};
	json_t *document;

	respond_error(&res, err);
	assert_int_equal(answer.status, status);
	document = json_loadb(answer.body.data, answer.body.len, 0, NULL);
	buf_release(&answer.body);
	return document;
}

/* The status must be a string: clients drop an error whose status is a number. */
static void errors_are_documents(void **state)
{
	struct err err = ERR_INIT;
	json_t *document;
	const json_t *error;

	(void)state;
	err_at(&err, "/data/attributes/name", "Name has already been taken");
	document = error_document(&err, 422);
	error = json_array_get(json_at(document, "errors"), 0);
	assert_string_equal(json_string_at(error, "status"), "422");
	assert_string_equal(json_string_at(error, "title"), "invalid attribute");
	assert_string_equal(json_string_at(error, "detail"), "Name has already been taken");
	assert_string_equal(json_string_at(error, "source.pointer"), "/data/attributes/name");
	json_decref(document);
}

static void internal_errors_are_not_disclosed(void **state)
{
	struct err err = ERR_INIT;
	json_t *document;
	_cleanup_(freep) char *text = NULL;

	(void)state;
	err_set(&err, ERR_INTERNAL, "PostgreSQL: relation secrets does not exist");
	document = error_document(&err, 500);
	text = json_text(document);
	assert_null(strstr(text, "secrets"));
	json_decref(document);
	err_set(&err, ERR_NOT_FOUND, "there is no \xff\xfe here");
	document = error_document(&err, 404);
	assert_non_null(document);
	json_decref(document);
}

static void attributes_of_other_types_are_refused(void **state)
{
	json_t *body = json_pack("{s:{s:s, s:{s:s, s:b, s:i, s:n, s:[s, i]}}}", "data", "type", "things", "attributes",
		"name", "a", "auto-apply", 1, "count", 3, "nothing", "list", "a", 1);
	struct request req = {.http = &http, .body = body};
	struct err err = ERR_INIT;
	const char *text = "as it was";
	const json_t *list = NULL;
	bool yes = false;
	long long number = 7;

	(void)state;
	assert_int_equal(body_text(&req, "missing", &text, &err), 0);
	assert_string_equal(text, "as it was");
	assert_int_equal(body_text(&req, "nothing", &text, &err), 0);
	assert_null(text);
	assert_int_equal(body_bool(&req, "auto-apply", &yes, &err), 0);
	assert_true(yes);
	assert_int_equal(body_int(&req, "nothing", &number, &err), 0);
	assert_int_equal(number, 7);
	assert_int_equal(body_text(&req, "auto-apply", &text, &err), -1);
	assert_int_equal(err.kind, ERR_INVALID);
	assert_string_equal(err.pointer, "/data/attributes/auto-apply");
	assert_string_equal(err.message, "Auto apply must be a string");
	assert_int_equal(body_bool(&req, "name", &yes, &err), -1);
	assert_int_equal(body_texts(&req, "list", &list, &err), -1);
	assert_int_equal(body_check(&req, "things", &err), 0);
	assert_int_equal(body_check(&req, "others", &err), -1);
	json_decref(body);
}

static void bodies_without_a_document_are_refused(void **state)
{
	static const char *const bodies[] = {
		"null", "[]", "1", "{}", "{\"data\":null}", "{\"data\":[]}", "{\"data\":\"x\"}"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
		json_t *body = json_loads(bodies[i], JSON_DECODE_ANY, NULL);
		struct request req = {.http = &http, .body = body};
		struct err err = ERR_INIT;
		const char *text = NULL;

		assert_int_equal(body_check(&req, "things", &err), -1);
		assert_int_equal(err.kind, ERR_MALFORMED);
		assert_int_equal(body_text(&req, "name", &text, &err), 0);
		assert_null(body_relation(&req, "workspace"));
		json_decref(body);
	}
}

static void a_signature_is_valid_for_one_path(void **state)
{
	struct keyring *keyring = NULL, *other = NULL;
	struct err err = ERR_INIT;
	_cleanup_(freep) char *url = NULL;
	char *path;

	(void)state;
	assert_int_equal(
		keyring_parse("1:000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", &keyring, &err), 0);
	assert_int_equal(
		keyring_parse("1:ff0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", &other, &err), 0);
	store.keyring = keyring;
	url = signed_url(&store, "/logs/plan-1");
	path = url + strlen(store.settings->public_url);
	assert_true(signed_valid(keyring, path));
	assert_false(signed_valid(other, path));
	path[strlen(path) - 1] = '2';
	assert_false(signed_valid(keyring, path));
	path[strlen(path) - 1] = '1';
	path[strlen(SIGNED_PREFIX "/")]++;
	assert_false(signed_valid(keyring, path));
	assert_false(signed_valid(keyring, "/signed/"));
	assert_false(signed_valid(keyring, "/signed/1/logs/plan-1"));
	assert_false(signed_valid(keyring, "/signed/-/logs/plan-1"));
	assert_false(signed_valid(keyring, "/signed/99999999999999999999999-aa/logs/plan-1"));
	assert_false(signed_valid(keyring, "/logs/plan-1"));
	keyring_free(keyring);
	keyring_free(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_page_has_links_to_its_neighbours),
		cmocka_unit_test(the_last_page_has_no_next_link),
		cmocka_unit_test(errors_are_documents),
		cmocka_unit_test(internal_errors_are_not_disclosed),
		cmocka_unit_test(attributes_of_other_types_are_refused),
		cmocka_unit_test(bodies_without_a_document_are_refused),
		cmocka_unit_test(a_signature_is_valid_for_one_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
