/* SPDX-License-Identifier: MPL-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include "scheduler/lifecycle/attempt.h"
#include "scheduler/lifecycle/queue.h"
#include "scheduler/lifecycle/state_order.h"

/* ---- states ---- */

static enum state_order after(struct state_mark next)
{
	const struct state_mark current = {7, "line", "aa", "job-1"};

	return state_order(&current, &next);
}

static void test_states_are_ordered_by_serial_and_lineage(void **state)
{
	(void)state;
	assert_int_equal(after((struct state_mark){8, "line", "bb", "job-2"}), STATE_FOLLOWS);
	assert_int_equal(after((struct state_mark){8, "", "bb", NULL}), STATE_FOLLOWS);
	assert_int_equal(after((struct state_mark){7, "line", "bb", "job-1"}), STATE_FOLLOWS);
	assert_int_equal(after((struct state_mark){7, "line", "AA", NULL}), STATE_FOLLOWS);
	assert_int_equal(after((struct state_mark){7, "line", "aa", "job-1"}), STATE_KNOWN);
	assert_int_equal(after((struct state_mark){7, "line", "bb", "job-2"}), STATE_BEHIND);
	assert_int_equal(after((struct state_mark){7, "line", "bb", NULL}), STATE_BEHIND);
	assert_int_equal(after((struct state_mark){6, "line", "aa", "job-1"}), STATE_BEHIND);
	assert_int_equal(after((struct state_mark){8, "other", "bb", "job-1"}), STATE_OTHER_LINEAGE);
}

static enum state_order late(struct state_mark next, struct state_since since)
{
	const struct state_mark current = {7, "line", "aa", "job-1"};

	return state_order_late(&current, &next, &since);
}

/* This holds for any serial. */
static void test_a_late_state_replaces_no_newer_state(void **state)
{
	const struct state_mark next = {9, "line", "bb", "job-2"}, again = {7, "line", "aa", "job-1"};
	const struct state_mark behind = {6, "line", "bb", "job-2"};
	const struct state_since nothing = {.overtaken = false};

	(void)state;
	assert_int_equal(late(next, nothing), STATE_FOLLOWS);
	assert_int_equal(late(next, (struct state_since){.others_work = true}), STATE_MEETS_OTHERS);
	assert_int_equal(late(next, (struct state_since){.restored = true}), STATE_RESTORED);
	assert_int_equal(late(again, (struct state_since){.restored = true}), STATE_KNOWN);
	assert_int_equal(late(next, (struct state_since){.overtaken = true, .others_work = true}), STATE_OVERTAKEN);
	assert_int_equal(late(again, (struct state_since){.overtaken = true, .others_work = true}), STATE_KNOWN);
	assert_int_equal(late(behind, nothing), STATE_BEHIND);
	assert_int_equal(state_order_late(NULL, &next, &nothing), STATE_FOLLOWS);
	assert_int_equal(state_order_late(NULL, &next, &(struct state_since){.overtaken = true}), STATE_OVERTAKEN);
}

/* ---- attempts ---- */

static void test_messages_of_another_attempt_are_late(void **state)
{
	const struct attempt now = {.id = {"job-1"}, .attempt = 2, .claimed = true};
	const struct attempt over = {.id = {"job-1"}, .attempt = 2, .claimed = true, .lease_over = true};
	const struct attempt waiting = {.id = {"job-1"}, .attempt = 2, .lease_over = true};
	const struct attempt_ref it = {.job = {"job-1"}, .attempt = 2};
	const struct attempt_ref before = {.job = {"job-1"}, .attempt = 1};
	const struct attempt_ref other = {.job = {"job-2"}, .attempt = 2};
	const struct attempt_ref run = {.attempt = 0};
	const struct attempt_ref lost = {.job = {"job-1"}, .attempt = 2, .only_if_lease_over = true};

	(void)state;
	assert_false(attempt_is_late(&now, &it));
	assert_true(attempt_is_late(&now, &before));
	assert_true(attempt_is_late(&now, &other));
	assert_true(attempt_is_late(&(struct attempt){0}, &it));
	assert_false(attempt_is_late(&(struct attempt){0}, &run));
	assert_true(attempt_is_late(&now, &lost));
	assert_true(attempt_is_late(&waiting, &lost));
	assert_false(attempt_is_late(&over, &lost));
}

/* ---- queues ---- */

static struct run run_at(const struct run *from, struct run_event event)
{
	return run_step(from, &event).run;
}

static void test_a_queue_starts_one_run_at_a_time(void **state)
{
	const struct queue_view free = {0}, busy = {.has_current = true}, locked = {.locked = true};
	const struct queue_view maintenance = {.maintenance = true};
	const struct run pending = run_created(0);
	struct run plan_only = pending, planning;

	(void)state;
	plan_only.plan_only = true;
	planning = run_at(&pending, (struct run_event){.kind = EV_TURN});
	assert_int_equal(queue_event(&free, &pending, false), EV_TURN);
	assert_int_equal(queue_event(&free, &pending, true), EV_TURN);
	assert_int_equal(queue_event(&busy, &pending, false), EVENT_COUNT);
	assert_int_equal(queue_event(&locked, &pending, false), EVENT_COUNT);
	assert_int_equal(queue_event(&locked, &plan_only, false), EV_TURN);
	assert_int_equal(queue_event(&free, &planning, false), EVENT_COUNT);
	assert_int_equal(queue_event(&maintenance, &pending, false), EVENT_COUNT);
	assert_int_equal(queue_event(&maintenance, &plan_only, false), EVENT_COUNT);
	assert_false(queue_may_move(&pending, &planning));
	assert_true(queue_may_move(&planning, &(struct run){.status = RUN_ERRORED}));
}

static void test_a_saved_plan_becomes_stale_before_and_after_its_confirmation(void **state)
{
	const struct queue_view busy = {.has_current = true}, free = {0}, maintenance = {.maintenance = true};
	struct run saved = run_created(0), queued;

	(void)state;
	saved.save_plan = true;
	saved = run_at(&saved, (struct run_event){.kind = EV_TURN});
	saved = run_at(&saved, (struct run_event){.kind = EV_STARTED});
	saved = run_at(&saved, (struct run_event){.kind = EV_PASSED, .has_changes = true});
	queued = run_at(&saved, (struct run_event){.kind = EV_CONFIRMED});
	assert_int_equal(queue_event(&free, &saved, false), EVENT_COUNT);
	assert_int_equal(queue_event(&busy, &saved, true), EV_STALE);
	assert_int_equal(queue_event(&busy, &queued, true), EV_STALE);
	assert_int_equal(queue_event(&free, &queued, false), EV_TURN);
	assert_int_equal(queue_event(&maintenance, &queued, false), EV_TURN);
	assert_true(queue_may_move(&saved, &queued));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_states_are_ordered_by_serial_and_lineage),
		cmocka_unit_test(test_a_late_state_replaces_no_newer_state),
		cmocka_unit_test(test_messages_of_another_attempt_are_late),
		cmocka_unit_test(test_a_queue_starts_one_run_at_a_time),
		cmocka_unit_test(test_a_saved_plan_becomes_stale_before_and_after_its_confirmation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
