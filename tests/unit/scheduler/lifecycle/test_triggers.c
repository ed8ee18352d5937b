/* SPDX-License-Identifier: MPL-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
/* cmocka.h needs the headers above. */
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
static void check_trigger(struct run *run, enum run_event_kind kind, bool has_changes, enum trigger wanted)
{
	struct verdict verdict = step(run, kind, has_changes);

	assert_int_equal(trigger_of(&verdict), wanted);
}

static void triggers_of_a_confirmed_run(void **state)
{
	struct run run = run_created(0);

	(void)state;
	check_trigger(&run, EV_TURN, false, TRIGGER_COUNT);
	check_trigger(&run, EV_STARTED, false, TRIGGER_PLANNING);
	check_trigger(&run, EV_PASSED, true, TRIGGER_NEEDS_ATTENTION);
	check_trigger(&run, EV_CONFIRMED, false, TRIGGER_COUNT);
	check_trigger(&run, EV_STARTED, false, TRIGGER_APPLYING);
	check_trigger(&run, EV_PASSED, false, TRIGGER_COMPLETED);
}

static void triggers_of_an_auto_applied_run(void **state)
{
	struct run run = run_created(0);

	(void)state;
	run.auto_apply = true;
	check_trigger(&run, EV_TURN, false, TRIGGER_COUNT);
	check_trigger(&run, EV_STARTED, false, TRIGGER_PLANNING);
	check_trigger(&run, EV_PASSED, true, TRIGGER_COUNT);
	check_trigger(&run, EV_STARTED, false, TRIGGER_APPLYING);
	check_trigger(&run, EV_ERRORED, false, TRIGGER_ERRORED);
}

static void triggers_of_a_run_without_changes_and_a_saved_plan(void **state)
{
	struct run run = run_created(0), saved = run_created(0);

	(void)state;
	step(&run, EV_TURN, false);
	step(&run, EV_STARTED, false);
	check_trigger(&run, EV_PASSED, false, TRIGGER_COMPLETED);
	saved.save_plan = true;
	step(&saved, EV_TURN, false);
	step(&saved, EV_STARTED, false);
	check_trigger(&saved, EV_PASSED, true, TRIGGER_NEEDS_ATTENTION);
	check_trigger(&saved, EV_DISCARDED, false, TRIGGER_ERRORED);
}

static void triggers_of_a_failed_policy(void **state)
{
	struct run run = run_created(STAGE_BIT(STAGE_OPA));

	(void)state;
	step(&run, EV_TURN, false);
	step(&run, EV_STARTED, false);
	check_trigger(&run, EV_PASSED, true, TRIGGER_COUNT);
	check_trigger(&run, EV_STARTED, false, TRIGGER_COUNT);
	check_trigger(&run, EV_FAILED, false, TRIGGER_NEEDS_ATTENTION);
	check_trigger(&run, EV_OVERRIDDEN, false, TRIGGER_NEEDS_ATTENTION);
}

static void a_speculative_run_has_no_triggers(void **state)
{
	struct run run = run_created(0);

	(void)state;
	run.plan_only = true;
	check_trigger(&run, EV_TURN, false, TRIGGER_COUNT);
	check_trigger(&run, EV_STARTED, false, TRIGGER_COUNT);
	check_trigger(&run, EV_PASSED, true, TRIGGER_COUNT);
}

/* Over all sequences of events, an end triggers once, and a refused event never. */
static void check_step(void *data, const struct run *from, const struct run_event *event, const struct verdict *verdict)
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

static void every_end_of_a_run_triggers_once(void **state)
{
	struct run run = run_created(STAGE_BIT(STAGE_OPA) | STAGE_BIT(STAGE_PRE_APPLY) | STAGE_BIT(STAGE_POST_APPLY));

	(void)state;
	assert_true(lifecycle_walk(&run, check_step, NULL) > 10);
}

static void triggers_have_names_and_messages(void **state)
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
		cmocka_unit_test(triggers_of_a_confirmed_run),
		cmocka_unit_test(triggers_of_an_auto_applied_run),
		cmocka_unit_test(triggers_of_a_run_without_changes_and_a_saved_plan),
		cmocka_unit_test(triggers_of_a_failed_policy),
		cmocka_unit_test(a_speculative_run_has_no_triggers),
		cmocka_unit_test(every_end_of_a_run_triggers_once),
		cmocka_unit_test(triggers_have_names_and_messages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
