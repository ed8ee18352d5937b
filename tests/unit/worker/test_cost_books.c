/* SPDX-License-Identifier: MPL-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include "common/err.h"
#include "worker/cost/book.h"
#include "worker/cost/exact.h"

#define HEAD                                                                                                           \
	"\"price-book\": 1, \"name\": \"Ours\", \"currency\": \"USD\", \"source\": \"contract\", \"date\": "           \
	"\"2024-06\""
#define BOOK(...) "{" HEAD ", \"resources\": {\"a_thing\": {" __VA_ARGS__ "}}}"

static int add(struct books *books, const char *text, struct err *err)
{
	return books_add(books, "test.json", text, strlen(text), err);
}

static void test_the_embedded_books_are_valid(void **state)
{
	struct books books = {.books = NULL};

	(void)state;
	assert_int_equal(embedded_books_count, 3);
	for (size_t i = 0; i < embedded_books_count; i++) {
		struct err err = ERR_INIT;

		if (books_add(&books, embedded_books[i].file, embedded_books[i].text, strlen(embedded_books[i].text),
			    &err) < 0)
			fail_msg("%s", err.message);
	}
	assert_string_equal(books.currency, "USD");
	assert_int_equal(books.count, 3);
	books_release(&books);
}

static void test_an_invalid_book_is_refused_with_the_path_of_its_error(void **state)
{
	static const struct {
		const char *book, *reason;
	} cases[] = {
		{"[]", "must be an object"},
		{"{\"price-book\": 2}", "name is missing"},
		{"{nothing", "it is not JSON"},
		{"{\"price-book\": 2, \"name\": \"x\", \"currency\": \"USD\", \"resources\": {}}",
			"price-book: must be 1"},
		{"{\"price-book\": 1, \"name\": \"x\", \"currency\": \"dollars\", \"resources\": {}}", "currency: "},
		{"{" HEAD ", \"resources\": {}, \"more\": 1}", "more is not known here"},
		{BOOK("\"components\": []"), "resources: a_thing: components: must be a list"},
		{BOOK("\"components\": [{\"name\": \"x\", \"unit\": \"day\", \"price\": 1}]"),
			"components: 0: unit: must be one of hour, month, GB-month"},
		{BOOK("\"components\": [{\"name\": \"x\", \"unit\": \"hour\", \"price\": \"cheap\"}]"),
			"price: must be a number"},
		{BOOK("\"components\": [{\"name\": \"x\", \"unit\": \"hour\", \"price\": -1}]"),
			"price: must be a number"},
		{BOOK("\"components\": [{\"name\": \"x\", \"unit\": \"hour\"}]"),
			"must have one of price, prices and table"},
		{BOOK("\"components\": [{\"name\": \"x\", \"unit\": \"hour\", \"table\": \"t\"}]"),
			"table: names no table of this book"},
		{BOOK("\"components\": [{\"name\": \"x\", \"unit\": \"hour\", \"by\": [\"size\"], \"prices\": {}}]"),
			"by: size is not among the attributes"},
		{BOOK("\"attributes\": {\"size\": {\"from\": [\"size\"]}}, \"components\": [{\"name\": \"x\", "
		      "\"unit\": "
		      "\"hour\", \"by\": [\"size\"], \"prices\": {\"s\": {\"t\": 1}}}]"),
			"prices: s: must be a number"},
		{BOOK("\"components\": [{\"name\": \"x\", \"unit\": \"hour\", \"price\": 1, \"quantity\": \"size\"}]"),
			"quantity: size is not among the attributes"},
		{BOOK("\"components\": [{\"name\": \"x\", \"unit\": \"hour\", \"price\": 1, \"date\": \"lately\"}]"),
			"date: must be a date"},
		{"{\"price-book\": 1, \"name\": \"x\", \"currency\": \"USD\", \"resources\": {\"a\": {\"components\": "
		 "[{\"name\": \"x\", \"unit\": \"hour\", \"price\": 1}]}}}",
			"must have a source and a date"},
	};
	struct books books = {.books = NULL};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct err err = ERR_INIT;

		assert_int_equal(add(&books, cases[i].book, &err), -1);
		if (!strstr(err.message, cases[i].reason) || !text_starts(err.message, "test.json: "))
			fail_msg("\"%s\" does not say \"%s\"", err.message, cases[i].reason);
	}
	assert_int_equal(books.count, 0);
	books_release(&books);
}

static void test_a_book_with_another_currency_replaces_the_others(void **state)
{
	static const char euros[] =
		"{\"price-book\": 1, \"name\": \"Euros\", \"currency\": \"EUR\", \"resources\": {}}";
	struct books books = {.books = NULL};
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(
		add(&books, BOOK("\"components\": [{\"name\": \"x\", \"unit\": \"hour\", \"price\": 1}]"), &err), 0);
	assert_int_equal(add(&books, euros, &err), 0);
	assert_int_equal(books.count, 1);
	assert_string_equal(books.currency, "EUR");
	books_release(&books);
}

static void test_numbers_are_parsed_without_rounding(void **state)
{
	static const char text[] =
		"{\"a\": 0.1000000000000000055511151231257827, \"b\": [-1, 2e3], \"c\": \"-1 \\\" 2\", "
		"\"d\": 123456789012345678901234567890, \"e\": true}";
	json_auto_t *value = NULL;
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(exact_parse(text, strlen(text), &value, &err), 0);
	assert_string_equal(json_string_at(value, "a"), "0.1000000000000000055511151231257827");
	assert_string_equal(json_string_value(json_array_get(json_at(value, "b"), 0)), "-1");
	assert_string_equal(json_string_value(json_array_get(json_at(value, "b"), 1)), "2e3");
	assert_string_equal(json_string_at(value, "c"), "-1 \" 2");
	assert_string_equal(json_string_at(value, "d"), "123456789012345678901234567890");
	assert_true(json_is_true(json_at(value, "e")));
}

static void test_invalid_json_is_refused(void **state)
{
	static const char *const texts[] = {"", "{", "\"open", "[1,]", "{\"a\": 1 2}", "\"\\", "nul"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		json_t *value = NULL;
		struct err err = ERR_INIT;

		assert_int_equal(exact_parse(texts[i], strlen(texts[i]), &value, &err), -1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_embedded_books_are_valid),
		cmocka_unit_test(test_an_invalid_book_is_refused_with_the_path_of_its_error),
		cmocka_unit_test(test_a_book_with_another_currency_replaces_the_others),
		cmocka_unit_test(test_numbers_are_parsed_without_rounding),
		cmocka_unit_test(test_invalid_json_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
