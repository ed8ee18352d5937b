/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/http/aside.h"

#include <pthread.h>
#include <stdint.h>

#include "common/err.h"

enum { THREADS = 4, MOST_WAITING = 64 };

struct waiting {
	const struct http_request *http;
	struct http_pending *pending;
};

struct aside {
	aside_fn answer;
	void *data;
	pthread_t threads[THREADS];
	size_t thread_count;
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	struct waiting queue[MOST_WAITING];
	size_t first, count;
	bool stopping;
};

/* Blocks until a request is queued. False after the stop. */
static bool queue_next(struct aside *aside, struct waiting *ret_next)
{
	bool found;

	pthread_mutex_lock(&aside->mutex);
	while (!aside->count && !aside->stopping)
		pthread_cond_wait(&aside->changed, &aside->mutex);
	found = aside->count && !aside->stopping;
	if (found) {
		*ret_next = aside->queue[aside->first];
		aside->first = (aside->first + 1) % MOST_WAITING;
		aside->count--;
	}
	pthread_mutex_unlock(&aside->mutex);
	return found;
}

static void *thread_run(void *data)
{
	struct aside *aside = data;
	struct waiting next;

	while (queue_next(aside, &next)) {
		struct http_answer answer = {.status = 200, .body = BUF_INIT(SIZE_MAX / 2)};

		aside->answer(aside->data, next.http, &answer);
		http_answer_now(next.pending, &answer);
	}
	return NULL;
}

int aside_start(aside_fn answer, void *data, struct aside **ret_aside, struct err *err)
{
	struct aside *aside = mem_new(1, sizeof(*aside));

	aside->answer = answer;
	aside->data = data;
	pthread_mutex_init(&aside->mutex, NULL);
	pthread_cond_init(&aside->changed, NULL);
	for (size_t i = 0; i < THREADS; i++) {
		if (pthread_create(&aside->threads[i], NULL, thread_run, aside) != 0) {
			aside_stop(aside);
			aside_free(aside);
			return err_set(err, ERR_INTERNAL, "no more threads");
		}
		aside->thread_count++;
	}
	*ret_aside = aside;
	return 0;
}

bool aside_take(struct aside *aside, const struct http_request *http)
{
	bool room;

	pthread_mutex_lock(&aside->mutex);
	room = aside->count < MOST_WAITING && !aside->stopping;
	if (room) {
		aside->queue[(aside->first + aside->count) % MOST_WAITING] =
			(struct waiting){.http = http, .pending = http_later(http)};
		aside->count++;
		pthread_cond_signal(&aside->changed);
	}
	pthread_mutex_unlock(&aside->mutex);
	return room;
}

static void refuse_waiting(struct aside *aside)
{
	for (; aside->count; aside->count--, aside->first = (aside->first + 1) % MOST_WAITING) {
		struct http_answer answer = {.status = 503, .body = BUF_INIT(SIZE_MAX / 2), .retry_after = "2"};

		http_answer_now(aside->queue[aside->first].pending, &answer);
	}
}

void aside_stop(struct aside *aside)
{
	if (!aside)
		return;
	pthread_mutex_lock(&aside->mutex);
	aside->stopping = true;
	pthread_cond_broadcast(&aside->changed);
	pthread_mutex_unlock(&aside->mutex);
	for (size_t i = 0; i < aside->thread_count; i++)
		pthread_join(aside->threads[i], NULL);
	aside->thread_count = 0;
	refuse_waiting(aside);
}

void aside_free(struct aside *aside)
{
	if (!aside)
		return;
	pthread_cond_destroy(&aside->changed);
	pthread_mutex_destroy(&aside->mutex);
	free(aside);
}
