/* SPDX-License-Identifier: MPL-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/err.h"
#include "common/loop/loop.h"

struct seen {
	struct loop *loop;
	char order[16];
	size_t count;
	int fds[2];
	struct loop_timer timers[3];
};

static void record(struct seen *seen, char what)
{
	seen->order[seen->count++] = what;
	seen->order[seen->count] = '\0';
}

static void timer_a(void *data)
{
	record(data, 'a');
}

static void timer_b(void *data)
{
	record(data, 'b');
}

static void timer_end(void *data)
{
	struct seen *seen = data;

	record(seen, '.');
	loop_stop(seen->loop);
}

static void timers_fire_in_order_unless_cleared(void **state)
{
	struct seen seen = {.loop = loop_new()};

	(void)state;
	loop_timer_set(seen.loop, &seen.timers[2], 20, timer_end, &seen);
	loop_timer_set(seen.loop, &seen.timers[1], 10, timer_b, &seen);
	loop_timer_set(seen.loop, &seen.timers[0], 1, timer_b, &seen);
	loop_timer_set(seen.loop, &seen.timers[0], 2, timer_a, &seen);
	loop_run(seen.loop);
	assert_string_equal(seen.order, "ab.");
	loop_timer_set(seen.loop, &seen.timers[0], 0, timer_a, &seen);
	loop_timer_clear(seen.loop, &seen.timers[0]);
	loop_timer_set(seen.loop, &seen.timers[2], 1, timer_end, &seen);
	loop_run(seen.loop);
	assert_string_equal(seen.order, "ab..");
	loop_free(seen.loop);
}

struct many {
	struct loop *loop;
	struct one {
		struct many *many;
		struct loop_timer timer;
		int64_t due_ms;
	} items[500];
	size_t fired;
};

static void one_fired(void *data)
{
	const struct one *one = data;
	struct many *many = one->many;

	for (size_t i = 0; i < ARRAY_LEN(many->items); i++)
		if (many->items[i].timer.due_ms && many->items[i].timer.due_ms < one->due_ms)
			fail_msg("an earlier timer is left");
	if (++many->fired == 333)
		loop_stop(many->loop);
}

static void one_set(struct many *many, struct one *one, uint32_t *random)
{
	one->many = many;
	*random = *random * 1103515245 + 12345;
	loop_timer_set(many->loop, &one->timer, 1 + (*random >> 16) % 50, one_fired, one);
	one->due_ms = one->timer.due_ms;
}

/* Many timers are set, moved and cleared. Timers that are due in the same millisecond fire in the order in which they
 * were set. */
static void many_timers_fire_in_order(void **state)
{
	struct many many = {.loop = loop_new()};
	struct seen seen = {.loop = many.loop};
	uint32_t random = 1;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(many.items); i++)
		one_set(&many, &many.items[i], &random);
	for (size_t i = 0; i < ARRAY_LEN(many.items); i += 3)
		loop_timer_clear(many.loop, &many.items[i].timer);
	for (size_t i = 1; i < ARRAY_LEN(many.items); i += 3)
		one_set(&many, &many.items[i], &random);
	loop_run(many.loop);
	assert_int_equal(many.fired, 333);
	loop_timer_set(many.loop, &seen.timers[0], -5, timer_a, &seen);
	loop_timer_set(many.loop, &seen.timers[1], -5, timer_b, &seen);
	seen.timers[0].due_ms = seen.timers[1].due_ms;
	loop_timer_set(many.loop, &seen.timers[2], 0, timer_end, &seen);
	loop_run(many.loop);
	assert_string_equal(seen.order, "ab.");
	loop_free(many.loop);
}

/* Both descriptors are ready in the same round. The first callback removes the other descriptor. */
static void readable(void *data, int fd, unsigned events)
{
	struct seen *seen = data;

	(void)events;
	record(seen, 'r');
	for (int i = 0; i < 2; i++) {
		loop_unwatch(seen->loop, seen->fds[i]);
		if (seen->fds[i] != fd)
			close(seen->fds[i]);
	}
	loop_timer_set(seen->loop, &seen->timers[0], 1, timer_end, seen);
}

static void a_callback_can_remove_other_descriptors(void **state)
{
	struct seen seen = {.loop = loop_new(), .fds = {eventfd(1, 0), eventfd(1, 0)}};

	(void)state;
	loop_watch(seen.loop, seen.fds[0], EPOLLIN, readable, &seen);
	loop_watch(seen.loop, seen.fds[1], EPOLLIN, readable, &seen);
	loop_run(seen.loop);
	assert_string_equal(seen.order, "r.");
	loop_free(seen.loop);
}

static void child_ended(void *data, int pid, int status)
{
	struct seen *seen = data;

	assert_true(pid > 0);
	assert_int_equal(WEXITSTATUS(status), 3);
	record(seen, 'c');
	loop_stop(seen->loop);
}

static void a_child_is_reaped_once(void **state)
{
	struct seen seen = {.loop = loop_new()};
	char *const argv[] = {"sh", "-c", "exit 3", NULL}, *const env[] = {NULL};
	struct err err = ERR_INIT;
	int pid;

	(void)state;
	assert_int_equal(posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, env), 0);
	assert_int_equal(loop_child(seen.loop, pid, child_ended, &seen, &err), 0);
	loop_run(seen.loop);
	assert_string_equal(seen.order, "c");
	assert_int_equal(waitpid(pid, NULL, WNOHANG), -1);
	loop_free(seen.loop);
}

static void work(void *data)
{
	__atomic_add_fetch((int *)data, 1, __ATOMIC_SEQ_CST);
}

struct pool {
	struct loop *loop;
	int executed, ended;
};

static void pool_work(void *data)
{
	work(&((struct pool *)data)->executed);
}

static void pool_ended(void *data)
{
	struct pool *pool = data;

	if (++pool->ended == 3 * LOOP_THREADS)
		loop_stop(pool->loop);
}

static void work_runs_in_threads_and_ends_in_the_loop(void **state)
{
	struct pool pool = {.loop = loop_new()};

	(void)state;
	for (int i = 0; i < 3 * LOOP_THREADS; i++)
		loop_work(pool.loop, pool_work, pool_ended, &pool);
	loop_run(pool.loop);
	assert_int_equal(pool.executed, 3 * LOOP_THREADS);
	loop_work(pool.loop, pool_work, NULL, &pool);
	loop_free(pool.loop);
	assert_int_equal(pool.executed, 3 * LOOP_THREADS + 1);
}

static void signalled(void *data, int signal)
{
	struct seen *seen = data;

	assert_int_equal(signal, SIGUSR1);
	record(seen, 's');
	loop_stop(seen->loop);
}

static void ignored_signals_are_events(void **state)
{
	static const int signals[] = {SIGUSR1, 0};
	struct seen seen = {.loop = loop_new()};

	(void)state;
	signal(SIGUSR1, SIG_IGN);
	loop_signals(seen.loop, signals, signalled, &seen);
	kill(getpid(), SIGUSR1);
	loop_run(seen.loop);
	assert_string_equal(seen.order, "s");
	loop_free(seen.loop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(timers_fire_in_order_unless_cleared),
		cmocka_unit_test(many_timers_fire_in_order),
		cmocka_unit_test(a_callback_can_remove_other_descriptors),
		cmocka_unit_test(a_child_is_reaped_once),
		cmocka_unit_test(work_runs_in_threads_and_ends_in_the_loop),
		cmocka_unit_test(ignored_signals_are_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
