/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/http/together.h"

#include <pthread.h>
#include <stdint.h>

#include "common/err.h"

enum { MOST_WAITING = 1024, MOST_THREADS = 4, LARGE = 1 << 20, BYTES_MOST = 16 << 20 };

struct together {
	struct together_spec spec;
	pthread_t threads[MOST_THREADS];
	int thread_count;
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	struct together_item items[MOST_WAITING];
	size_t first, count;
	bool stopping;
};

struct batch {
	struct together_item items[TOGETHER_MOST];
	struct http_answer answers[TOGETHER_MOST];
	size_t count;
};

/* Takes up to a batch of the queued items. Blocks while the queue is empty. The batch is empty after the stop. */
static void batch_take(struct together *together, struct batch *batch)
{
	size_t bytes = 0;

	pthread_mutex_lock(&together->mutex);
	while (!together->count && !together->stopping)
		pthread_cond_wait(&together->changed, &together->mutex);
	for (batch->count = 0; together->count && batch->count < together->spec.most && bytes < BYTES_MOST;
		batch->count++) {
		batch->items[batch->count] = together->items[together->first];
		batch->answers[batch->count] = (struct http_answer){.status = 200, .body = BUF_INIT(SIZE_MAX / 2)};
		bytes += batch->items[batch->count].http->body.len;
		together->first = (together->first + 1) % MOST_WAITING;
		together->count--;
	}
	pthread_mutex_unlock(&together->mutex);
}

static void *thread_run(void *data)
{
	struct together *together = data;
	_cleanup_(freep) struct batch *batch = mem_new(1, sizeof(*batch));

	for (batch_take(together, batch); batch->count; batch_take(together, batch)) {
		together->spec.answer(together->spec.data, batch->items, batch->answers, batch->count);
		for (size_t i = 0; i < batch->count; i++)
			if (batch->items[i].pending)
				http_answer_now(batch->items[i].pending, &batch->answers[i]);
	}
	return NULL;
}

int together_start(const struct together_spec *spec, struct together **ret_together, struct err *err)
{
	struct together *together = mem_new(1, sizeof(*together));

	together->spec = *spec;
	pthread_mutex_init(&together->mutex, NULL);
	pthread_cond_init(&together->changed, NULL);
	while (together->thread_count < spec->threads &&
		pthread_create(&together->threads[together->thread_count], NULL, thread_run, together) == 0)
		together->thread_count++;
	*ret_together = together;
	return together->thread_count == spec->threads ? 0 : err_set(err, ERR_INTERNAL, "no more threads");
}

/* The caller holds the lock. */
static bool room_for(const struct together *together)
{
	return together->count < MOST_WAITING && !together->stopping;
}

static void item_put(struct together *together, struct together_item item)
{
	together->items[(together->first + together->count++) % MOST_WAITING] = item;
	pthread_cond_signal(&together->changed);
}

bool together_take(struct together *together, struct together_item item)
{
	bool room;

	if (item.http->body.len > LARGE)
		return false;
	pthread_mutex_lock(&together->mutex);
	room = room_for(together);
	if (room) {
		item.pending = http_later(item.http);
		item_put(together, item);
	}
	pthread_mutex_unlock(&together->mutex);
	return room;
}

bool together_pass(struct together *together, struct together_item *item)
{
	bool room;

	pthread_mutex_lock(&together->mutex);
	room = item->pending && room_for(together);
	if (room) {
		item_put(together, *item);
		item->pending = NULL;
	}
	pthread_mutex_unlock(&together->mutex);
	return room;
}

void together_stop(struct together *together)
{
	bool stopped;

	if (!together)
		return;
	pthread_mutex_lock(&together->mutex);
	stopped = together->stopping;
	together->stopping = true;
	pthread_cond_broadcast(&together->changed);
	pthread_mutex_unlock(&together->mutex);
	for (int i = 0; !stopped && i < together->thread_count; i++)
		pthread_join(together->threads[i], NULL);
}

void together_free(struct together *together)
{
	if (!together)
		return;
	pthread_cond_destroy(&together->changed);
	pthread_mutex_destroy(&together->mutex);
	free(together);
}
