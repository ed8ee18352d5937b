/* SPDX-License-Identifier: MPL-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include "scheduler/lifecycle/run.h"

/* A confirmed run waits while no maintenance window is open. */

static struct verdict step(struct run *run, enum run_event_kind kind, bool closed)
{
	const struct run_event event = {.kind = kind, .has_changes = true, .window_closed = closed};
	struct verdict v = run_step(run, &event);

	if (!v.refused) {
		assert_null(run_check(&v.run));
		*run = v.run;
	}
	return v;
}

/* A run whose plan has ended with changes. */
static struct run run_planned(bool auto_apply, bool closed)
{
	struct run run = run_created(STAGE_BIT(STAGE_PRE_APPLY));

	run.auto_apply = auto_apply;
	assert_null(step(&run, EV_TURN, closed).refused);
	assert_null(step(&run, EV_STARTED, closed).refused);
	assert_null(step(&run, EV_PASSED, closed).refused);
	return run;
}

static void a_confirmed_run_waits_and_goes_on_when_the_window_opens(void **state)
{
	struct run run = run_planned(false, true);
	struct verdict v;

	(void)state;
	assert_int_equal(run_situation(&run), AT_DECISION);
	v = step(&run, EV_CONFIRMED, true);
	assert_null(v.refused);
	assert_false(v.starts);
	assert_int_equal(run.status, RUN_CONFIRMED);
	assert_int_equal(run_situation(&run), AT_WINDOW);
	assert_true(run_holds(&run));
	assert_non_null(step(&run, EV_OPENED, true).refused);
	assert_non_null(step(&run, EV_CONFIRMED, false).refused);
	v = step(&run, EV_OPENED, false);
	assert_true(v.starts);
	assert_int_equal(run.stage, STAGE_PRE_APPLY);
	assert_non_null(step(&run, EV_OPENED, false).refused);
	/* The window may close meanwhile. */
	assert_null(step(&run, EV_PASSED, true).refused);
	assert_int_equal(run.status, RUN_APPLY_QUEUED);
}

static void an_automatic_apply_waits_too(void **state)
{
	struct run run = run_planned(true, true);

	(void)state;
	assert_int_equal(run_situation(&run), AT_WINDOW);
	run = run_planned(true, false);
	assert_int_equal(run.stage, STAGE_PRE_APPLY);
}

static void a_saved_plan_waits_after_its_turn(void **state)
{
	struct run run = run_created(0);

	(void)state;
	run.save_plan = true;
	step(&run, EV_TURN, true);
	step(&run, EV_STARTED, true);
	step(&run, EV_PASSED, true);
	assert_int_equal(run_situation(&run), AT_SAVED);
	step(&run, EV_CONFIRMED, true);
	assert_int_equal(run_situation(&run), AT_QUEUED);
	step(&run, EV_TURN, true);
	assert_int_equal(run_situation(&run), AT_WINDOW);
	step(&run, EV_OPENED, false);
	assert_int_equal(run.status, RUN_APPLY_QUEUED);
}

static void a_run_that_waits_is_discarded_and_canceled(void **state)
{
	static const struct {
		enum run_event_kind event;
		enum run_status status;
	} cases[] = {{EV_DISCARDED, RUN_DISCARDED}, {EV_CANCELED, RUN_CANCELED}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct run run = run_planned(true, true);
		struct verdict v = step(&run, cases[i].event, true);

		assert_null(v.refused);
		assert_int_equal(run.status, cases[i].status);
		assert_false(v.ends_job);
	}
}

static void a_plan_without_changes_needs_no_window(void **state)
{
	struct run run = run_created(0);
	const struct run_event passed = {.kind = EV_PASSED, .window_closed = true};

	(void)state;
	run.auto_apply = true;
	step(&run, EV_TURN, true);
	step(&run, EV_STARTED, true);
	assert_int_equal(run_step(&run, &passed).run.status, RUN_PLANNED_AND_FINISHED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_confirmed_run_waits_and_goes_on_when_the_window_opens),
		cmocka_unit_test(an_automatic_apply_waits_too),
		cmocka_unit_test(a_saved_plan_waits_after_its_turn),
		cmocka_unit_test(a_run_that_waits_is_discarded_and_canceled),
		cmocka_unit_test(a_plan_without_changes_needs_no_window),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
