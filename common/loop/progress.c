/* SPDX-License-Identifier: MPL-2.0 */
#include "common/loop/progress.h"

#include <pthread.h>
#include <stdatomic.h>

#include "common/clock.h"

/* Threads beyond these are not watched: the processes have fewer. */
enum { MAX_THREADS = 256 };

static struct place {
	atomic_bool taken;
	_Atomic(const char *) thread;
	_Atomic int64_t since_ms; /* 0: it waits */
} places[MAX_THREADS];

static _Thread_local struct place *own;
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* At the end of a thread. */
static void place_leave(void *data)
{
	struct place *place = data;

	atomic_store(&place->since_ms, 0);
	atomic_store(&place->taken, false);
}

static void key_make(void)
{
	pthread_key_create(&key, place_leave);
}

static struct place *place_take(void)
{
	pthread_once(&once, key_make);
	for (size_t i = 0; i < MAX_THREADS; i++) {
		bool free = false;

		if (atomic_compare_exchange_strong(&places[i].taken, &free, true)) {
			pthread_setspecific(key, &places[i]);
			return &places[i];
		}
	}
	return NULL;
}

void progress_busy(const char *thread)
{
	if (!own)
		own = place_take();
	if (!own)
		return;
	atomic_store(&own->thread, thread);
	atomic_store(&own->since_ms, clock_mono_ms());
}

void progress_idle(void)
{
	if (!own)
		return;
	atomic_store(&own->since_ms, 0);
	atomic_store(&own->thread, NULL);
}

void progress_wait(void)
{
	if (own)
		atomic_store(&own->since_ms, 0);
}

void progress_go_on(void)
{
	if (own && atomic_load(&own->thread))
		atomic_store(&own->since_ms, clock_mono_ms());
}

bool progress_check(int64_t limit_ms, struct buf *why)
{
	int64_t now = clock_mono_ms();
	bool healthy = true;

	for (size_t i = 0; i < MAX_THREADS; i++) {
		int64_t since = atomic_load(&places[i].since_ms);
		const char *thread = atomic_load(&places[i].thread);

		if (!since || now - since <= limit_ms)
			continue;
		buf_printf(why, "a thread hangs for %lld s: %s\n", (long long)(now - since) / 1000,
			thread ? thread : "unknown");
		healthy = false;
	}
	return healthy;
}
