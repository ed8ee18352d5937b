/* SPDX-License-Identifier: MPL-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "worker/scheduler_client/read_ahead.h"

static struct id job_id(int number)
{
	struct id id;

	snprintf(id.text, sizeof(id.text), "job-%016d", number);
	return id;
}

static void add(struct read_ahead *ahead, int64_t offset, int number)
{
	struct id job = job_id(number);

	read_ahead_add(ahead, offset, &job);
}

static bool settle(struct read_ahead *ahead, int number)
{
	return read_ahead_settle(ahead, job_id(number).text);
}

static void position_is(struct read_ahead *ahead, int64_t wanted)
{
	int64_t position = -1;

	assert_true(read_ahead_position(ahead, &position));
	assert_int_equal(position, wanted);
	assert_false(read_ahead_position(ahead, &position));
}

static size_t listed(const struct read_ahead *ahead, size_t max)
{
	json_auto_t *jobs = json_array();

	read_ahead_list(ahead, max, jobs);
	return json_array_size(jobs);
}

static void test_nothing_read_commits_nothing(void **state)
{
	struct read_ahead ahead;
	int64_t position;

	(void)state;
	read_ahead_init(&ahead, 3);
	assert_false(read_ahead_position(&ahead, &position));
	read_ahead_release(&ahead);
}

static void test_the_position_is_the_first_message_whose_job_waits(void **state)
{
	struct read_ahead ahead;

	(void)state;
	read_ahead_init(&ahead, 0);
	for (int i = 0; i < 40; i++)
		add(&ahead, 100 + i, i);
	position_is(&ahead, 100);
	assert_true(settle(&ahead, 1));
	assert_false(settle(&ahead, 1));
	assert_false(settle(&ahead, 99));
	assert_int_equal(listed(&ahead, 4), 3);
	assert_true(settle(&ahead, 0));
	position_is(&ahead, 102);
	for (int i = 2; i < 40; i++)
		assert_true(settle(&ahead, i));
	position_is(&ahead, 140);
	assert_int_equal(listed(&ahead, 256), 0);
	add(&ahead, 140, 40);
	assert_int_equal(listed(&ahead, 256), 1);
	read_ahead_release(&ahead);
}

/* Offsets may have gaps, a job may be announced twice, and a message may be unreadable. */
static void test_gaps_repeats_and_unreadable_messages(void **state)
{
	struct read_ahead ahead;

	(void)state;
	read_ahead_init(&ahead, 0);
	read_ahead_add(&ahead, 5, NULL);
	position_is(&ahead, 6);
	add(&ahead, 9, 1);
	read_ahead_add(&ahead, 12, NULL);
	add(&ahead, 13, 1);
	position_is(&ahead, 9);
	assert_int_equal(listed(&ahead, 256), 2);
	assert_true(settle(&ahead, 1));
	position_is(&ahead, 14);
	read_ahead_release(&ahead);
}

static void test_a_partition_that_begins_anew(void **state)
{
	struct read_ahead ahead;

	(void)state;
	read_ahead_init(&ahead, 0);
	add(&ahead, 1000, 1);
	add(&ahead, 1001, 2);
	position_is(&ahead, 1000);
	add(&ahead, 0, 3);
	position_is(&ahead, 0);
	assert_false(settle(&ahead, 2));
	assert_true(settle(&ahead, 3));
	position_is(&ahead, 1);
	read_ahead_release(&ahead);
}

static void test_the_same_position_of_a_new_partition_is_committed_again(void **state)
{
	struct read_ahead ahead;

	(void)state;
	read_ahead_init(&ahead, 0);
	for (int job = 1; job <= 2; job++) {
		add(&ahead, 0, job);
		assert_true(settle(&ahead, job));
		position_is(&ahead, 1);
	}
	read_ahead_release(&ahead);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_read_commits_nothing),
		cmocka_unit_test(test_the_position_is_the_first_message_whose_job_waits),
		cmocka_unit_test(test_gaps_repeats_and_unreadable_messages),
		cmocka_unit_test(test_a_partition_that_begins_anew),
		cmocka_unit_test(test_the_same_position_of_a_new_partition_is_committed_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
