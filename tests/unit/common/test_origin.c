/* SPDX-License-Identifier: MPL-2.0 */
/* Clients distinguish the answers of the scheduler from those of proxies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "common/http/origin.h"

static void only_the_first_id_is_accepted(void **state)
{
	struct origin origin = {.accepted = 0};

	(void)state;
	assert_false(origin_accepts(&origin, NULL));
	assert_true(origin_accepts(&origin, "inst-1"));
	assert_true(origin_accepts(&origin, "inst-1"));
	assert_false(origin_accepts(&origin, "inst-2"));
	assert_false(origin_accepts(&origin, "inst-"));
	assert_false(origin_accepts(&origin, ""));
	assert_false(origin_accepts(&origin, NULL));
	assert_false(origin_accepts_first(&origin, 200, NULL));
	assert_int_equal(origin.accepted, 2);
}

static void invalid_ids_are_not_accepted(void **state)
{
	static const char *const ids[] = {"", " ", "a b", "<html>", "a\r\nb", "\xff"};
	struct origin origin = {.accepted = 0};
	char long_id[ORIGIN_ID_SIZE + 1] = "";

	(void)state;
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		assert_false(origin_accepts(&origin, ids[i]));
	memset(long_id, 'a', ORIGIN_ID_SIZE);
	assert_false(origin_accepts(&origin, long_id));
	long_id[ORIGIN_ID_SIZE - 1] = '\0';
	assert_true(origin_accepts(&origin, long_id));
}

static void a_scheduler_without_an_id_is_accepted_once_recognized(void **state)
{
	struct origin origin = {.accepted = 0};

	(void)state;
	assert_false(origin_accepts_first(&origin, 401, NULL));
	assert_false(origin_accepts_first(&origin, 302, NULL));
	assert_true(origin_accepts_first(&origin, 200, NULL));
	assert_false(origin_accepts(&origin, NULL));
	origin_recognize(&origin, "http://s");
	assert_true(origin_accepts(&origin, NULL));
	/* The scheduler is upgraded. */
	assert_true(origin_accepts(&origin, "inst-1"));
	assert_false(origin_accepts(&origin, NULL));
	assert_false(origin_accepts_first(&origin, 200, NULL));
	origin_recognize(&origin, "http://s");
	assert_false(origin_accepts(&origin, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_the_first_id_is_accepted),
		cmocka_unit_test(invalid_ids_are_not_accepted),
		cmocka_unit_test(a_scheduler_without_an_id_is_accepted_once_recognized),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
