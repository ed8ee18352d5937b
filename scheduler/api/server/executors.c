/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/server/executors.h"

#include <string.h>

#include "scheduler/api/internal/results.h"
#include "scheduler/api/internal/uploads.h"
#include "scheduler/api/runs/creations.h"
#include "scheduler/api/server/answers.h"
#include "scheduler/api/server/exchange.h"
#include "scheduler/api/vcs/webhooks.h"
#include "scheduler/http/request_batcher.h"
#include "scheduler/store/content/contents.h"

enum { SLOW_THREADS = 4, LOCKED_THREADS = 4 };

static const struct batch *const batches[EXECUTOR_COUNT] = {
	[BATCH_RUNS] = &batch_runs,
	[BATCH_UPLOADS] = &batch_uploads,
	[BATCH_RESULTS] = &batch_results,
	[BATCH_DELIVERIES] = &batch_deliveries,
};

struct executors {
	struct thread_stores *stores;
	const struct services *services;
	struct request_batcher *queues[EXECUTOR_COUNT]; /* of the executors that block or are batches; or NULL */
	struct request_batcher *reads;                  /* slow requests that need content of the object store */
	struct request_batcher *locked; /* requests that wait for the lock of a workspace, in batches of one */
};

/* ---- in the calling thread, or in a thread that may block ---- */

/* Returns false if the request needs content that must be fetched first (store/content/contents.h). Nothing is answered
 * then. */
static bool request_try(struct executors *executors, const struct http_request *http, struct contents *contents,
	struct http_answer *answer)
{
	struct store *store = thread_store(executors->stores);
	struct exchange exchange;
	bool lacks;

	answer_reset(answer);
	exchange_init(&exchange, http, answer, store, executors->services);
	store->contents = contents;
	exchange_run(&exchange);
	store->contents = NULL;
	lacks = exchange.failed && contents->wanted.key[0];
	if (!lacks)
		exchange_answer(&exchange);
	exchange_release(&exchange);
	return !lacks;
}

static void blocking_run(void *data, const struct http_request *http, struct http_answer *answer)
{
	_cleanup_(contents_release) struct contents contents = {.count = 0};
	struct executors *executors = data;
	struct err err = ERR_INIT;

	while (!request_try(executors, http, &contents, answer)) {
		if (contents_fetch(&contents, executors->services->objects, &err) == 0)
			continue;
		answer_reset(answer);
		answer_refuse(http, answer, &err);
		return;
	}
}

static void slow_answer(void *data, struct batched_request *requests, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct http_answer answer = {.status = 200, .body = BUF_INIT(SIZE_MAX / 2)};

		blocking_run(data, requests[i].http, &answer);
		http_answer_now(requests[i].pending, &answer);
	}
}

static void hand_over(struct request_batcher *queue, const struct http_request *http, struct http_answer *answer)
{
	struct err err = ERR_INIT;

	if (request_batcher_take(queue, http, NULL))
		return;
	err_set(&err, ERR_UNAVAILABLE, "too many requests of this kind are waiting: try again");
	answer_reset(answer);
	answer_refuse(http, answer, &err);
}

static void inline_run(struct executors *executors, const struct http_request *http, struct http_answer *answer)
{
	struct contents none = {.count = 0};

	if (!request_try(executors, http, &none, answer))
		hand_over(executors->reads, http, answer);
}

/* ---- batches ---- */

static const struct batch *batch_of(const struct exchange *exchange)
{
	return batches[exchange->req.route->executor];
}

/* The answer is filled in *exchange. */
static struct exchange *batched_new(struct executors *executors, const struct http_request *http)
{
	const struct route *route = http->target;
	struct exchange *exchange = mem_new(1, sizeof(*exchange));
	struct batch_item *item = mem_new(1, batches[route->executor]->item_size);

	exchange_init(exchange, http, &exchange->answer, thread_store(executors->stores), executors->services);
	answer_reset(&exchange->answer);
	item->req = &exchange->req;
	item->res = &exchange->res;
	exchange->req.item = item;
	return exchange;
}

/* Takes the exchange and frees it, but not the content of its answer, which is returned. */
static struct http_answer batched_end(struct exchange *exchange)
{
	struct batch_item *item = exchange->req.item;
	const struct batch *batch = batch_of(exchange);
	struct http_answer answer;

	if (!exchange->failed) {
		exchange->failed = item->err.kind != ERR_NONE;
		exchange->err = item->err;
	}
	exchange_answer(exchange);
	answer = exchange->answer;
	exchange_release(exchange);
	if (batch->item_release)
		batch->item_release(item);
	free(item);
	free(exchange);
	return answer;
}

static void commit_alone(struct executors *executors, struct exchange *exchange)
{
	exchange->req.store = thread_store(executors->stores);
	batch_of(exchange)->commit_alone(exchange->req.store, exchange->req.item);
}

static void batched_send(struct batched_request *request)
{
	struct http_answer answer = batched_end(request->exchange);

	http_answer_now(request->pending, &answer);
}

static void locked_answer(void *data, struct batched_request *requests, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		commit_alone(data, requests[i].exchange);
		batched_send(&requests[i]);
	}
}

static void batch_answer(void *data, struct batched_request *requests, size_t count)
{
	struct batch_item *items[BATCHED_REQUESTS_MAX];
	struct executors *executors = data;
	struct store *store = thread_store(executors->stores);

	for (size_t i = 0; i < count; i++) {
		requests[i].exchange->req.store = store;
		items[i] = requests[i].exchange->req.item;
	}
	batch_of(requests[0].exchange)->commit(store, items, count);
	for (size_t i = 0; i < count; i++) {
		if (!items[i]->locked)
			batched_send(&requests[i]);
		else if (!request_batcher_move(executors->locked, &requests[i]))
			locked_answer(executors, &requests[i], 1);
	}
}

/* The calling thread checks the request. The commit is batched. */
static void batch_run(struct executors *executors, const struct http_request *http, struct http_answer *answer)
{
	struct exchange *exchange = batched_new(executors, http);
	struct request *req = &exchange->req;

	exchange_run(exchange);
	req->store->scope = NULL;
	if (!exchange->failed) {
		if (!req->item->alone && request_batcher_take(executors->queues[req->route->executor], http, exchange))
			return;
		commit_alone(executors, exchange);
	}
	*answer = batched_end(exchange);
}

/* True if the request may need a lookup at a VCS provider. A body with a backslash counts, because JSON can write the
 * member's name with escapes. */
static bool looks_up(const struct route *route, const struct http_request *http)
{
	static const char member[] = "\"vcs-repo\"";
	const struct buf *body = &http->body;

	return route->executor == BLOCKING_LOOKUP && body->len &&
		(memmem(body->data, body->len, member, strlen(member)) || memchr(body->data, '\\', body->len));
}

void executors_run(struct executors *executors, const struct http_request *http, struct http_answer *answer)
{
	const struct route *route = http->target;

	if (route && route_is_batched(route))
		batch_run(executors, http, answer);
	else if (route && route_blocks(route))
		hand_over(executors->queues[route->executor], http, answer);
	else if (route && looks_up(route, http))
		hand_over(executors->queues[BLOCKING_CALL], http, answer);
	else
		inline_run(executors, http, answer);
}

/* ---- start and stop ---- */

static int queues_start(struct executors *executors, struct err *err)
{
	static const enum executor blocking[] = {BLOCKING_CALL, BLOCKING_PASSWORD, BLOCKING_DOCUMENT};
	const struct request_batcher_spec slow = {slow_answer, executors, SLOW_THREADS, 1, true};
	const struct request_batcher_spec locked = {locked_answer, executors, LOCKED_THREADS, 1, false};

	for (size_t i = 0; i < ARRAY_LEN(blocking); i++)
		if (request_batcher_start(&slow, &executors->queues[blocking[i]], err) < 0)
			return -1;
	for (size_t i = 0; i < EXECUTOR_COUNT; i++) {
		struct request_batcher_spec spec = {batch_answer, executors, 0, BATCHED_REQUESTS_MAX, false};

		if (!batches[i])
			continue;
		spec.threads = batches[i]->threads;
		if (request_batcher_start(&spec, &executors->queues[i], err) < 0)
			return -1;
	}
	if (request_batcher_start(&slow, &executors->reads, err) < 0)
		return -1;
	return request_batcher_start(&locked, &executors->locked, err);
}

int executors_start(struct thread_stores *stores, const struct services *services, struct executors **ret_executors,
	struct err *err)
{
	struct executors *executors = mem_new(1, sizeof(*executors));

	executors->stores = stores;
	executors->services = services;
	if (queues_start(executors, err) == 0) {
		*ret_executors = executors;
		return 0;
	}
	executors_stop(executors);
	executors_free(executors);
	return -1;
}

/* A batch may move requests to `locked`, which stops last. */
void executors_stop(struct executors *executors)
{
	if (!executors)
		return;
	for (size_t i = 0; i < EXECUTOR_COUNT; i++)
		request_batcher_stop(executors->queues[i]);
	request_batcher_stop(executors->reads);
	request_batcher_stop(executors->locked);
}

void executors_free(struct executors *executors)
{
	if (!executors)
		return;
	for (size_t i = 0; i < EXECUTOR_COUNT; i++)
		request_batcher_free(executors->queues[i]);
	request_batcher_free(executors->reads);
	request_batcher_free(executors->locked);
	free(executors);
}
