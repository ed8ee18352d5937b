/* SPDX-License-Identifier: MPL-2.0 */
/* Runs: the arena, limits, failures, what is printed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "policy/core/output.h"
#include "policy/core/run.h"

/* Bodies run in a thread of their own, out of which no assertion may jump. */
#define check(run, condition) ((condition) ? (void)0 : run_fail((run), "line %d: %s", __LINE__, #condition))

/* Runs the body with the limits. 0 or -1, with the failure. */
static int run_body(const struct run_limits *limits, void (*body)(struct run *, void *), struct failure *ret_failure)
{
	struct run run;
	int result;

	run_init(&run, limits);
	result = run_protected(&run, body, NULL);
	*ret_failure = run.failure;
	run_release(&run);
	return result;
}

static void expect_failure(const struct run_limits *limits, void (*body)(struct run *, void *), const char *message)
{
	struct failure failure;

	assert_int_equal(run_body(limits, body, &failure), -1);
	assert_string_equal(failure.message, message);
	assert_int_equal(failure.kind, FAILURE_RUNTIME);
}

static void expect_success(void (*body)(struct run *, void *))
{
	struct failure failure;

	assert_int_equal(run_body(&run_limits_default, body, &failure), 0);
}

/* ---- the arena ---- */

static void allocate(struct run *run, void *data)
{
	(void)data;
	for (size_t size = 1; size < 200000; size = size * 3 / 2 + 1) {
		char *memory = run_alloc(run, size, 1);

		check(run, (uintptr_t)memory % 16 == 0);
		for (size_t i = 0; i < size; i++)
			check(run, memory[i] == 0);
		memset(memory, 1, size);
	}
	check(run, strcmp(run_text(run, "%s %d", "line", 7), "line 7") == 0);
	check(run, strcmp(run_copy(run, "abc", 2), "ab") == 0);
}

static void memory_is_zeroed_and_aligned(void **state)
{
	(void)state;
	expect_success(allocate);
}

static void allocate_without_end(struct run *run, void *data)
{
	(void)data;
	for (;;)
		run_alloc(run, 100, 7);
}

static void allocate_too_much(struct run *run, void *data)
{
	(void)data;
	run_alloc(run, SIZE_MAX / 4, 8);
}

static void memory_has_a_limit(void **state)
{
	struct run_limits limits = run_limits_default;

	(void)state;
	limits.memory_bytes = 3 << 20;
	expect_failure(&limits, allocate_without_end, "the limit of memory is reached (-memory)");
	expect_failure(&limits, allocate_too_much, "the limit of memory is reached (-memory)");
}

/* ---- limits ---- */

static void step_without_end(struct run *run, void *data)
{
	(void)data;
	for (;;)
		run_step(run, 1);
}

static void steps_and_time_have_limits(void **state)
{
	struct run_limits limits = run_limits_default;

	(void)state;
	limits.steps = 10000;
	expect_failure(&limits, step_without_end, "the limit of steps is reached (-steps)");
	limits = run_limits_default;
	limits.steps = UINT64_MAX / 2;
	limits.timeout_ms = 20;
	expect_failure(&limits, step_without_end, "the limit of time is reached (-timeout)");
}

static void step_to_the_limit(struct run *run, void *data)
{
	(void)data;
	run_step(run, 5000);
	for (int i = 0; i < 5000; i++)
		run_step(run, 1);
}

static void the_last_step_is_allowed(void **state)
{
	struct run_limits limits = run_limits_default;
	struct failure failure;

	(void)state;
	limits.steps = 10000;
	assert_int_equal(run_body(&limits, step_to_the_limit, &failure), 0);
	limits.steps = 9999;
	assert_int_equal(run_body(&limits, step_to_the_limit, &failure), -1);
}

/* Uses about as much of the stack as a level of the evaluation. */
static int nest(struct run *run, int depth)
{
	volatile char frame[2000];

	if (depth > 100000)
		return 0;
	run_enter(run);
	frame[depth % 2000] = (char)depth;
	int result = nest(run, depth + 1) + frame[depth % 2000];

	run_leave(run);
	return result;
}

static void nest_without_end(struct run *run, void *data)
{
	(void)data;
	nest(run, 0);
}

static void nest_in_calls(struct run *run, void *data)
{
	(void)data;
	run->calls = MAX_CALLS;
	nest(run, 0);
}

static void nesting_has_a_limit(void **state)
{
	(void)state;
	expect_failure(&run_limits_default, nest_without_end, "the limit of nesting, 5000, is reached");
	expect_failure(&run_limits_default, nest_in_calls, "the limit of nesting, 5000, is reached");
}

/* ---- failures ---- */

static void fail_at(struct run *run, void *data)
{
	static const struct source source = {.name = "a.sentinel", .text = "x", .len = 1};

	(void)data;
	run->at = (struct place){.source = &source, .offset = 7};
	run_fail(run, "%d apples", 3);
}

static void a_failure_has_its_place(void **state)
{
	struct failure failure;

	(void)state;
	assert_int_equal(run_body(&run_limits_default, fail_at, &failure), -1);
	assert_string_equal(failure.message, "3 apples");
	assert_string_equal(failure.place.source->name, "a.sentinel");
	assert_int_equal(failure.place.offset, 7);
}

static void fail_with_a_long_message(struct run *run, void *data)
{
	struct output output = {0};

	(void)data;
	output_text(run, &output, "a");
	for (int i = 0; i < 1000; i++)
		output_text(run, &output, "\xe2\x82\xac");
	run_fail(run, "%.*s", (int)output.len, output.bytes);
}

static void a_long_message_is_cut_between_characters(void **state)
{
	struct failure failure;

	(void)state;
	assert_int_equal(run_body(&run_limits_default, fail_with_a_long_message, &failure), -1);
	assert_int_equal(strlen(failure.message) % 3, 1);
	assert_true(strlen(failure.message) > 1000);
}

static void succeed(struct run *run, void *data)
{
	(void)run;
	*(int *)data += 1;
}

static void a_run_goes_on_after_a_failure(void **state)
{
	struct run run;
	int done = 0;

	(void)state;
	run_init(&run, &run_limits_default);
	run.loading = true;
	assert_int_equal(run_protected(&run, fail_at, NULL), -1);
	assert_int_equal(run.failure.kind, FAILURE_STATIC);
	assert_int_equal(run_protected(&run, succeed, &done), 0);
	assert_int_equal(run.failure.kind, FAILURE_NONE);
	assert_int_equal(done, 1);
	run_release(&run);
}

/* ---- what is printed ---- */

static void print_too_much(struct run *run, void *data)
{
	char line[1000];

	(void)data;
	memset(line, 'x', sizeof(line));
	for (int i = 0; i < 524; i++)
		run_print(run, line, sizeof(line));
	check(run, run->printed.len == 524000);
	run_print(run, line, 288);
	check(run, run->printed.bytes[524287] == 'x');
	run_print(run, line, 1);
}

static void the_printed_text_has_a_limit(void **state)
{
	(void)state;
	expect_failure(&run_limits_default, print_too_much, "the limit of printed output, 512 KiB, is reached");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_is_zeroed_and_aligned),
		cmocka_unit_test(memory_has_a_limit),
		cmocka_unit_test(steps_and_time_have_limits),
		cmocka_unit_test(the_last_step_is_allowed),
		cmocka_unit_test(nesting_has_a_limit),
		cmocka_unit_test(a_failure_has_its_place),
		cmocka_unit_test(a_long_message_is_cut_between_characters),
		cmocka_unit_test(a_run_goes_on_after_a_failure),
		cmocka_unit_test(the_printed_text_has_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
