/* SPDX-License-Identifier: MPL-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include "common/http/answer.h"

static void clean_is(const char *bytes, size_t len, const char *secret, const char *wanted)
{
	char *text = answer_clean(bytes, len, secret);

	assert_string_equal(text, wanted);
	free(text);
}

static void control_characters_and_secrets_are_replaced(void **state)
{
	(void)state;
	clean_is("ok", 2, NULL, "ok");
	clean_is("a\0b\x1b\n", 5, NULL, "a?b?\n");
	clean_is("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 9, NULL, "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
	clean_is("\xc3", 1, NULL, "?");
	clean_is("\xe2\x82", 2, NULL, "??");
	clean_is("\xc0\x80\xed\xa0\x80\xf5\x80\xff", 8, NULL, "????????");
	clean_is("\xe0\x80\x80\xf4\x90\x80\x80", 7, NULL, "???????");
	clean_is("[secret!]secret", 15, "secret!", "[***]secret");
	clean_is("a\x7f\xc2\x80\xc2\x9f\xc2\xa0\t", 9, NULL, "a?????\xc2\xa0\t");
}

/* Fills `text` with 'a' and puts `with` at offset `at`. */
static size_t long_answer(char text[ANSWER_COLLECTED], size_t at, const char *with)
{
	memset(text, 'a', ANSWER_COLLECTED);
	memcpy(text + at, with, strlen(with));
	return ANSWER_COLLECTED;
}

static void an_answer_is_cut_after_its_first_kilobyte(void **state)
{
	static const char secret[] = "token-0123456789";
	char text[ANSWER_COLLECTED];

	(void)state;
	for (size_t at = ANSWER_SHOWN - sizeof(secret) - 2; at < ANSWER_SHOWN; at++) {
		_cleanup_(freep) char *shown = answer_clean(text, long_answer(text, at, secret), secret);

		assert_null(strstr(shown, "token"));
		assert_non_null(strstr(shown, "***"));
		assert_true(strlen(shown) <= ANSWER_SHOWN + 3);
	}
	_cleanup_(freep) char *shown = answer_clean(text, long_answer(text, ANSWER_SHOWN, secret), secret);
	assert_int_equal(strlen(shown), ANSWER_SHOWN);
	assert_null(strchr(shown, 't'));
	_cleanup_(freep) char *whole = answer_clean(text, long_answer(text, ANSWER_SHOWN - 1, "\xe2\x82\xac"), NULL);
	assert_string_equal(whole + ANSWER_SHOWN - 1, "\xe2\x82\xac");
}

static void header_add(json_t *headers, const char *line)
{
	answer_header_add(headers, line, strlen(line));
}

static void headers_are_grouped_by_name(void **state)
{
	json_auto_t *headers = json_object();
	_cleanup_(freep) char *text = NULL;

	(void)state;
	header_add(headers, "HTTP/1.1 100 Continue\r\n");
	header_add(headers, "X-Interim: 1\r\n");
	header_add(headers, "HTTP/1.1 200 OK\r\n");
	header_add(headers, "Set-Cookie: a=1\r\n");
	header_add(headers, "set-cookie:b=2 \r\n");
	header_add(headers, "X-Bytes: \xff\r\n");
	header_add(headers, "\r\n");
	header_add(headers, ": nameless\r\n");
	text = json_text(headers);
	assert_string_equal(text, "{\"set-cookie\":[\"a=1\",\"b=2\"],\"x-bytes\":[\"?\"]}");
}

static void headers_have_a_limit(void **state)
{
	json_auto_t *headers = json_object();
	char line[MAX_HEADER + 8] = "x-long: ";

	(void)state;
	memset(line + 8, 'a', sizeof(line) - 8);
	answer_header_add(headers, line, sizeof(line));
	assert_int_equal(json_object_size(headers), 0);
	for (int i = 0; i < MAX_HEADERS * 2; i++) {
		_cleanup_(freep) char *one = mem_printf("x-%d: 1\r\n", i);

		header_add(headers, one);
		header_add(headers, "x-same: 1\r\n");
	}
	assert_int_equal(json_object_size(headers), MAX_HEADERS);
	assert_in_range(json_array_size(json_object_get(headers, "x-same")), 1, MAX_HEADERS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(control_characters_and_secrets_are_replaced),
		cmocka_unit_test(an_answer_is_cut_after_its_first_kilobyte),
		cmocka_unit_test(headers_are_grouped_by_name),
		cmocka_unit_test(headers_have_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
