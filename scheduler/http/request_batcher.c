/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/http/request_batcher.h"

#include <pthread.h>
#include <stdint.h>

#include "common/err.h"

enum { MAX_WAITING = 1024, MAX_THREADS = 4, LARGE = 1 << 20, MAX_BYTES = 16 << 20 };

struct request_batcher {
	struct request_batcher_spec spec;
	pthread_t threads[MAX_THREADS];
	int thread_count;
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	struct batched_request items[MAX_WAITING];
	size_t first, count;
	bool stopping;
};

struct batch {
	struct batched_request items[BATCHED_REQUESTS_MAX];
	struct http_answer answers[BATCHED_REQUESTS_MAX];
	size_t count;
};

/* Takes up to a batch of the queued items. Blocks while the queue is empty. The batch is empty after the stop. */
static void batch_take(struct request_batcher *batcher, struct batch *batch)
{
	size_t bytes = 0;

	pthread_mutex_lock(&batcher->mutex);
	while (!batcher->count && !batcher->stopping)
		pthread_cond_wait(&batcher->changed, &batcher->mutex);
	for (batch->count = 0; batcher->count && batch->count < batcher->spec.most && bytes < MAX_BYTES;
		batch->count++) {
		batch->items[batch->count] = batcher->items[batcher->first];
		batch->answers[batch->count] = (struct http_answer){.status = 200, .body = BUF_INIT(SIZE_MAX / 2)};
		bytes += batch->items[batch->count].http->body.len;
		batcher->first = (batcher->first + 1) % MAX_WAITING;
		batcher->count--;
	}
	pthread_mutex_unlock(&batcher->mutex);
}

static void *thread_run(void *data)
{
	struct request_batcher *batcher = data;
	_cleanup_(freep) struct batch *batch = mem_new(1, sizeof(*batch));

	for (batch_take(batcher, batch); batch->count; batch_take(batcher, batch)) {
		batcher->spec.answer(batcher->spec.data, batch->items, batch->answers, batch->count);
		for (size_t i = 0; i < batch->count; i++)
			if (batch->items[i].pending)
				http_answer_now(batch->items[i].pending, &batch->answers[i]);
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
	return batcher->count < MAX_WAITING && !batcher->stopping;
}

static void item_put(struct request_batcher *batcher, struct batched_request item)
{
	batcher->items[(batcher->first + batcher->count++) % MAX_WAITING] = item;
	pthread_cond_signal(&batcher->changed);
}

bool request_batcher_take(struct request_batcher *batcher, struct batched_request item)
{
	bool room;

	if (item.http->body.len > LARGE)
		return false;
	pthread_mutex_lock(&batcher->mutex);
	room = room_for(batcher);
	if (room) {
		item.pending = http_later(item.http);
		item_put(batcher, item);
	}
	pthread_mutex_unlock(&batcher->mutex);
	return room;
}

bool request_batcher_pass(struct request_batcher *batcher, struct batched_request *item)
{
	bool room;

	pthread_mutex_lock(&batcher->mutex);
	room = item->pending && room_for(batcher);
	if (room) {
		item_put(batcher, *item);
		item->pending = NULL;
	}
	pthread_mutex_unlock(&batcher->mutex);
	return room;
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
}

void request_batcher_free(struct request_batcher *batcher)
{
	if (!batcher)
		return;
	pthread_cond_destroy(&batcher->changed);
	pthread_mutex_destroy(&batcher->mutex);
	free(batcher);
}
