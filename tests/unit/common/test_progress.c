/* SPDX-License-Identifier: MPL-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
/* cmocka wants the headers above first */
#include <cmocka.h>

#include <poll.h>
#include <pthread.h>
#include <semaphore.h>

#include "common/loop/loop.h"
#include "common/loop/progress.h"

enum { LIMIT_MS = 20 };

static bool healthy(struct buf *why)
{
	buf_reset(why);
	poll(NULL, 0, 3 * LIMIT_MS);
	return progress_check(LIMIT_MS, why);
}

static void test_a_thread_that_works_for_too_long(void **state)
{
	_cleanup_(buf_release) struct buf why = BUF_INIT(1024);

	(void)state;
	assert_true(healthy(&why));
	progress_busy("the test");
	assert_true(progress_check(LIMIT_MS, &why));
	assert_false(healthy(&why));
	assert_string_equal(buf_str(&why), "a thread hangs for 0 s: the test\n");
	/* A wait for a server is no hang. */
	progress_wait();
	assert_true(healthy(&why));
	progress_go_on();
	assert_true(progress_check(LIMIT_MS, &why));
	assert_false(healthy(&why));
	progress_idle();
	assert_true(healthy(&why));
	progress_wait();
	progress_go_on();
	assert_true(healthy(&why));
}

struct hang {
	struct loop *loop;
	struct loop_timer timer;
	sem_t hangs, ends;
};

static void hang(void *data)
{
	struct hang *h = data;

	sem_post(&h->hangs);
	sem_wait(&h->ends);
	loop_stop(h->loop);
}

static void *loop_thread(void *data)
{
	struct hang *h = data;

	loop_run(h->loop);
	return NULL;
}

static void test_a_loop_whose_callback_does_not_return(void **state)
{
	_cleanup_(buf_release) struct buf why = BUF_INIT(1024);
	struct hang h = {.loop = loop_new()};
	pthread_t thread;

	(void)state;
	sem_init(&h.hangs, 0, 0);
	sem_init(&h.ends, 0, 0);
	loop_timer_set(h.loop, &h.timer, 10 * LIMIT_MS, hang, &h);
	assert_int_equal(pthread_create(&thread, NULL, loop_thread, &h), 0);
	assert_true(healthy(&why)); /* it waits for the timer */
	sem_wait(&h.hangs);
	assert_false(healthy(&why));
	assert_string_equal(buf_str(&why), "a thread hangs for 0 s: event loop\n");
	sem_post(&h.ends);
	pthread_join(thread, NULL);
	assert_true(healthy(&why));
	loop_free(h.loop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_thread_that_works_for_too_long),
		cmocka_unit_test(test_a_loop_whose_callback_does_not_return),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
