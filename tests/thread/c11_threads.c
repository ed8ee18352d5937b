/* SPDX-License-Identifier: MPL-2.0 */
/*
 * librdkafka uses C11 threads, which the thread sanitizer does not support. A thread whose start it did not see
 * crashes, and data that C11 locks protect looks like a race. This file implements C11 threads with POSIX threads
 * (in glibc they are the same underneath), for builds with that sanitizer only.
 */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <threads.h>

_Static_assert(sizeof(mtx_t) >= sizeof(pthread_mutex_t), "a C11 mutex holds a POSIX one");
_Static_assert(sizeof(cnd_t) >= sizeof(pthread_cond_t), "a C11 condition holds a POSIX one");

struct beginning {
	thrd_start_t start;
	void *data;
};

static int result(int code)
{
	return code == 0            ? thrd_success
		: code == EBUSY     ? thrd_busy
		: code == ETIMEDOUT ? thrd_timedout
		: code == ENOMEM    ? thrd_nomem
				    : thrd_error;
}

static void *begin(void *data)
{
	struct beginning beginning = *(struct beginning *)data;

	free(data);
	return (void *)(intptr_t)beginning.start(beginning.data);
}

int thrd_create(thrd_t *ret_thread, thrd_start_t start, void *data)
{
	struct beginning *beginning = malloc(sizeof(*beginning));
	int code;

	if (!beginning)
		return thrd_nomem;
	*beginning = (struct beginning){.start = start, .data = data};
	code = pthread_create(ret_thread, NULL, begin, beginning);
	if (code)
		free(beginning);
	return result(code);
}

int thrd_join(thrd_t thread, int *ret_status)
{
	void *status = NULL;
	int code = pthread_join(thread, &status);

	if (code == 0 && ret_status)
		*ret_status = (int)(intptr_t)status;
	return result(code);
}

int thrd_detach(thrd_t thread)
{
	return result(pthread_detach(thread));
}

int mtx_init(mtx_t *mutex, int kind)
{
	pthread_mutexattr_t attributes;
	int code;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, kind & mtx_recursive ? PTHREAD_MUTEX_RECURSIVE : PTHREAD_MUTEX_NORMAL);
	code = pthread_mutex_init((pthread_mutex_t *)mutex, &attributes);
	pthread_mutexattr_destroy(&attributes);
	return result(code);
}

void mtx_destroy(mtx_t *mutex)
{
	pthread_mutex_destroy((pthread_mutex_t *)mutex);
}

int mtx_lock(mtx_t *mutex)
{
	return result(pthread_mutex_lock((pthread_mutex_t *)mutex));
}

int mtx_trylock(mtx_t *mutex)
{
	return result(pthread_mutex_trylock((pthread_mutex_t *)mutex));
}

int mtx_timedlock(mtx_t *restrict mutex, const struct timespec *restrict until)
{
	return result(pthread_mutex_timedlock((pthread_mutex_t *)mutex, until));
}

int mtx_unlock(mtx_t *mutex)
{
	return result(pthread_mutex_unlock((pthread_mutex_t *)mutex));
}

int cnd_init(cnd_t *condition)
{
	return result(pthread_cond_init((pthread_cond_t *)condition, NULL));
}

void cnd_destroy(cnd_t *condition)
{
	pthread_cond_destroy((pthread_cond_t *)condition);
}

int cnd_signal(cnd_t *condition)
{
	return result(pthread_cond_signal((pthread_cond_t *)condition));
}

int cnd_broadcast(cnd_t *condition)
{
	return result(pthread_cond_broadcast((pthread_cond_t *)condition));
}

int cnd_wait(cnd_t *condition, mtx_t *mutex)
{
	return result(pthread_cond_wait((pthread_cond_t *)condition, (pthread_mutex_t *)mutex));
}

int cnd_timedwait(cnd_t *restrict condition, mtx_t *restrict mutex, const struct timespec *restrict until)
{
	return result(pthread_cond_timedwait((pthread_cond_t *)condition, (pthread_mutex_t *)mutex, until));
}
