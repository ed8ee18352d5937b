/* SPDX-License-Identifier: MPL-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
/* cmocka wants the headers above first */
#include <cmocka.h>

#include "scheduler/lifecycle/triggers.h"
#include "scheduler/lifecycle/walk.h"

static struct verdict step(struct run *run, enum run_event_kind kind, bool has_changes)
{
	const struct run_event event = {.kind = kind, .has_changes = has_changes};
	struct verdict verdict = run_step(run, &event);

	assert_null(verdict.refused);
	*run = verdict.run;
	return verdict;
}

/* The event must cause that trigger; TRIGGER_COUNT: none. */
static void sets_off(struct run *run, enum run_event_kind kind, bool has_changes, enum trigger wanted)
{
	struct verdict verdict = step(run, kind, has_changes);

	assert_int_equal(trigger_of(&verdict), wanted);
}

static void a_run_that_somebody_confirms(void **state)
{
	struct run run = run_created(0);

	(void)state;
	sets_off(&run, EV_TURN, false, TRIGGER_COUNT);
	sets_off(&run, EV_STARTED, false, TRIGGER_PLANNING);
	sets_off(&run, EV_PASSED, true, TRIGGER_NEEDS_ATTENTION);
	sets_off(&run, EV_CONFIRMED, false, TRIGGER_COUNT);
	sets_off(&run, EV_STARTED, false, TRIGGER_APPLYING);
	sets_off(&run, EV_PASSED, false, TRIGGER_COMPLETED);
}

static void a_run_that_goes_on_by_itself(void **state)
{
	struct run run = run_created(0);

	(void)state;
	run.auto_apply = true;
	sets_off(&run, EV_TURN, false, TRIGGER_COUNT);
	sets_off(&run, EV_STARTED, false, TRIGGER_PLANNING);
	sets_off(&run, EV_PASSED, true, TRIGGER_COUNT);
	sets_off(&run, EV_STARTED, false, TRIGGER_APPLYING);
	sets_off(&run, EV_ERRORED, false, TRIGGER_ERRORED);
}

static void a_run_with_nothing_to_do_and_a_saved_one(void **state)
{
	struct run run = run_created(0), saved = run_created(0);

	(void)state;
	step(&run, EV_TURN, false);
	step(&run, EV_STARTED, false);
	sets_off(&run, EV_PASSED, false, TRIGGER_COMPLETED);
	saved.save_plan = true;
	step(&saved, EV_TURN, false);
	step(&saved, EV_STARTED, false);
	sets_off(&saved, EV_PASSED, true, TRIGGER_NEEDS_ATTENTION);
	sets_off(&saved, EV_DISCARDED, false, TRIGGER_ERRORED);
}

static void a_policy_that_failed(void **state)
{
	struct run run = run_created(STAGE_BIT(STAGE_OPA));

	(void)state;
	step(&run, EV_TURN, false);
	step(&run, EV_STARTED, false);
	sets_off(&run, EV_PASSED, true, TRIGGER_COUNT);
	sets_off(&run, EV_STARTED, false, TRIGGER_COUNT);
	sets_off(&run, EV_FAILED, false, TRIGGER_NEEDS_ATTENTION);
	sets_off(&run, EV_OVERRIDDEN, false, TRIGGER_NEEDS_ATTENTION);
}

static void a_speculative_run_tells_nobody(void **state)
{
	struct run run = run_created(0);

	(void)state;
	run.plan_only = true;
	sets_off(&run, EV_TURN, false, TRIGGER_COUNT);
	sets_off(&run, EV_STARTED, false, TRIGGER_COUNT);
	sets_off(&run, EV_PASSED, true, TRIGGER_COUNT);
}

/* Over all sequences of events, an end triggers once, and a refused event never. */
static void walked(void *data, const struct run *from, const struct run_event *event, const struct verdict *verdict)
{
	enum trigger trigger = trigger_of(verdict);

	(void)data;
	(void)event;
	if (verdict->refused || verdict->run.plan_only)
		assert_int_equal(trigger, TRIGGER_COUNT);
	else if (run_ended(&verdict->run) && !run_ended(from))
		assert_true(trigger == TRIGGER_COMPLETED || trigger == TRIGGER_ERRORED);
	else
		assert_true(trigger != TRIGGER_COMPLETED && trigger != TRIGGER_ERRORED);
}

static void every_end_is_told(void **state)
{
	struct run run = run_created(STAGE_BIT(STAGE_OPA) | STAGE_BIT(STAGE_PRE_APPLY) | STAGE_BIT(STAGE_POST_APPLY));

	(void)state;
	assert_true(lifecycle_walk(&run, walked, NULL) > 10);
}

static void words(void **state)
{
	static const struct {
		enum trigger trigger;
		enum run_status status;
		const char *message;
	} cases[] = {
		{TRIGGER_CREATED, RUN_PENDING, "Run Created"},
		{TRIGGER_PLANNING, RUN_PLANNING, "Run Planning"},
		{TRIGGER_NEEDS_ATTENTION, RUN_PLANNED, "Run Planned - Needs Confirmation"},
		{TRIGGER_NEEDS_ATTENTION, RUN_COST_ESTIMATED, "Run Cost Estimated - Needs Confirmation"},
		{TRIGGER_NEEDS_ATTENTION, RUN_POLICY_OVERRIDE, "Run Policy Override - Needs Attention"},
		{TRIGGER_COMPLETED, RUN_PLANNED_AND_FINISHED, "Run Planned and Finished"},
		{TRIGGER_ERRORED, RUN_FORCE_CANCELED, "Run Force Canceled"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_cleanup_(freep) char *message = trigger_message(cases[i].trigger, cases[i].status);

		assert_string_equal(message, cases[i].message);
	}
	assert_int_equal(trigger_parse("run:needs_attention"), TRIGGER_NEEDS_ATTENTION);
	assert_int_equal(trigger_parse("the beacons of gondor are lit"), TRIGGER_COUNT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_run_that_somebody_confirms),
		cmocka_unit_test(a_run_that_goes_on_by_itself),
		cmocka_unit_test(a_run_with_nothing_to_do_and_a_saved_one),
		cmocka_unit_test(a_policy_that_failed),
		cmocka_unit_test(a_speculative_run_tells_nobody),
		cmocka_unit_test(every_end_is_told),
		cmocka_unit_test(words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
