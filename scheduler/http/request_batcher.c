/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/http/request_batcher.h"

#include <pthread.h>

#include "common/err.h"
#include "common/loop/progress.h"

enum { MAX_WAITING = 1024, MAX_WAITING_SLOW = 64, MAX_THREADS = 4, LARGE = 1 << 20, MAX_BYTES = 16 << 20 };

struct request_batcher {
	struct request_batcher_spec spec;
	pthread_t threads[MAX_THREADS];
	int thread_count;
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	struct batched_request requests[MAX_WAITING];
	size_t first, count;
	bool stopping;
};

/* The caller holds the lock. */
static struct batched_request request_pop(struct request_batcher *batcher)
{
	struct batched_request request = batcher->requests[batcher->first];

	batcher->first = (batcher->first + 1) % MAX_WAITING;
	batcher->count--;
	return request;
}

/* Takes the requests of the next batch out of the queue. Blocks while the queue is empty. Returns 0 after the stop. */
static size_t requests_take(struct request_batcher *batcher, struct batched_request *requests)
{
	size_t bytes = 0, count, left;

	pthread_mutex_lock(&batcher->mutex);
	while (!batcher->count && !batcher->stopping)
		pthread_cond_wait(&batcher->changed, &batcher->mutex);
	left = batcher->spec.slow && batcher->stopping ? 0 : batcher->count;
	for (count = 0; count < left && count < batcher->spec.max && bytes < MAX_BYTES; count++) {
		requests[count] = request_pop(batcher);
		bytes += requests[count].http->body.len;
	}
	pthread_mutex_unlock(&batcher->mutex);
	return count;
}

static void *thread_run(void *data)
{
	struct request_batcher *batcher = data;
	struct batched_request requests[BATCHED_REQUESTS_MAX];
	size_t count;

	while ((count = requests_take(batcher, requests))) {
		if (!batcher->spec.slow)
			progress_busy("request batch");
		batcher->spec.answer(batcher->spec.data, requests, count);
		progress_idle();
	}
	return NULL;
}

int request_batcher_start(
	const struct request_batcher_spec *spec, struct request_batcher **ret_batcher, struct err *err)
{
	struct request_batcher *batcher = mem_new(1, sizeof(*batcher));

	batcher->spec = *spec;
	pthread_mutex_init(&batcher->mutex, NULL);
	pthread_cond_init(&batcher->changed, NULL);
	while (batcher->thread_count < spec->threads &&
		pthread_create(&batcher->threads[batcher->thread_count], NULL, thread_run, batcher) == 0)
		batcher->thread_count++;
	*ret_batcher = batcher;
	return batcher->thread_count == spec->threads ? 0 : err_set(err, ERR_INTERNAL, "no more threads");
}

/* The caller holds the lock. */
static bool room_for(const struct request_batcher *batcher)
{
	return batcher->count < (batcher->spec.slow ? MAX_WAITING_SLOW : MAX_WAITING) && !batcher->stopping;
}

static void request_put(struct request_batcher *batcher, struct batched_request request)
{
	batcher->requests[(batcher->first + batcher->count++) % MAX_WAITING] = request;
	pthread_cond_signal(&batcher->changed);
}

bool request_batcher_take(struct request_batcher *batcher, const struct http_request *http, struct exchange *exchange)
{
	bool room;

	if (http->body.len > LARGE && !batcher->spec.slow)
		return false;
	pthread_mutex_lock(&batcher->mutex);
	room = room_for(batcher);
	if (room)
		request_put(batcher, (struct batched_request){http, exchange, http_later(http)});
	pthread_mutex_unlock(&batcher->mutex);
	return room;
}

bool request_batcher_move(struct request_batcher *batcher, struct batched_request *request)
{
	bool room;

	pthread_mutex_lock(&batcher->mutex);
	room = room_for(batcher);
	if (room) {
		request_put(batcher, *request);
		request->pending = NULL;
	}
	pthread_mutex_unlock(&batcher->mutex);
	return room;
}

static void refuse(struct batched_request request)
{
	struct http_answer answer = {.status = 503, .body = BUF_INIT(SIZE_MAX / 2), .retry_after = "2"};

	http_answer_now(request.pending, &answer);
}

void request_batcher_stop(struct request_batcher *batcher)
{
	bool stopped;

	if (!batcher)
		return;
	pthread_mutex_lock(&batcher->mutex);
	stopped = batcher->stopping;
	batcher->stopping = true;
	pthread_cond_broadcast(&batcher->changed);
	pthread_mutex_unlock(&batcher->mutex);
	for (int i = 0; !stopped && i < batcher->thread_count; i++)
		pthread_join(batcher->threads[i], NULL);
	while (batcher->count)
		refuse(request_pop(batcher));
}

void request_batcher_free(struct request_batcher *batcher)
{
	if (!batcher)
		return;
	pthread_cond_destroy(&batcher->changed);
	pthread_mutex_destroy(&batcher->mutex);
	free(batcher);
}
