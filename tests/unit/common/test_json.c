/* SPDX-License-Identifier: MPL-2.0 */
/* The output must equal jansson's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "common/json/json.h"

static void check_same(const json_t *value)
{
	_cleanup_(freep) char *theirs = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
	_cleanup_(freep) char *ours = NULL;
	size_t len;

	ours = json_text_len(value, &len);
	assert_string_equal(ours, theirs);
	assert_int_equal(len, strlen(theirs));
}

static void values_are_encoded_as_by_jansson(void **state)
{
	static const char *const texts[] = {"{}", "[]", "null", "true", "false", "0", "-1", "9223372036854775807",
		"-9223372036854775808", "0.1", "-1e300", "3.0", "1e-7", "\"\"", "\"plain\"",
		"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f\\u007f\"", "\"\\u00e9\\u20ac\\ud83d\\ude00\"",
		"\"at the end\\n\"", "\"\\nat the start\"",
		"[1,[2,[3,{\"deep\":[{}]}]],\"x\",null,true,{\"a\":[],\"b\":{}}]",
		"{\"a\":1,\"b\":{\"c\":[1,2,{\"d\":null}]},\"\\u0002 \\\"key\\\"\":\"value\"}"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		json_auto_t *value = json_loads(texts[i], JSON_DECODE_ANY, NULL);

		assert_non_null(value);
		check_same(value);
	}
}

static void every_character_is_encoded_as_by_jansson(void **state)
{
	json_auto_t *list = json_array();

	(void)state;
	for (int c = 0; c < 256; c++)
		for (size_t at = 0; at < 18; at++) {
			char text[] = "seventeen letters.";
			json_t *string;

			text[at] = (char)c;
			string = json_stringn(text, sizeof(text) - 1);
			if (string)
				json_array_append_new(list, string);
		}
	assert_int_equal(json_array_size(list), 128 * 18);
	check_same(list);
}

static void a_long_text_is_encoded_completely(void **state)
{
	_cleanup_(freep) char *text = mem_new(100001, 1);
	json_auto_t *string = NULL;

	(void)state;
	memset(text, '\n', 100000);
	string = json_string(text);
	check_same(string);
}

static void a_null_pointer_is_encoded_as_null(void **state)
{
	_cleanup_(freep) char *text = json_text(NULL);

	(void)state;
	assert_string_equal(text, "null");
}

static void an_encoded_value_is_parsed_again(void **state)
{
	static const char *const texts[] = {"[]", "{}", "null", "true", "false", "\"a\"", "[\"re-1\"]", "{\"a\":[]}"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		json_auto_t *value = json_of(texts[i]);
		_cleanup_(freep) char *text = json_text(value);

		assert_string_equal(text, texts[i]);
	}
	assert_true(json_is_null(json_of("no JSON")));
	assert_true(json_is_null(json_of("")));
}

static void whole_numbers_have_limits(void **state)
{
	static const struct {
		const char *text;
		long long number; /* 7: it is none */
	} cases[] = {{"[0]", 0}, {"[-100]", -100}, {"[100]", 100}, {"[1e2]", 100}, {"[1.9]", 1}, {"[-101]", 7},
		{"[101]", 7}, {"[100.1]", 7}, {"[1e300]", 7}, {"[-1e300]", 7}, {"[\"1\"]", 7}, {"[null]", 7},
		{"[]", 7}};
	long long most = 0;
	json_auto_t *value = json_integer(JSON_WHOLE_MAX);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		json_auto_t *list = json_of(cases[i].text);
		long long number = 7;

		assert_int_equal(
			json_whole(json_array_get(list, 0), -100, 100, &number), cases[i].number == 7 ? -1 : 0);
		assert_int_equal(number, cases[i].number);
	}
	assert_int_equal(json_whole(value, 0, JSON_WHOLE_MAX, &most), 0);
	assert_int_equal(most, JSON_WHOLE_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_encoded_as_by_jansson),
		cmocka_unit_test(every_character_is_encoded_as_by_jansson),
		cmocka_unit_test(a_long_text_is_encoded_completely),
		cmocka_unit_test(a_null_pointer_is_encoded_as_null),
		cmocka_unit_test(an_encoded_value_is_parsed_again),
		cmocka_unit_test(whole_numbers_have_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
