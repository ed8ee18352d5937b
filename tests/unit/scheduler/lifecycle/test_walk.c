/* SPDX-License-Identifier: MPL-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include "scheduler/lifecycle/queue.h"
#include "scheduler/lifecycle/walk.h"

static const uint32_t all_stages = (1u << STAGE_COUNT) - 1;

static struct run run_after(struct run run, size_t count, const struct run_event *events)
{
	for (size_t i = 0; i < count; i++) {
		struct verdict v = run_step(&run, &events[i]);

		if (v.refused)
			fail_msg("%s is refused in %s: %s", run_event_name(events[i].kind),
				run_statuses[run.status].name, v.refused);
		assert_null(run_check(&v.run));
		run = v.run;
	}
	return run;
}

#define AFTER(run, ...)                                                                                                \
	run_after(run, sizeof((struct run_event[]){__VA_ARGS__}) / sizeof(struct run_event),                           \
		(struct run_event[]){__VA_ARGS__})
#define E(event)                                                                                                       \
	{                                                                                                              \
		.kind = EV_##event                                                                                     \
	}
#define PLANNED_WITH(changes)                                                                                          \
	E(TURN), E(STARTED),                                                                                           \
	{                                                                                                              \
		.kind = EV_PASSED, .has_changes = (changes)                                                            \
	}

static void assert_status(struct run run, enum run_status status)
{
	assert_string_equal(run_statuses[run.status].name, run_statuses[status].name);
}

/* Every state with every event leads to a defined state, or to a refusal with a reason. The invariants hold. */
static void check_step(void *data, const struct run *from, const struct run_event *event, const struct verdict *v)
{
	size_t *steps = data;
	const char *broken = run_check(&v->run);

	if (broken)
		fail_msg("%s + %s: %s", run_statuses[from->status].name, run_event_name(event->kind), broken);
	assert_true(v->reached_count <= MAX_REACHED);
	assert_true(v->mark_count <= MAX_MARKS);
	if (v->reached_count)
		assert_int_equal(v->reached[v->reached_count - 1], v->run.status);
	assert_false(v->starts && v->retries);
	assert_false(v->retries && v->holds_workspace);
	assert_false(v->run.status == RUN_APPLIED && event->state_owed && from->stage == STAGE_APPLY);
	assert_false(v->run.status == RUN_APPLIED && v->holds_workspace);
	assert_false(run_ended(from));
	(*steps)++;
}

static void test_every_event_in_every_state_keeps_the_invariants(void **state)
{
	size_t steps = 0;

	(void)state;
	for (uint32_t set = 0; set <= all_stages; set++)
		for (unsigned options = 0; options < 16; options++) {
			struct run run = run_created(set);

			/* The stages that differ are the optional ones. */
			if (run.stages != set)
				break;
			run.plan_only = options & 1;
			run.save_plan = options & 2;
			run.auto_apply = options & 4;
			run.allow_empty_apply = options & 8;
			lifecycle_walk(&run, check_step, &steps);
		}
	assert_true(steps > 100000);
}

static bool can_continue_without_a_person(const struct run *run)
{
	static const enum run_event_kind own[] = {EV_TURN, EV_OPENED, EV_STARTED, EV_PASSED, EV_ERRORED, EV_STOPPED};

	for (size_t i = 0; i < ARRAY_LEN(own); i++)
		if (run_accepts(run, own[i]))
			return true;
	return false;
}

static void check_not_stuck(void *data, const struct run *from, const struct run_event *event, const struct verdict *v)
{
	enum situation at = run_situation(&v->run);

	(void)data;
	(void)from;
	(void)event;
	if (at == AT_ENDED || can_continue_without_a_person(&v->run))
		return;
	/* Such a run waits for a user, and can continue or end. */
	assert_true(at == AT_DECISION || at == AT_OVERRIDE || at == AT_SAVED);
	assert_true(run_accepts(&v->run, EV_CONFIRMED) || run_accepts(&v->run, EV_OVERRIDDEN));
	assert_true(run_accepts(&v->run, EV_DISCARDED));
}

static void test_every_run_can_continue_or_end(void **state)
{
	(void)state;
	for (unsigned options = 0; options < 16; options++) {
		struct run run = run_created(all_stages);

		run.plan_only = options & 1;
		run.save_plan = options & 2;
		run.auto_apply = options & 4;
		run.allow_empty_apply = options & 8;
		lifecycle_walk(&run, check_not_stuck, NULL);
	}
}

static void test_an_auto_applied_run_is_not_confirmed(void **state)
{
	struct run run = run_created(0);

	(void)state;
	run.auto_apply = true;
	run = AFTER(run, PLANNED_WITH(true));
	assert_status(run, RUN_APPLY_QUEUED);
	assert_status(AFTER(run, E(STARTED), E(PASSED)), RUN_APPLIED);
}

static void test_a_planned_run_is_confirmed_or_discarded(void **state)
{
	struct run run = AFTER(run_created(0), PLANNED_WITH(true));

	(void)state;
	assert_status(run, RUN_PLANNED);
	assert_true(run_holds(&run));
	assert_false(run_accepts(&run, EV_CANCELED));
	assert_status(AFTER(run, E(CONFIRMED), E(STARTED), E(PASSED)), RUN_APPLIED);
	assert_status(AFTER(run, E(DISCARDED)), RUN_DISCARDED);
}

static void test_a_run_without_changes_is_applied_only_on_request(void **state)
{
	struct run run = run_created(0);

	(void)state;
	run.auto_apply = true;
	assert_status(AFTER(run, PLANNED_WITH(false)), RUN_PLANNED_AND_FINISHED);
	run.allow_empty_apply = true;
	assert_status(AFTER(run, PLANNED_WITH(false)), RUN_APPLY_QUEUED);
}

static void test_a_plan_only_run_is_never_applied(void **state)
{
	struct run run = run_created(0);

	(void)state;
	run.plan_only = run.auto_apply = run.allow_empty_apply = true;
	assert_false(run_holds(&run));
	assert_status(AFTER(run, PLANNED_WITH(true)), RUN_PLANNED_AND_FINISHED);
}

static void test_a_saved_plan_is_confirmed_or_becomes_stale(void **state)
{
	struct run run = run_created(0);

	(void)state;
	run.save_plan = true;
	run = AFTER(run, PLANNED_WITH(true));
	assert_status(run, RUN_PLANNED_AND_SAVED);
	assert_false(run_holds(&run));
	assert_status(AFTER(run, E(STALE)), RUN_DISCARDED);
	run = AFTER(run, E(CONFIRMED));
	assert_status(run, RUN_CONFIRMED);
	assert_false(run_holds(&run));
	assert_status(AFTER(run, E(STALE)), RUN_DISCARDED);
	run = AFTER(run, E(TURN));
	assert_status(run, RUN_APPLY_QUEUED);
	assert_true(run_holds(&run));
}

/* Only a site admin's force-cancel needs no cancel and no cool-off before it. */
static void test_a_waiting_run_is_canceled_only_by_a_forced_cancel(void **state)
{
	const struct run_event by_force = {.kind = EV_FORCE_CANCELED, .cooled_off = true};
	struct run planned = AFTER(run_created(0), E(TURN), E(STARTED), {.kind = EV_PASSED, .has_changes = true});
	struct run saving = run_created(0), saved;

	(void)state;
	saving.save_plan = true;
	saved = AFTER(saving, E(TURN), E(STARTED), {.kind = EV_PASSED, .has_changes = true});
	assert_status(planned, RUN_PLANNED);
	assert_status(saved, RUN_PLANNED_AND_SAVED);
	assert_false(run_accepts(&planned, EV_FORCE_CANCELED));
	assert_false(run_accepts(&saved, EV_FORCE_CANCELED));
	assert_status(AFTER(planned, by_force), RUN_CANCELED);
	assert_status(AFTER(saved, by_force), RUN_CANCELED);
}

static void test_a_canceled_run_ends_when_its_process_has_ended(void **state)
{
	struct run run = AFTER(run_created(0), E(TURN), E(STARTED), E(CANCELED));

	(void)state;
	assert_status(run, RUN_PLANNING);
	assert_true(run_holds(&run));
	assert_false(run_accepts(&run, EV_CANCELED));
	assert_status(AFTER(run, E(STOPPED)), RUN_CANCELED);
	assert_status(AFTER(run, {.kind = EV_PASSED, .has_changes = true}), RUN_CANCELED);
	assert_false(run_accepts(&run, EV_FORCE_CANCELED));
	assert_status(AFTER(run, {.kind = EV_FORCE_CANCELED, .cooled_off = true}, E(STOPPED)), RUN_FORCE_CANCELED);
}

static void test_a_canceled_apply_that_completed_is_applied(void **state)
{
	struct run run = AFTER(run_created(0), PLANNED_WITH(true), E(CONFIRMED), E(STARTED), E(CANCELED));

	(void)state;
	assert_status(AFTER(run, E(PASSED)), RUN_APPLIED);
	assert_status(AFTER(run, E(STOPPED)), RUN_CANCELED);
}

static void test_a_lost_plan_is_repeated_and_a_lost_apply_is_not(void **state)
{
	struct run run = AFTER(run_created(0), E(TURN), E(STARTED), {.kind = EV_LOST, .may_retry = true});

	(void)state;
	assert_status(run, RUN_PLAN_QUEUED);
	assert_status(AFTER(run, E(STARTED), E(LOST)), RUN_ERRORED);
	assert_status(AFTER(run, E(STARTED), {.kind = EV_STOPPED, .may_retry = true}), RUN_PLAN_QUEUED);
	assert_true(job_may_retry(STAGE_PLAN, true, 1, 1));
	assert_true(job_may_retry(STAGE_APPLY, false, 1, 1));
	assert_false(job_may_retry(STAGE_APPLY, true, 1, 1));
}

static void test_a_job_that_was_lost_twice_is_not_repeated(void **state)
{
	(void)state;
	for (int stage = 0; stage < STAGE_COUNT; stage++) {
		assert_true(job_may_retry((enum stage)stage, false, 1, 1));
		assert_false(job_may_retry((enum stage)stage, false, 2, 2));
		assert_true(job_may_retry((enum stage)stage, false, 5, 1)); /* the others were stopped regularly */
	}
	assert_false(job_may_retry(STAGE_PLAN, false, 10, 0));
}

/* Its process can't be alive: terraform asks before it starts, and is refused from then on. */
static void test_a_canceled_apply_that_was_lost_before_its_start_is_canceled(void **state)
{
	struct run stopping = AFTER(run_created(0), PLANNED_WITH(true), E(CONFIRMED), E(STARTED), E(CANCELED));

	(void)state;
	assert_status(AFTER(stopping, E(LOST)), RUN_CANCELED);
	assert_status(AFTER(stopping, {.kind = EV_FORCE_CANCELED, .cooled_off = true}, E(LOST)), RUN_FORCE_CANCELED);
	assert_status(AFTER(stopping, {.kind = EV_LOST, .started = true}), RUN_ERRORED);
}

/* No run of the queue starts until the last state of an apply is stored, or known to be lost. */
static void test_an_apply_with_an_undelivered_state_holds_its_workspace(void **state)
{
	struct run applying = AFTER(run_created(0), PLANNED_WITH(true), E(CONFIRMED), E(STARTED));
	struct run planning = AFTER(run_created(0), E(TURN), E(STARTED));
	struct run stopping = AFTER(applying, E(CANCELED));
	struct run_event lost = {.kind = EV_LOST, .started = true, .state_owed = true};
	struct run_event passed = {.kind = EV_PASSED, .started = true, .state_owed = true};
	struct run_event settled = {.kind = EV_LOST, .started = true};
	struct run_event not_begun = {.kind = EV_LOST, .state_owed = true};

	(void)state;
	assert_true(run_step(&applying, &lost).holds_workspace);
	assert_true(run_step(&stopping, &lost).holds_workspace);
	assert_true(run_step(&applying, &passed).holds_workspace);
	assert_status(run_step(&applying, &passed).run, RUN_ERRORED);
	assert_true(run_step(&stopping, &passed).holds_workspace);
	assert_status(run_step(&stopping, &passed).run, RUN_CANCELED);
	assert_false(run_step(&applying, &settled).holds_workspace);
	assert_false(run_step(&applying, &not_begun).holds_workspace);
	assert_false(run_step(&planning, &lost).holds_workspace);
	lost.may_retry = true;
	assert_false(run_step(&planning, &lost).holds_workspace);
}

static void test_a_locked_busy_or_held_workspace_starts_no_run(void **state)
{
	(void)state;
	for (unsigned bits = 0; bits < 8; bits++) {
		const struct queue_view view = {.locked = bits & 1, .has_current = bits & 2, .held = bits & 4};

		assert_int_equal(queue_may_start(&view, false, true), bits == 0);
		assert_false(queue_may_start(&view, false, false));
		assert_true(queue_may_start(&view, true, false));
	}
}

static void test_transitions_of_policy_checks_and_estimates(void **state)
{
	struct run run = run_created(STAGE_BIT(STAGE_OPA) | STAGE_BIT(STAGE_COST) | STAGE_BIT(STAGE_SENTINEL));

	(void)state;
	run = AFTER(run, PLANNED_WITH(true));
	assert_status(run, RUN_POLICY_CHECKING);
	assert_status(AFTER(run, E(STARTED), E(FAILED)), RUN_POLICY_OVERRIDE);
	assert_status(AFTER(run, E(STARTED), E(LOST)), RUN_POLICY_OVERRIDE);
	run = AFTER(run, E(STARTED), E(FAILED), E(OVERRIDDEN));
	assert_status(run, RUN_COST_ESTIMATING);
	assert_status(AFTER(run, E(STARTED), E(LOST)), RUN_POLICY_CHECKING);
	run = AFTER(run, E(STARTED), E(ERRORED));
	assert_status(run, RUN_POLICY_CHECKING);
	assert_status(AFTER(run, E(STARTED), E(FAILED)), RUN_ERRORED);
	assert_status(AFTER(run, E(STARTED), E(SOFT_FAILED)), RUN_POLICY_OVERRIDE);
	assert_status(AFTER(run, E(STARTED), E(PASSED)), RUN_POLICY_CHECKED);
	assert_status(AFTER(run, E(STARTED), E(PASSED), E(CONFIRMED)), RUN_APPLY_QUEUED);
}

static void test_transitions_of_task_stages(void **state)
{
	struct run run = run_created(STAGE_BIT(STAGE_PRE_PLAN) | STAGE_BIT(STAGE_POST_APPLY));

	(void)state;
	run = AFTER(run, E(TURN));
	assert_status(run, RUN_PRE_PLAN_RUNNING);
	assert_status(AFTER(run, E(FAILED)), RUN_ERRORED);
	assert_status(AFTER(run, E(CANCELED)), RUN_CANCELED);
	run = AFTER(run, E(WARNED), E(STARTED), {.kind = EV_PASSED, .has_changes = true}, E(CONFIRMED), E(STARTED),
		E(PASSED));
	assert_status(run, RUN_POST_APPLY_RUNNING);
	assert_status(AFTER(run, E(FAILED)), RUN_APPLIED);
}

/* The git job belongs to the content, not to the run: no worker starts or stops it for the run. */
static void test_transitions_of_the_fetch_stage(void **state)
{
	struct run pending = run_created(STAGE_BIT(STAGE_FETCH)), run = AFTER(pending, E(TURN)), here = pending;

	(void)state;
	assert_status(run, RUN_FETCHING);
	assert_false(run_accepts(&run, EV_STARTED));
	assert_status(AFTER(run, E(PASSED)), RUN_PLAN_QUEUED);
	assert_status(AFTER(run, E(ERRORED)), RUN_ERRORED);
	assert_status(AFTER(run, E(CANCELED)), RUN_CANCELED);
	assert_status(AFTER(pending, E(ERRORED)), RUN_ERRORED);
	here.fetched = true;
	assert_status(AFTER(here, E(TURN)), RUN_PLAN_QUEUED);
}

static void test_a_run_whose_files_are_here_passes_the_fetch_stage_at_its_turn(void **state)
{
	static const enum run_status reached[] = {RUN_FETCHING, RUN_FETCHING_COMPLETED, RUN_PRE_PLAN_RUNNING};
	const struct run_event turn = {.kind = EV_TURN};
	struct run run = run_created(STAGE_BIT(STAGE_FETCH) | STAGE_BIT(STAGE_PRE_PLAN));
	struct verdict v;

	(void)state;
	run.fetched = true;
	v = run_step(&run, &turn);
	assert_int_equal(v.reached_count, ARRAY_LEN(reached));
	for (size_t i = 0; i < ARRAY_LEN(reached); i++)
		assert_int_equal(v.reached[i], reached[i]);
	assert_true(v.starts && v.run.stage == STAGE_PRE_PLAN);
}

/* The labels for situations in which a run waits. */
static void test_labels_of_runs(void **state)
{
	const uint32_t tasks = STAGE_BIT(STAGE_POST_PLAN) | STAGE_BIT(STAGE_PRE_APPLY), costs = STAGE_BIT(STAGE_COST);
	const struct run planned = AFTER(run_created(0), PLANNED_WITH(true));
	const struct run tasks_passed = AFTER(run_created(tasks), PLANNED_WITH(true), E(PASSED));
	const struct run policy_failed =
		AFTER(run_created(STAGE_BIT(STAGE_OPA)), PLANNED_WITH(true), E(STARTED), E(FAILED));
	const struct {
		struct run run;
		const char *label;
	} rows[] = {
		{run_created(0), "Pending"},
		{AFTER(run_created(0), E(TURN), E(STARTED)), "Planning"},
		{AFTER(run_created(0), E(TURN), E(STARTED), E(FAILED)), "Plan Errored"},
		{AFTER(run_created(STAGE_BIT(STAGE_PRE_PLAN)), E(TURN), E(FAILED)), "Plan Errored"},
		{AFTER(run_created(STAGE_BIT(STAGE_FETCH)), E(TURN)), "Fetching"},
		{AFTER(run_created(STAGE_BIT(STAGE_FETCH)), E(ERRORED)), "Plan Errored"},
		{AFTER(run_created(STAGE_BIT(STAGE_FETCH)), E(TURN), E(ERRORED)), "Plan Errored"},
		{AFTER(run_created(STAGE_BIT(STAGE_SENTINEL)), PLANNED_WITH(true), E(STARTED), E(FAILED)),
			"Plan Errored"},
		{planned, "Needs Confirmation"},
		{tasks_passed, "Needs Confirmation"},
		{AFTER(run_created(tasks), PLANNED_WITH(true)), "Post-plan running"},
		{AFTER(run_created(costs), PLANNED_WITH(true), E(STARTED), E(PASSED)), "Cost Estimated"},
		{policy_failed, "Policy Override"},
		{AFTER(policy_failed, E(OVERRIDDEN)), "Policy Checked"},
		{AFTER(tasks_passed, E(CONFIRMED)), "Pre-apply running"},
		{AFTER(tasks_passed, E(CONFIRMED), E(FAILED)), "Plan Errored"}, /* nothing was applied */
		{AFTER(planned, E(CONFIRMED), E(STARTED)), "Applying"},
		{AFTER(planned, E(CONFIRMED), E(STARTED), E(FAILED)), "Apply Errored"},
		{AFTER(planned, E(CONFIRMED), E(ERRORED)), "Apply Errored"},
		{AFTER(planned, E(CONFIRMED), E(STARTED), E(PASSED)), "Applied"},
		{AFTER(planned, E(DISCARDED)), "Discarded"},
		{AFTER(run_created(0), E(CANCELED)), "Canceled"},
		{AFTER(run_created(0), PLANNED_WITH(false)), "Planned and Finished"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_string_equal(run_label(&rows[i].run), rows[i].label);
}

static void test_a_failed_plan_makes_its_apply_unreachable(void **state)
{
	struct run run = AFTER(run_created(0), E(TURN), E(STARTED));
	struct run_event errored = {.kind = EV_ERRORED};
	struct verdict v = run_step(&run, &errored);

	(void)state;
	assert_int_equal(v.mark_count, 2);
	assert_int_equal(v.marks[0].stage, STAGE_PLAN);
	assert_int_equal(v.marks[0].status, OPERATION_ERRORED);
	assert_int_equal(v.marks[1].stage, STAGE_APPLY);
	assert_int_equal(v.marks[1].status, OPERATION_UNREACHABLE);
	assert_true(v.ends_job);
}

static void assert_abandoned(const struct run *broken)
{
	static const struct run_event lost = {.kind = EV_LOST, .started = true, .state_owed = true};
	struct verdict v = run_abandon(broken, &lost);

	assert_null(run_check(&v.run));
	assert_status(v.run, RUN_ERRORED);
	assert_true(v.ends_job && !v.refused && !v.starts && !v.retries && !v.signals);
	assert_true(v.mark_count <= MAX_MARKS && v.reached_count <= MAX_REACHED);
	assert_int_equal(v.holds_workspace, broken->stage == STAGE_APPLY);
}

/* Every row, reachable or not: 2^5 combinations of the flags, each status, each stage. */
static void test_a_run_with_an_invalid_row_can_be_abandoned(void **state)
{
	(void)state;
	for (int status = 0; status < RUN_STATUS_COUNT; status++)
		for (int stage = 0; stage <= STAGE_NONE; stage++)
			for (unsigned flags = 0; flags < 32; flags++) {
				struct run run = run_created(flags & 1 ? all_stages : 0);

				run.status = (enum run_status)status;
				run.stage = (enum stage)stage;
				run.queued = flags & 2;
				run.underway = flags & 4;
				run.plan_only = flags & 8;
				run.stopping = flags & 16 ? STOP_FORCE : STOP_NONE;
				assert_abandoned(&run);
			}
}

/* The page in the repository must match the code. */
static void test_page_matches_the_code(void **state)
{
	_cleanup_(freep) char *page = lifecycle_page();
	FILE *file = fopen(SOURCE_DIR "/scheduler/lifecycle/STATES.md", "r");
	_cleanup_(freep) char *committed = mem_new(strlen(page) + 2, 1);

	(void)state;
	assert_non_null(file);
	assert_int_equal(fread(committed, 1, strlen(page) + 1, file), strlen(page));
	fclose(file);
	assert_string_equal(page, committed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_event_in_every_state_keeps_the_invariants),
		cmocka_unit_test(test_every_run_can_continue_or_end),
		cmocka_unit_test(test_an_auto_applied_run_is_not_confirmed),
		cmocka_unit_test(test_a_planned_run_is_confirmed_or_discarded),
		cmocka_unit_test(test_a_run_without_changes_is_applied_only_on_request),
		cmocka_unit_test(test_a_plan_only_run_is_never_applied),
		cmocka_unit_test(test_a_saved_plan_is_confirmed_or_becomes_stale),
		cmocka_unit_test(test_a_waiting_run_is_canceled_only_by_a_forced_cancel),
		cmocka_unit_test(test_a_canceled_run_ends_when_its_process_has_ended),
		cmocka_unit_test(test_a_canceled_apply_that_completed_is_applied),
		cmocka_unit_test(test_a_lost_plan_is_repeated_and_a_lost_apply_is_not),
		cmocka_unit_test(test_a_job_that_was_lost_twice_is_not_repeated),
		cmocka_unit_test(test_a_canceled_apply_that_was_lost_before_its_start_is_canceled),
		cmocka_unit_test(test_an_apply_with_an_undelivered_state_holds_its_workspace),
		cmocka_unit_test(test_a_locked_busy_or_held_workspace_starts_no_run),
		cmocka_unit_test(test_transitions_of_policy_checks_and_estimates),
		cmocka_unit_test(test_transitions_of_task_stages),
		cmocka_unit_test(test_transitions_of_the_fetch_stage),
		cmocka_unit_test(test_a_run_whose_files_are_here_passes_the_fetch_stage_at_its_turn),
		cmocka_unit_test(test_labels_of_runs),
		cmocka_unit_test(test_a_failed_plan_makes_its_apply_unreachable),
		cmocka_unit_test(test_a_run_with_an_invalid_row_can_be_abandoned),
		cmocka_unit_test(test_page_matches_the_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
