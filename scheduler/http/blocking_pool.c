/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/http/blocking_pool.h"

#include <pthread.h>
#include <stdint.h>

#include "common/err.h"

enum { THREADS = 4, MAX_WAITING = 64 };

struct waiting {
	const struct http_request *http;
	struct http_pending *pending;
};

struct blocking_pool {
	blocking_pool_fn answer;
	void *data;
	pthread_t threads[THREADS];
	size_t thread_count;
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	struct waiting queue[MAX_WAITING];
	size_t first, count;
	bool stopping;
};

/* Blocks until a request is queued. False after the stop. */
static bool queue_next(struct blocking_pool *pool, struct waiting *ret_next)
{
	bool found;

	pthread_mutex_lock(&pool->mutex);
	while (!pool->count && !pool->stopping)
		pthread_cond_wait(&pool->changed, &pool->mutex);
	found = pool->count && !pool->stopping;
	if (found) {
		*ret_next = pool->queue[pool->first];
		pool->first = (pool->first + 1) % MAX_WAITING;
		pool->count--;
	}
	pthread_mutex_unlock(&pool->mutex);
	return found;
}

static void *thread_run(void *data)
{
	struct blocking_pool *pool = data;
	struct waiting next;

	while (queue_next(pool, &next)) {
		struct http_answer answer = {.status = 200, .body = BUF_INIT(SIZE_MAX / 2)};

		pool->answer(pool->data, next.http, &answer);
		http_answer_now(next.pending, &answer);
	}
	return NULL;
}

int blocking_pool_start(blocking_pool_fn answer, void *data, struct blocking_pool **ret_pool, struct err *err)
{
	struct blocking_pool *pool = mem_new(1, sizeof(*pool));

	pool->answer = answer;
	pool->data = data;
	pthread_mutex_init(&pool->mutex, NULL);
	pthread_cond_init(&pool->changed, NULL);
	for (size_t i = 0; i < THREADS; i++) {
		if (pthread_create(&pool->threads[i], NULL, thread_run, pool) != 0) {
			blocking_pool_stop(pool);
			blocking_pool_free(pool);
			return err_set(err, ERR_INTERNAL, "no more threads");
		}
		pool->thread_count++;
	}
	*ret_pool = pool;
	return 0;
}

bool blocking_pool_take(struct blocking_pool *pool, const struct http_request *http)
{
	bool room;

	pthread_mutex_lock(&pool->mutex);
	room = pool->count < MAX_WAITING && !pool->stopping;
	if (room) {
		pool->queue[(pool->first + pool->count) % MAX_WAITING] =
			(struct waiting){.http = http, .pending = http_later(http)};
		pool->count++;
		pthread_cond_signal(&pool->changed);
	}
	pthread_mutex_unlock(&pool->mutex);
	return room;
}

static void refuse_waiting(struct blocking_pool *pool)
{
	for (; pool->count; pool->count--, pool->first = (pool->first + 1) % MAX_WAITING) {
		struct http_answer answer = {.status = 503, .body = BUF_INIT(SIZE_MAX / 2), .retry_after = "2"};

		http_answer_now(pool->queue[pool->first].pending, &answer);
	}
}

void blocking_pool_stop(struct blocking_pool *pool)
{
	if (!pool)
		return;
	pthread_mutex_lock(&pool->mutex);
	pool->stopping = true;
	pthread_cond_broadcast(&pool->changed);
	pthread_mutex_unlock(&pool->mutex);
	for (size_t i = 0; i < pool->thread_count; i++)
		pthread_join(pool->threads[i], NULL);
	pool->thread_count = 0;
	refuse_waiting(pool);
}

void blocking_pool_free(struct blocking_pool *pool)
{
	if (!pool)
		return;
	pthread_cond_destroy(&pool->changed);
	pthread_mutex_destroy(&pool->mutex);
	free(pool);
}
