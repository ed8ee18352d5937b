/* SPDX-License-Identifier: MPL-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "common/err.h"
#include "common/metrics.h"
#include "scheduler/db/db.h"
#include "scheduler/metrics.h"
#include "scheduler/outbox/claim_waiters.h"

/* Without a database: only the process's own part. A letter stands for each worker's answer: 'j' a job, 'n' none,
 * '-' not yet. */
enum { WORKERS = 4 };

struct fixture {
	struct claim_waiters *waiters;
	char answers[WORKERS + 1];
};

static void record_answer(char *answer, bool jobs)
{
	assert_int_equal(*answer, '-');
	*answer = jobs ? 'j' : 'n';
}

static void record(void *data, bool jobs)
{
	record_answer(data, jobs);
}

static void wait_from(struct fixture *fixture, int worker, const char *pool, uint64_t mark)
{
	char id[16];

	snprintf(id, sizeof(id), "agent-%d", worker);
	fixture->answers[worker] = '-';
	claim_waiters_begin(fixture->waiters,
		&(struct wait_spec){.pool_id = pool, .worker_id = id, .end = record, .data = &fixture->answers[worker]},
		mark);
}

static void wait_now(struct fixture *fixture, int worker, const char *pool)
{
	wait_from(fixture, worker, pool, claim_waiters_mark(fixture->waiters));
}

static int looked(struct db *db, int still_ms, struct rows *ret_rows, struct err *err)
{
	(void)db;
	(void)still_ms;
	(void)ret_rows;
	return err_set(err, ERR_UNAVAILABLE, "no database");
}

static int waiters_setup(void **state)
{
	struct fixture *fixture = mem_new(1, sizeof(*fixture));
	struct err err = ERR_INIT;

	memset(fixture->answers, '.', WORKERS);
	metrics_setup(scheduler_metrics, M_COUNT);
	assert_int_equal(claim_waiters_start("host=/nonexistent", looked, &fixture->waiters, &err), 0);
	*state = fixture;
	return 0;
}

static int waiters_teardown(void **state)
{
	struct fixture *fixture = *state;

	claim_waiters_stop(fixture->waiters);
	claim_waiters_free(fixture->waiters);
	free(fixture);
	return 0;
}

static void test_a_job_wakes_the_worker_that_has_waited_longest(void **state)
{
	struct fixture *fixture = *state;

	wait_now(fixture, 0, "one");
	wait_now(fixture, 1, "one");
	claim_waiters_wake(fixture->waiters, "one");
	assert_string_equal(fixture->answers, "j-..");
	wait_now(fixture, 0, "one");
	claim_waiters_wake(fixture->waiters, "one");
	assert_string_equal(fixture->answers, "-j..");
}

static void test_a_job_wakes_only_workers_of_its_pool(void **state)
{
	struct fixture *fixture = *state;

	wait_now(fixture, 0, "one");
	wait_now(fixture, 1, "two");
	claim_waiters_wake(fixture->waiters, "two");
	claim_waiters_wake(fixture->waiters, "two");
	claim_waiters_wake(fixture->waiters, "three");
	assert_string_equal(fixture->answers, "-j..");
}

static void test_a_job_that_commits_before_the_wait_is_not_missed(void **state)
{
	struct fixture *fixture = *state;
	uint64_t mark = claim_waiters_mark(fixture->waiters);

	claim_waiters_wake(fixture->waiters, "one");
	wait_from(fixture, 0, "two", mark);
	wait_from(fixture, 1, "one", mark);
	assert_string_equal(fixture->answers, "-j..");
	wait_now(fixture, 1, "one");
	assert_string_equal(fixture->answers, "--..");
}

static void test_a_second_wait_of_a_worker_ends_the_first(void **state)
{
	struct fixture *fixture = *state;
	char first = '-';

	claim_waiters_begin(fixture->waiters, &(struct wait_spec){"one", "agent-0", record, &first},
		claim_waiters_mark(fixture->waiters));
	wait_now(fixture, 0, "one");
	assert_int_equal(first, 'n');
	claim_waiters_wake(fixture->waiters, "one");
	assert_string_equal(fixture->answers, "j...");
}

static void test_a_worker_that_left_is_not_woken(void **state)
{
	struct fixture *fixture = *state;

	wait_now(fixture, 0, "one");
	wait_now(fixture, 1, "one");
	claim_waiters_forget(fixture->waiters, "agent-0");
	claim_waiters_forget(fixture->waiters, "agent-0");
	claim_waiters_wake(fixture->waiters, "one");
	assert_string_equal(fixture->answers, "nj..");
}

static void test_waits_of_a_dismissed_pool_end(void **state)
{
	struct fixture *fixture = *state;
	struct db *db = db_open("host=/nonexistent");

	wait_now(fixture, 0, "one");
	wait_now(fixture, 1, "two");
	wait_now(fixture, 2, "one");
	claim_waiters_dismiss(fixture->waiters, db, "one");
	assert_string_equal(fixture->answers, "n-n.");
	wait_now(fixture, 0, "one");
	assert_string_equal(fixture->answers, "--n.");
	db_close(db);
}

static void test_a_stop_ends_all_waits_and_accepts_no_more(void **state)
{
	struct fixture *fixture = *state;

	wait_now(fixture, 0, "one");
	wait_now(fixture, 1, "two");
	assert_false(claim_waiters_full(fixture->waiters));
	claim_waiters_stop(fixture->waiters);
	assert_string_equal(fixture->answers, "nn..");
	assert_true(claim_waiters_full(fixture->waiters));
	wait_now(fixture, 2, "one");
	assert_string_equal(fixture->answers, "nnn.");
	claim_waiters_wake(fixture->waiters, "one");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			test_a_job_wakes_the_worker_that_has_waited_longest, waiters_setup, waiters_teardown),
		cmocka_unit_test_setup_teardown(
			test_a_job_wakes_only_workers_of_its_pool, waiters_setup, waiters_teardown),
		cmocka_unit_test_setup_teardown(
			test_a_job_that_commits_before_the_wait_is_not_missed, waiters_setup, waiters_teardown),
		cmocka_unit_test_setup_teardown(
			test_a_second_wait_of_a_worker_ends_the_first, waiters_setup, waiters_teardown),
		cmocka_unit_test_setup_teardown(test_waits_of_a_dismissed_pool_end, waiters_setup, waiters_teardown),
		cmocka_unit_test_setup_teardown(test_a_worker_that_left_is_not_woken, waiters_setup, waiters_teardown),
		cmocka_unit_test_setup_teardown(
			test_a_stop_ends_all_waits_and_accepts_no_more, waiters_setup, waiters_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
