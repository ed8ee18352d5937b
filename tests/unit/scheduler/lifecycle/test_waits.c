/* SPDX-License-Identifier: MPL-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
/* cmocka wants the headers above first */
#include <cmocka.h>

#include "scheduler/lifecycle/waiting/waits.h"

static struct wait_facts queued(void)
{
	return (struct wait_facts){.run = run_created(0), .first = true};
}

/* The job of a run's plan waits in a pool with room. */
static struct wait_facts planning(void)
{
	struct wait_facts facts = queued();
	const struct run_event turn = {.kind = EV_TURN};

	facts.run = run_step(&facts.run, &turn).run;
	facts.job_waiting = true;
	facts.pool = (struct pool_view){.accepting = 2, .willing = 2, .slots = 4, .free = 1};
	return facts;
}

static void test_in_the_queue(void **state)
{
	struct wait_facts facts = queued();

	(void)state;
	assert_int_equal(wait_of(&facts), WAIT_TURN);
	facts.workspace.held = true;
	assert_int_equal(wait_of(&facts), WAIT_HELD);
	facts.workspace.locked = true;
	assert_int_equal(wait_of(&facts), WAIT_LOCKED);
	facts.first = false;
	assert_int_equal(wait_of(&facts), WAIT_TURN);
	facts.workspace.maintenance = true;
	assert_int_equal(wait_of(&facts), WAIT_MAINTENANCE);
	facts.run.plan_only = true;
	assert_int_equal(wait_of(&facts), WAIT_MAINTENANCE);
}

/* Each reason comes before those that were set earlier. */
static void test_for_a_worker(void **state)
{
	struct wait_facts facts = planning();

	(void)state;
	assert_int_equal(wait_of(&facts), WAIT_CLAIM);
	facts.pool.free = 0;
	assert_int_equal(wait_of(&facts), WAIT_SLOT);
	facts.pool.organization_full = true;
	assert_int_equal(wait_of(&facts), WAIT_QUOTA);
	facts.pool.pool_full = true;
	assert_int_equal(wait_of(&facts), WAIT_POOL_QUOTA);
	facts.pool.willing = 0;
	assert_int_equal(wait_of(&facts), WAIT_ACCEPTANCE);
	facts.pool.accepting = 0;
	assert_int_equal(wait_of(&facts), WAIT_WORKER);
	facts.pool.drained = true;
	assert_int_equal(wait_of(&facts), WAIT_POOL_DRAINED);
	facts.pool.key_missing = true;
	assert_int_equal(wait_of(&facts), WAIT_KEY);
	facts.pool.failover = true;
	assert_int_equal(wait_of(&facts), WAIT_FAILOVER);
	facts.workspace.held = true;
	assert_int_equal(wait_of(&facts), WAIT_HELD);
	facts.run.plan_only = true;
	assert_int_equal(wait_of(&facts), WAIT_FAILOVER);
	facts.workspace.maintenance = true; /* it has started */
	assert_int_equal(wait_of(&facts), WAIT_FAILOVER);
}

static void test_a_commit_waits_to_be_fetched(void **state)
{
	const struct run_event turn = {.kind = EV_TURN};
	struct wait_facts facts = {.run = run_created(STAGE_BIT(STAGE_FETCH)), .first = true};

	(void)state;
	facts.run = run_step(&facts.run, &turn).run;
	assert_int_equal(wait_of(&facts), WAIT_NONE);
	facts.git_waiting = true;
	assert_int_equal(wait_of(&facts), WAIT_FETCH);
}

static void test_who_is_worked_on_waits_for_nothing(void **state)
{
	struct wait_facts facts = planning();
	const struct run_event started = {.kind = EV_STARTED}, passed = {.kind = EV_PASSED, .has_changes = true};

	(void)state;
	facts.run = run_step(&facts.run, &started).run;
	facts.job_waiting = false;
	assert_int_equal(wait_of(&facts), WAIT_NONE);
	facts.run.stopping = STOP_CANCEL;
	assert_int_equal(wait_of(&facts), WAIT_STOPPING);
	facts.run.stopping = STOP_NONE;
	facts.run = run_step(&facts.run, &passed).run;
	assert_int_equal(wait_of(&facts), WAIT_CONFIRMATION);
	facts.run = run_step(&facts.run, &(struct run_event){.kind = EV_CONFIRMED, .window_closed = true}).run;
	assert_int_equal(wait_of(&facts), WAIT_WINDOW);
	facts.run = run_step(&facts.run, &(struct run_event){.kind = EV_DISCARDED}).run;
	assert_int_equal(wait_of(&facts), WAIT_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_in_the_queue),
		cmocka_unit_test(test_for_a_worker),
		cmocka_unit_test(test_a_commit_waits_to_be_fetched),
		cmocka_unit_test(test_who_is_worked_on_waits_for_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
