/* SPDX-License-Identifier: MPL-2.0 */
/* Steps of PostgreSQL's clock, as a scheduler detects them with its own clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "scheduler/lifecycle/clock_step.h"

enum { TOLERANCE = 500, HOUR = 3600000 };

static struct clock_reading reading(int64_t sent_ms, int64_t took_ms, int64_t answer_ms)
{
	return (struct clock_reading){sent_ms, sent_ms + took_ms, answer_ms};
}

/* A reading one second later, with the other clock off by `off` ms. */
static int64_t step_of(int64_t off, int64_t took_ms)
{
	const struct clock_reading before = reading(1000, took_ms, 5 * HOUR),
				   now = reading(2000, took_ms, 5 * HOUR + 1000 + off);

	return clock_step_ms(&before, &now, TOLERANCE);
}

static void steps_in_both_directions_are_detected(void **state)
{
	(void)state;
	assert_int_equal(step_of(HOUR, 0), HOUR);
	assert_int_equal(step_of(-HOUR, 0), -HOUR);
	assert_int_equal(step_of(TOLERANCE + 1, 0), TOLERANCE + 1);
	assert_int_equal(step_of(-TOLERANCE - 1, 0), -TOLERANCE - 1);
}

static void differences_within_the_tolerance_are_ignored(void **state)
{
	(void)state;
	assert_int_equal(step_of(0, 0), 0);
	assert_int_equal(step_of(TOLERANCE, 0), 0);
	assert_int_equal(step_of(-TOLERANCE, 0), 0);
	assert_int_equal(clock_tolerance_ms(60), 7500);
	assert_int_equal(clock_tolerance_ms(2), 250);
}

/* The difference may come from the duration of the readings. */
static void slow_readings_extend_the_tolerance(void **state)
{
	(void)state;
	assert_int_equal(step_of(TOLERANCE + 200, 200), 0);
	assert_int_equal(step_of(-TOLERANCE - 200, 200), 0);
	assert_true(step_of(TOLERANCE + 201, 200) > 0);
	assert_true(step_of(-TOLERANCE - 201, 200) < 0);
}

static void readings_within_the_tolerance_are_exact(void **state)
{
	const struct clock_reading quick = reading(1, TOLERANCE, 7), slow = reading(1, TOLERANCE + 1, 7);

	(void)state;
	assert_true(clock_reading_is_exact(&quick, TOLERANCE));
	assert_false(clock_reading_is_exact(&slow, TOLERANCE));
}

/* For a scheduler that was stopped for an hour, both clocks advanced by an hour. */
static void a_pause_of_the_scheduler_is_no_step(void **state)
{
	const struct clock_reading before = reading(1000, 1, 9000), now = reading(1000 + HOUR, 1, 9000 + HOUR);

	(void)state;
	assert_int_equal(clock_step_ms(&before, &now, TOLERANCE), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steps_in_both_directions_are_detected),
		cmocka_unit_test(differences_within_the_tolerance_are_ignored),
		cmocka_unit_test(slow_readings_extend_the_tolerance),
		cmocka_unit_test(readings_within_the_tolerance_are_exact),
		cmocka_unit_test(a_pause_of_the_scheduler_is_no_step),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
