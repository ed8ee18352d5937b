/* SPDX-License-Identifier: MPL-2.0 */
#include "common/loop/watchdog.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/log.h"

enum { LOOK_MS = 100 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the next variables */
static int64_t due_ms;
static const char *due_doing;
static int due_status;

/* Keeps the lock, so that no other thread can set another time now. */
static void end(void)
{
	log_warn("exit forced: the process did not end in time", "while", due_doing, NULL);
	_exit(due_status);
}

static void *watch(void *data)
{
	int64_t left;

	(void)data;
	for (;;) {
		pthread_mutex_lock(&lock);
		left = due_ms - clock_mono_ms();
		if (left <= 0)
			end();
		pthread_mutex_unlock(&lock);
		left = left < LOOK_MS ? left : LOOK_MS;
		nanosleep(&(struct timespec){.tv_nsec = left * 1000000}, NULL);
	}
	return NULL;
}

/* Blocks all signals in the thread: other threads wait for them. If the thread can't be started, the process ends
 * without a bound. */
static bool thread_start(void)
{
	sigset_t all, before;
	pthread_t thread;
	bool started;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	started = pthread_create(&thread, NULL, watch, NULL) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (started)
		pthread_detach(thread);
	return started;
}

void watchdog_set(int ms, const char *doing, int status)
{
	static bool started;

	pthread_mutex_lock(&lock);
	due_ms = clock_mono_ms() + ms;
	due_doing = doing;
	due_status = status;
	pthread_mutex_unlock(&lock);
	if (!started)
		started = thread_start();
}
