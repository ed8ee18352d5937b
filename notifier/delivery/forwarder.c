/* SPDX-License-Identifier: MPL-2.0 */
#include "notifier/delivery/forwarder.h"

#include <string.h>

#include "common/buf.h"
#include "common/http/fetch.h"
#include "common/loop/loop.h"
#include "common/loop/retry.h"
#include "notifier/delivery/outcome.h"
#include "notifier/scheduler_client/scheduler.h"

/*
 * Two calls, at most one of each at a time:
 *
 *  - `forwards` adds requests. It is repeated until it succeeds; the scheduler adds each request once.
 *  - `forwards/wait` waits for answers to added requests, and names the answers that were read. When requests were
 *    added meanwhile, it is aborted and sent again with their ids; the scheduler then ends the earlier one.
 */

enum { LINGER_MS = 5, MAX_ADDED = 16, MAX_BYTES = 4 << 20, MAX_AWAITED = 8000, MAX_DONE = 8000 };

struct forwarder {
	struct forwarder_spec spec;
	struct id receiver;              /* names this process */
	struct table running;            /* by id */
	struct forwarding *head, **tail; /* those that the scheduler has not accepted, oldest first */
	struct fetch *adding, *waiting;
	json_t *done; /* ids of answers that were read; NULL: none */
	struct loop_timer add_timer, wait_timer;
	int add_failures, wait_failures;
};

struct forwarding {
	struct table_entry entry;
	struct id id;
	struct delivery *delivery;
	struct forwarder *forwarder;
	bool in_call, accepted;
	struct forwarding *next; /* in the queue */
};

static void add_send(void *data);
static void wait_send(void *data);

bool forwarding_opens(const struct forwarding *forwarding)
{
	return !forwarding->accepted;
}

static struct loop *loop_of(const struct forwarder *forwarder)
{
	return forwarder->spec.scheduler->loop;
}

static void add_soon(struct forwarder *forwarder, int64_t ms)
{
	if (forwarder->head && !forwarder->adding && !forwarder->add_timer.due_ms)
		loop_timer_set(loop_of(forwarder), &forwarder->add_timer, ms, add_send, forwarder);
}

static void wait_soon(struct forwarder *forwarder, int64_t ms)
{
	if (!forwarder->wait_timer.due_ms)
		loop_timer_set(loop_of(forwarder), &forwarder->wait_timer, ms, wait_send, forwarder);
}

/* ---- one request ---- */

static void queue_remove(struct forwarder *forwarder, struct forwarding *forwarding)
{
	struct forwarding **at = &forwarder->head;

	while (*at && *at != forwarding)
		at = &(*at)->next;
	if (!*at)
		return;
	*at = forwarding->next;
	if (!*at)
		forwarder->tail = at;
}

static void forwarding_free(struct forwarding *forwarding)
{
	struct forwarder *forwarder = forwarding->forwarder;

	if (!forwarding->accepted)
		queue_remove(forwarder, forwarding);
	table_remove(&forwarder->running, &forwarding->entry);
	forwarding->delivery->forwarding = NULL;
	free(forwarding);
}

/* The scheduler deletes a request whose id is here, also if no worker has claimed it yet. An id that is left out is
 * deleted when it expires. */
static void done_add(struct forwarder *forwarder, const char *id)
{
	if (!forwarder->done)
		forwarder->done = json_array();
	if (json_array_size(forwarder->done) < MAX_DONE)
		json_array_append_new(forwarder->done, json_string(id));
	wait_soon(forwarder, LINGER_MS);
}

static void body_decode(const struct delivery *delivery, const json_t *answer, struct buf *ret_bytes)
{
	const char *text = json_string_at(answer, "body");

	if (text && strlen(text) <= 2 * delivery_answer_limit(delivery) && crypto_base64_decode(text, ret_bytes) < 0)
		buf_reset(ret_bytes);
}

/* The status of an answer that was too large counts unless the whole answer is needed. */
static void forwarding_end(struct forwarding *forwarding, const json_t *answer)
{
	struct delivery *delivery = forwarding->delivery;
	bool too_large = json_bool_at(answer, "too-large", false);
	long long retry_after = json_int_at(answer, "retry-after", 0);
	_cleanup_(buf_release) struct buf bytes = BUF_INIT(delivery_answer_limit(delivery));
	const struct outcome outcome = {
		.status = too_large && delivery->kind->one_call ? 0 : (int)json_int_at(answer, "status", 0),
		.seconds = json_number_value(json_object_get(answer, "seconds")),
		.error = too_large ? delivery_too_large(delivery) : json_string_at(answer, "error"),
		.headers = delivery->kind->shows_headers ? json_object_get(answer, "headers") : NULL,
		.internal = json_bool_at(answer, "internal", false),
		.retry_after = retry_after > 0 && retry_after < INT32_MAX ? (int)retry_after : 0,
		.forbidden = json_bool_at(answer, "forbidden", false),
		.unserved = json_bool_at(answer, "unserved", false)};

	body_decode(delivery, answer, &bytes);
	delivery_ended(delivery, outcome, &bytes, &forwarding->forwarder->spec.events);
	forwarding_free(forwarding);
}

static struct forwarding *find(const struct forwarder *forwarder, const char *id)
{
	struct table_entry *entry = table_find(&forwarder->running, text_or_empty(id));

	return entry ? table_owner(entry, struct forwarding, entry) : NULL;
}

/* ---- adding ---- */

static json_t *request_of(const struct forwarder *forwarder, const struct delivery *delivery)
{
	return json_pack("{ss ss so so sI sI sI}", "method", delivery->method ? delivery->method : "POST", "url",
		delivery_url(delivery), "headers", sender_headers(forwarder->spec.sender, delivery), "body",
		json_string_or_null(delivery->body_len || !delivery->kind->one_call ? delivery->body : NULL),
		"connect-ms", (json_int_t)forwarder->spec.connect_ms, "response-ms",
		(json_int_t)forwarder->spec.response_ms, "answer-limit", (json_int_t)delivery_answer_limit(delivery));
}

/* Accepts what the call had. */
static void added(struct forwarder *forwarder, const json_t *refused)
{
	struct forwarding *forwarding, *next;
	const json_t *refusal;
	size_t i;

	json_array_foreach(refused, i, refusal)
	{
		forwarding = find(forwarder, json_string_at(refusal, "id"));
		if (forwarding)
			forwarding_end(forwarding, refusal);
	}
	for (forwarding = forwarder->head; forwarding; forwarding = next) {
		next = forwarding->next;
		if (!forwarding->in_call)
			continue;
		queue_remove(forwarder, forwarding);
		forwarding->accepted = true;
		forwarder->spec.events.opened(forwarder->spec.events.data, forwarding->delivery);
		wait_soon(forwarder, LINGER_MS);
	}
}

/* The scheduler rejects what the call had: a repetition would fail as well. */
static void add_refused(struct forwarder *forwarder)
{
	json_auto_t *refusal = json_pack(
		"{ss sb}", "error", "the scheduler does not accept the request: it may be too large", "forbidden", 1);
	struct forwarding *forwarding, *next;

	for (forwarding = forwarder->head; forwarding; forwarding = next) {
		next = forwarding->next;
		if (forwarding->in_call)
			forwarding_end(forwarding, refusal);
	}
}

static void add_answered(void *data, struct fetch_answer *answer)
{
	struct forwarder *forwarder = data;
	json_auto_t *value = scheduler_answer(forwarder->spec.scheduler, answer);
	bool refused = answer->status == 400 || answer->status == 413 || answer->status == 422;
	int64_t wait = 0;

	forwarder->adding = NULL;
	forwarder->add_failures = value || refused ? 0 : forwarder->add_failures + 1;
	if (value)
		added(forwarder, json_object_get(value, "refused"));
	else if (refused)
		add_refused(forwarder);
	else
		wait = retry_wait(&retry_scheduler, forwarder->add_failures, answer->retry_after, chance());
	add_soon(forwarder, wait);
}

static void add_send(void *data)
{
	struct forwarder *forwarder = data;
	json_t *requests = json_array();
	size_t bytes = 0;

	for (struct forwarding *at = forwarder->head; at; at = at->next) {
		bytes += at->delivery->body_len;
		at->in_call = json_array_size(requests) < MAX_ADDED && (bytes < MAX_BYTES || at == forwarder->head);
		if (at->in_call)
			json_array_append_new(requests,
				json_pack("{ss ss so}", "id", at->id.text, "pool", at->delivery->pool, "request",
					request_of(forwarder, at->delivery)));
	}
	if (!json_array_size(requests)) {
		json_decref(requests);
		return;
	}
	forwarder->adding = scheduler_post_json(forwarder->spec.scheduler, "forwards",
		json_pack("{ss so}", "receiver", forwarder->receiver.text, "requests", requests), add_answered,
		forwarder);
}

/* ---- waiting ---- */

static void awaited_add(void *data, struct table_entry *entry)
{
	const struct forwarding *forwarding = table_owner(entry, struct forwarding, entry);

	if (forwarding->accepted && json_array_size(data) < MAX_AWAITED)
		json_array_append_new(data, json_string(forwarding->id.text));
}

static void wait_answered(void *data, struct fetch_answer *answer)
{
	struct forwarder *forwarder = data;
	json_auto_t *value = scheduler_answer(forwarder->spec.scheduler, answer);
	const json_t *item;
	int64_t wait = 0;
	size_t i;

	forwarder->waiting = NULL;
	forwarder->wait_failures = value ? 0 : forwarder->wait_failures + 1;
	if (value) {
		json_decref(forwarder->done);
		forwarder->done = NULL;
	} else {
		wait = retry_wait(&retry_scheduler, forwarder->wait_failures, answer->retry_after, chance());
	}
	json_array_foreach(json_object_get(value, "answers"), i, item)
	{
		struct forwarding *forwarding = find(forwarder, json_string_at(item, "id"));

		if (forwarding)
			forwarding_end(forwarding, item);
		done_add(forwarder, text_or_empty(json_string_at(item, "id")));
	}
	wait_soon(forwarder, wait);
}

/* Without an answer to a wait that was aborted, what it had as done is sent again. */
static void wait_send(void *data)
{
	struct forwarder *forwarder = data;
	json_t *awaited = json_array();

	fetch_abort(forwarder->waiting);
	forwarder->waiting = NULL;
	table_each(&forwarder->running, awaited_add, awaited);
	if (!json_array_size(awaited) && !forwarder->done) {
		json_decref(awaited);
		return;
	}
	forwarder->waiting = scheduler_poll_json(forwarder->spec.scheduler, "forwards/wait",
		json_pack("{ss so so}", "receiver", forwarder->receiver.text, "awaited", awaited, "done",
			forwarder->done ? json_copy(forwarder->done) : json_array()),
		wait_answered, forwarder);
}

/* ---- public functions ---- */

struct forwarder *forwarder_new(const struct forwarder_spec *spec)
{
	struct forwarder *forwarder = mem_new(1, sizeof(*forwarder));

	forwarder->spec = *spec;
	forwarder->receiver = id_new("fwdr");
	forwarder->tail = &forwarder->head;
	return forwarder;
}

static void entry_free(void *data, struct table_entry *entry)
{
	(void)data;
	forwarding_free(table_owner(entry, struct forwarding, entry));
}

void forwarder_free(struct forwarder *forwarder)
{
	if (!forwarder)
		return;
	table_each(&forwarder->running, entry_free, NULL);
	table_release(&forwarder->running);
	fetch_abort(forwarder->adding);
	fetch_abort(forwarder->waiting);
	loop_timer_clear(loop_of(forwarder), &forwarder->add_timer);
	loop_timer_clear(loop_of(forwarder), &forwarder->wait_timer);
	json_decref(forwarder->done);
	free(forwarder);
}

void forwarder_start(struct forwarder *forwarder, struct delivery *delivery)
{
	struct forwarding *forwarding = mem_new(1, sizeof(*forwarding));

	forwarding->id = id_new("fwd");
	forwarding->delivery = delivery;
	forwarding->forwarder = forwarder;
	delivery->forwarding = forwarding;
	table_add(&forwarder->running, &forwarding->entry, forwarding->id.text);
	*forwarder->tail = forwarding;
	forwarder->tail = &forwarding->next;
	add_soon(forwarder, LINGER_MS);
}

void forwarder_abort(struct forwarder *forwarder, struct delivery *delivery)
{
	if (!delivery->forwarding)
		return;
	if (delivery->forwarding->accepted || delivery->forwarding->in_call)
		done_add(forwarder, delivery->forwarding->id.text);
	forwarding_free(delivery->forwarding);
}
