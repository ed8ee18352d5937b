/* SPDX-License-Identifier: MPL-2.0 */
/* JSON values in blocks: created, kept, and freed by another thread. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "common/json/json.h"
#include "common/json/json_region.h"

/* More than fit into a block. */
enum { MANY = 20000 };

static json_t *made(int count)
{
	json_t *list = json_array();

	for (int i = 0; i < count; i++)
		json_array_append_new(list, json_pack("{s:i, s:s, s:[i,n]}", "number", i, "text", "a text", "list", i));
	return list;
}

static void check(const json_t *list, int count)
{
	assert_int_equal(json_array_size(list), count);
	for (int i = 0; i < count; i++) {
		const json_t *item = json_array_get(list, (size_t)i);

		assert_int_equal(json_int_at(item, "number", -1), i);
		assert_string_equal(json_string_at(item, "text"), "a text");
		assert_int_equal(json_integer_value(json_array_get(json_at(item, "list"), 0)), i);
	}
}

static void requests_follow_one_another(void **state)
{
	(void)state;
	for (int i = 0; i < 50; i++) {
		json_auto_t *list = made(i * 20);

		check(list, i * 20);
	}
}

static void more_than_a_block_holds(void **state)
{
	json_auto_t *list = made(MANY);

	(void)state;
	check(list, MANY);
}

static void what_stays_is_whole_while_others_come_and_go(void **state)
{
	json_t *kept[8];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
		json_auto_t *gone = made(MANY / 8);

		kept[i] = made(10);
		check(gone, MANY / 8);
	}
	for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
		check(kept[i], 10);
		json_decref(kept[i]);
	}
}

static void texts_of_any_length(void **state)
{
	(void)state;
	for (size_t len = 0; len < 5000; len += 7) {
		_cleanup_(freep) char *text = mem_new(len + 1, 1);
		json_auto_t *string = NULL;

		memset(text, 'x', len);
		string = json_string(text);
		assert_string_equal(json_string_value(string), text);
	}
}

static void *let_go(void *value)
{
	json_decref(value);
	return NULL;
}

static void another_thread_lets_go(void **state)
{
	json_t *lists[4];
	pthread_t threads[ARRAY_LEN(lists)];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		lists[i] = made(MANY / 4);
	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, let_go, lists[i]), 0);
	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		pthread_join(threads[i], NULL);
	requests_follow_one_another(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_follow_one_another),
		cmocka_unit_test(more_than_a_block_holds),
		cmocka_unit_test(what_stays_is_whole_while_others_come_and_go),
		cmocka_unit_test(texts_of_any_length),
		cmocka_unit_test(another_thread_lets_go),
	};

	json_regions_use();
	json_region_enter();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
