/* SPDX-License-Identifier: MPL-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include "scheduler/lifecycle/schedules/cron.h"

static void check_next(const char *text, const char *after, const char *wanted)
{
	struct err err = ERR_INIT;
	struct cron_time time, next;
	struct cron cron;
	char said[CRON_TIME_SIZE];

	assert_int_equal(cron_parse(text, &cron, &err), 0);
	assert_true(cron_time_read(after, &time));
	next = cron_next(&cron, &time);
	cron_time_write(&next, said);
	assert_string_equal(said, wanted);
}

static void fields_have_lists_ranges_steps_and_names(void **state)
{
	(void)state;
	check_next("0 3 * * *", "2026-11-28 16:30", "2026-11-29 03:00");
	check_next("0 3 * * *", "2026-11-28 02:59", "2026-11-28 03:00");
	check_next("0 3 * * *", "2026-11-28 03:00", "2026-11-29 03:00");
	check_next("*/15 * * * *", "2026-11-28 23:46", "2026-11-29 00:00");
	check_next("5,35 8-18/2 * * *", "2026-11-28 10:35", "2026-11-28 12:05");
	check_next(" 0\t22  * * MON-fri ", "2026-11-27 22:00", "2026-11-30 22:00");
	check_next("0 0 1 jan,Jul *", "2026-11-28 00:00", "2027-01-01 00:00");
	check_next("59 23 31 12 *", "2026-12-31 23:59", "2027-12-31 23:59");
	check_next("10-20/5 0 * * *", "2026-11-28 00:15", "2026-11-28 00:20");
}

static void sunday_is_0_and_7(void **state)
{
	(void)state;
	check_next("0 0 * * 0", "2026-11-28 12:00", "2026-11-29 00:00");
	check_next("0 0 * * 7", "2026-11-28 12:00", "2026-11-29 00:00");
	check_next("0 0 * * 6-7", "2026-11-27 12:00", "2026-11-28 00:00");
	check_next("0 0 * * sat", "2026-11-28 12:00", "2026-12-05 00:00");
}

/* cron(5): if both fields are restricted, a day matches either. A field that begins with * is not. */
static void both_fields_of_days_mean_either(void **state)
{
	(void)state;
	check_next("0 0 15 * mon", "2026-11-28 00:00", "2026-11-30 00:00");
	check_next("0 0 15 * mon", "2026-12-14 00:00", "2026-12-15 00:00");
	check_next("0 0 15 * *", "2026-11-30 00:00", "2026-12-15 00:00");
	check_next("0 0 */2 * mon", "2026-11-28 00:00", "2026-12-07 00:00");
	check_next("0 0 30 2 fri", "2026-03-01 00:00", "2027-02-05 00:00");
}

static void leap_days_come_again(void **state)
{
	(void)state;
	check_next("0 12 29 2 *", "2026-11-28 00:00", "2028-02-29 12:00");
	check_next("0 12 29 2 *", "2096-02-29 12:00", "2104-02-29 12:00");
	check_next("0 0 29 2 */7", "2028-03-01 00:00", "2032-02-29 00:00");
	check_next("0 0 29 2 */7", "2088-03-01 00:00", "2128-02-29 00:00");
	check_next("0 0 31 * *", "2026-03-31 00:00", "2026-05-31 00:00");
	check_next("0 0 28-31 2 *", "2027-02-28 00:00", "2028-02-28 00:00");
}

static void invalid_expressions_are_refused(void **state)
{
	static const char *const texts[] = {"", "* * * *", "0 0 * * * *", "60 * * * *", "0 24 * * *", "0 0 0 * *",
		"0 0 32 * *", "0 0 * 13 *", "0 0 * * 8", "0 0 30 2 *", "0 0 31 4,6,9,11 *", "5/10 * * * *",
		"5-1 * * * *", "*/0 * * * *", "*/99 * * * *", "1,,2 * * * *", "1, * * * *", "-1 * * * *", "0 0 * foo *",
		"0 0 * mon *", "@daily", "* * * * *", "*/4 * * * *", "0-12 * * * *", "1 -2 * * *", "0 0 1- * *",
		"0x1 0 * * *", "+1 0 * * *"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct err err = ERR_INIT;
		struct cron cron;

		if (cron_parse(texts[i], &cron, &err) == 0)
			fail_msg("accepted: %s", texts[i]);
		assert_int_equal(err.kind, ERR_INVALID);
		assert_true(strncmp(err.message, "Cron ", 5) == 0);
	}
}

static void long_expressions_are_refused(void **state)
{
	char text[1024];
	struct err err = ERR_INIT;
	struct cron cron;

	(void)state;
	memset(text, '1', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(cron_parse(text, &cron, &err), -1);
}

static void times_have_one_form(void **state)
{
	static const char *const wrong[] = {"", "2026-11-28", "2026-11-28 24:00", "2026-02-29 00:00",
		"2026-13-01 00:00", "2026-11-28 00:60", "2026-11-28 00:00:00", "2026-00-01 00:00"};
	struct cron_time time;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
		assert_false(cron_time_read(wrong[i], &time));
	assert_true(cron_time_read("2028-02-29 23:59", &time));
	assert_int_equal(time.day, 29);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_have_lists_ranges_steps_and_names),
		cmocka_unit_test(sunday_is_0_and_7),
		cmocka_unit_test(both_fields_of_days_mean_either),
		cmocka_unit_test(leap_days_come_again),
		cmocka_unit_test(invalid_expressions_are_refused),
		cmocka_unit_test(long_expressions_are_refused),
		cmocka_unit_test(times_have_one_form),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
