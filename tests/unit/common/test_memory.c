/* SPDX-License-Identifier: MPL-2.0 */
/* The memory of documents is estimated before they are parsed, and bounded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/json/json.h"
#include "common/memory.h"

enum { BOUND = 64 << 20 };

/* `begin`, then `item` between commas until there are `len` bytes, then `end`. */
static struct buf document_of(const char *begin, const char *item, const char *end, size_t len)
{
	struct buf text = BUF_INIT(SIZE_MAX / 2);

	buf_text(&text, begin);
	while (text.len < len) {
		buf_text(&text, item);
		buf_text(&text, ",");
	}
	buf_text(&text, item);
	buf_text(&text, end);
	return text;
}

static size_t allocated;

static void *measured_memory(size_t size)
{
	void *memory = mem_resize(NULL, size, 1);

	allocated += malloc_usable_size(memory);
	return memory;
}

static void measured_free(void *memory)
{
	allocated -= malloc_usable_size(memory);
	free(memory);
}

static void an_estimate_is_hardly_less_than_what_a_document_takes(void **state)
{
	static const char *const items[] = {"{}", "[]", "0", "\"\"", "null", "{\"\":0}", "{\"a\":{\"b\":[1]}}", "1.5",
		"\"a longer text with \\\"quotes\\\", [brackets] and {braces}\"", "[[[[]]]]",
		"{\"address\":\"aws_instance.web\",\"tags\":{},\"ports\":[80,443],\"on\":true}"};

	(void)state;
	json_set_alloc_funcs(measured_memory, measured_free);
	for (size_t i = 0; i < ARRAY_LEN(items); i++) {
		_cleanup_(buf_release) struct buf text = document_of("[", items[i], "]", 1 << 18);
		size_t estimate = json_memory_of(buf_str(&text), text.len), before = allocated;
		json_t *value = json_loadb(buf_str(&text), text.len, 0, NULL);

		assert_non_null(value);
		assert_in_range(allocated - before, estimate / 6, estimate);
		assert_true(estimate <= text.len * JSON_MEMORY_MOST);
		json_decref(value);
		assert_int_equal(allocated, before);
	}
}

static void check_load(const struct buf *text, struct json_document *ret_document, enum err_kind expected)
{
	struct err err = ERR_INIT;

	*ret_document = JSON_NO_DOCUMENT;
	assert_int_equal(
		json_document_load(ret_document, buf_str(text), text->len, 0, &err), expected == ERR_NONE ? 0 : -1);
	assert_int_equal(err.kind, expected);
	assert_int_equal(ret_document->value != NULL, expected == ERR_NONE);
}

static void large_documents_share_the_bound(void **state)
{
	_cleanup_(buf_release) struct buf large = document_of("[", "{}", "]", 450 << 10);
	_cleanup_(buf_release) struct buf too_large = document_of("[", "{}", "]", 800 << 10);
	_cleanup_(buf_release) struct buf wrong = document_of("[", "{}", "}", 450 << 10);
	_cleanup_(buf_release) struct buf small = document_of("[", "{}", "]", 300 << 10);
	struct json_document first, second, third;

	(void)state;
	check_load(&too_large, &first, ERR_NONE); /* without a bound */
	json_document_release(&first);
	memory_bound(BOUND);
	check_load(&too_large, &first, ERR_TOO_LARGE);
	check_load(&wrong, &first, ERR_MALFORMED);
	check_load(&large, &first, ERR_NONE);
	check_load(&large, &second, ERR_UNAVAILABLE);
	check_load(&small, &second, ERR_NONE);
	check_load(&small, &third, ERR_NONE);
	json_document_release(&first);
	check_load(&large, &first, ERR_NONE);
	json_document_release(&first);
	json_document_release(&second);
	json_document_release(&third);
}

static void taken_memory_counts_like_documents(void **state)
{
	_cleanup_(buf_release) struct buf large = document_of("[", "{}", "]", 450 << 10);
	struct json_document document;
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(memory_take(BOUND / 2, &err), 0);
	check_load(&large, &document, ERR_UNAVAILABLE);
	memory_return(BOUND / 2);
	check_load(&large, &document, ERR_NONE);
	assert_int_equal(memory_take(BOUND / 2, &err), -1);
	assert_int_equal(err.kind, ERR_UNAVAILABLE);
	json_document_release(&document);
	assert_int_equal(memory_take(BOUND + 1, &err), -1);
	assert_int_equal(err.kind, ERR_TOO_LARGE);
}

static atomic_bool ended;

static void *take_too_much(void *data)
{
	struct err err = ERR_INIT;

	(void)data;
	while (!ended)
		assert_int_equal(memory_take(BOUND, &err), -1);
	return NULL;
}

static void what_fits_is_not_refused_because_of_what_does_not_fit(void **state)
{
	struct err err = ERR_INIT;
	pthread_t other;

	(void)state;
	assert_int_equal(memory_take(1, &err), 0);
	assert_int_equal(pthread_create(&other, NULL, take_too_much, NULL), 0);
	for (int i = 0; i < 200000; i++) {
		assert_int_equal(memory_take(1, &err), 0);
		memory_return(1);
	}
	ended = true;
	pthread_join(other, NULL);
	memory_return(1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_estimate_is_hardly_less_than_what_a_document_takes),
		cmocka_unit_test(large_documents_share_the_bound),
		cmocka_unit_test(taken_memory_counts_like_documents),
		cmocka_unit_test(what_fits_is_not_refused_because_of_what_does_not_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
