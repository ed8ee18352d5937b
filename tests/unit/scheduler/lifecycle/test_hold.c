/* SPDX-License-Identifier: MPL-2.0 */
/* Every hold with every event: what ends the hold, what stops its terraform, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "scheduler/lifecycle/hold.h"

typedef void (*each_fn)(const struct hold *hold, enum hold_event event, const struct hold_verdict *v);

/* Enumerates all holds: 3 stops, 6 facts. */
static void for_each_hold(each_fn fn)
{
	for (int stop = STOP_NONE; stop <= STOP_FORCE; stop++)
		for (unsigned facts = 0; facts < 64; facts++)
			for (int event = 0; event < HOLD_EVENT_COUNT; event++) {
				const struct hold hold = {.holds = facts & 1,
					.engine_ended = facts & 2,
					.past_deadline = facts & 4,
					.cooled_off = facts & 8,
					.settled = facts & 16,
					.unrecorded = facts & 32,
					.stop = (enum stop)stop};
				const struct hold_verdict v = hold_step(&hold, (enum hold_event)event);

				fn(&hold, (enum hold_event)event, &v);
			}
}

static void check_form(const struct hold *hold, enum hold_event event, const struct hold_verdict *v)
{
	assert_int_equal(v->held, hold->holds);
	assert_int_equal(hold_accepts(hold, event), !v->refused);
	assert_int_equal((v->refused != NULL) + v->ends + v->settles + v->signals, 1);
	assert_true(v->signals ? v->stop > hold->stop : v->stop == hold->stop);
	assert_true(v->ends || !v->risks);
}

static void a_verdict_has_exactly_one_result(void **state)
{
	(void)state;
	for_each_hold(check_form);
}

static void check_none(const struct hold *hold, enum hold_event event, const struct hold_verdict *v)
{
	(void)event;
	if (!hold->holds)
		assert_string_equal(v->refused, "the workspace is not held for the run");
}

static void events_without_a_hold_are_refused(void **state)
{
	(void)state;
	for_each_hold(check_none);
}

/* Rule 8: any other event that ends a hold implies that none of its terraform processes is left. */
static void check_end(const struct hold *hold, enum hold_event event, const struct hold_verdict *v)
{
	bool over = event == HOLD_LAST_STATE || (event == HOLD_DEADLINE && hold->past_deadline) ||
		(event == HOLD_DISMISSED && hold->settled);
	bool may_run = !hold->engine_ended && !hold->past_deadline && !hold->settled;

	assert_int_equal(v->ends, hold->holds && (event == HOLD_RELEASED || (over && !hold->unrecorded)));
	assert_int_equal(v->settles, hold->holds && over && hold->unrecorded && event != HOLD_DISMISSED);
	assert_int_equal(v->risks, v->ends && event == HOLD_RELEASED && may_run);
}

static void a_state_a_release_or_the_deadline_ends_a_hold(void **state)
{
	(void)state;
	for_each_hold(check_end);
}

static void check_stop(const struct hold *hold, enum hold_event event, const struct hold_verdict *v)
{
	bool cancels = event == HOLD_CANCELED && hold->stop == STOP_NONE;
	bool forces = event == HOLD_FORCE_CANCELED && hold->stop == STOP_CANCEL && hold->cooled_off;

	assert_int_equal(v->signals, hold->holds && !hold->engine_ended && !hold->settled && (cancels || forces));
	if (v->signals)
		assert_int_equal(v->stop, cancels ? STOP_CANCEL : STOP_FORCE);
}

static void a_cancel_interrupts_and_a_later_one_kills(void **state)
{
	(void)state;
	for_each_hold(check_stop);
}

static void a_refusal_has_a_reason(void **state)
{
	struct hold hold = {.holds = true};

	(void)state;
	assert_non_null(strstr(hold_step(&hold, HOLD_FORCE_CANCELED).refused, "only after a cancel"));
	assert_non_null(strstr(hold_step(&hold, HOLD_DEADLINE).refused, "has not passed"));
	hold.stop = STOP_CANCEL;
	assert_non_null(strstr(hold_step(&hold, HOLD_CANCELED).refused, "canceled already"));
	assert_non_null(strstr(hold_step(&hold, HOLD_FORCE_CANCELED).refused, "canceled just now"));
	hold.stop = STOP_FORCE;
	assert_non_null(strstr(hold_step(&hold, HOLD_FORCE_CANCELED).refused, "force-canceled already"));
	hold = (struct hold){.holds = true, .engine_ended = true};
	assert_non_null(strstr(hold_step(&hold, HOLD_CANCELED).refused, "no terraform of the run is left"));
}

static void only_a_release_ends_a_hold_after_a_restore(void **state)
{
	struct hold hold = {.holds = true, .restored = true, .past_deadline = true};

	(void)state;
	assert_true(hold_step(&hold, HOLD_LAST_STATE).settles && !hold_step(&hold, HOLD_LAST_STATE).ends);
	assert_true(hold_step(&hold, HOLD_DEADLINE).settles && !hold_step(&hold, HOLD_DEADLINE).ends);
	hold.settled = true;
	assert_non_null(strstr(hold_step(&hold, HOLD_DISMISSED).refused, "restored"));
	assert_true(hold_step(&hold, HOLD_RELEASED).ends && !hold_step(&hold, HOLD_RELEASED).risks);
}

static void the_deadline_is_later_than_that_of_the_keeper(void **state)
{
	(void)state;
	assert_int_equal(hold_deadline_seconds(0), 0);
	assert_int_equal(hold_deadline_seconds(-1), 0);
	for (long long seconds = 1; seconds <= HOLD_APPLY_SECONDS_MAX; seconds = seconds * 2 + 1) {
		assert_true(hold_deadline_seconds(seconds) >= seconds + 5);
		assert_true(hold_deadline_seconds(seconds) >= seconds + seconds / 100);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_verdict_has_exactly_one_result),
		cmocka_unit_test(events_without_a_hold_are_refused),
		cmocka_unit_test(a_state_a_release_or_the_deadline_ends_a_hold),
		cmocka_unit_test(a_cancel_interrupts_and_a_later_one_kills),
		cmocka_unit_test(a_refusal_has_a_reason),
		cmocka_unit_test(only_a_release_ends_a_hold_after_a_restore),
		cmocka_unit_test(the_deadline_is_later_than_that_of_the_keeper),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
