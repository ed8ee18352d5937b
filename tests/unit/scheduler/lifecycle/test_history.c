/* SPDX-License-Identifier: MPL-2.0 */
/* Changes of the database's history that may have lost commits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "scheduler/lifecycle/history.h"

static void a_new_timeline_may_lack_commits_unless_synchronous(void **state)
{
	(void)state;
	assert_int_equal(history_compare(NULL, "7/00000001", false), HISTORY_FIRST);
	assert_int_equal(history_compare("7/00000001", "7/00000001", false), HISTORY_SAME);
	assert_int_equal(history_compare("7/00000001", "7/00000002", false), HISTORY_MAY_LACK);
	assert_int_equal(history_compare("7/00000001", "7/00000002", true), HISTORY_CONTINUED);
	assert_int_equal(history_compare("7/00000009", "7/0000000A", true), HISTORY_CONTINUED);
}

/* A copy restored from a dump, or an abandoned primary that is back. */
static void another_system_or_an_older_timeline_may_lack_commits(void **state)
{
	(void)state;
	assert_int_equal(history_compare("7/00000001", "71/00000002", true), HISTORY_MAY_LACK);
	assert_int_equal(history_compare("71/00000001", "7/00000002", true), HISTORY_MAY_LACK);
	assert_int_equal(history_compare("7/00000002", "7/00000001", true), HISTORY_MAY_LACK);
	assert_int_equal(history_compare("7/00000002", "", true), HISTORY_MAY_LACK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_new_timeline_may_lack_commits_unless_synchronous),
		cmocka_unit_test(another_system_or_an_older_timeline_may_lack_commits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
