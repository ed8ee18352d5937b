/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/scheduler_client/forwards.h"

#include <string.h>

#include "common/clock.h"
#include "common/crypto.h"
#include "common/err.h"
#include "common/http/fetch.h"
#include "common/http/guard.h"
#include "common/ids.h"
#include "common/log.h"
#include "common/loop/retry.h"
#include "worker/metrics.h"
#include "worker/runtime/worker.h"
#include "worker/scheduler_client/scheduler.h"

/* An answer is offered to the scheduler for about as long as it waits for it. */
enum { MAX_FORWARDS = 64, MAX_CLAIMED = 16, MAX_ANSWER = 2 << 20, MAX_TIME_MS = 600 * 1000, OFFER_MS = 10 * 1000 };

struct forwards {
	struct worker *worker;
	struct guard *guard;
	struct fetcher *fetcher; /* for requests to services */
	struct forward *first;
	size_t busy;
	struct fetch *claiming;
	struct loop_timer timer;
	struct backoff backoff;
};

/* One request, from its claim until the scheduler has its answer. */
struct forward {
	struct forwards *forwards;
	struct id id;
	int64_t began_ms, ended_ms;
	struct fetch *fetch; /* to the service, then to the scheduler */
	json_t *answer;      /* NULL: the service has not answered */
	struct backoff backoff;
	struct loop_timer timer;
	struct forward *next, **at;
};

static void claim_send(void *data);
static void answer_send(void *data);

size_t forwards_busy(const struct forwards *forwards)
{
	return forwards ? forwards->busy : 0;
}

static void forward_free(struct forward *forward)
{
	struct forwards *forwards = forward->forwards;

	*forward->at = forward->next;
	if (forward->next)
		forward->next->at = forward->at;
	forwards->busy--;
	loop_timer_clear(forwards->worker->loop, &forward->timer);
	fetch_abort(forward->fetch);
	json_decref(forward->answer);
	free(forward);
}

/* ---- answers ---- */

static void forward_end(struct forward *forward)
{
	struct forwards *forwards = forward->forwards;

	forward_free(forward);
	forwards_go_on(forwards);
	drain_check(forwards->worker);
}

/* 404: the scheduler has given up on the request. */
static void answer_taken(void *data, struct fetch_answer *answer)
{
	struct forward *forward = data;
	bool passing = answer->status == 0 || answer->status == 429 || answer->status >= 500;

	forward->fetch = NULL;
	if (passing && clock_mono_ms() - forward->ended_ms < OFFER_MS)
		loop_timer_set(forward->forwards->worker->loop, &forward->timer,
			backoff_next(&forward->backoff, answer->retry_after), answer_send, forward);
	else
		forward_end(forward);
}

static void answer_send(void *data)
{
	struct forward *forward = data;
	struct scheduler *scheduler = forward->forwards->worker->scheduler;
	_cleanup_(freep) char *path = mem_printf("forwards/%s/answer", forward->id.text);
	struct scheduler_call call = {.path = path};

	if (!scheduler_worker(scheduler)) {
		forward_end(forward);
		return;
	}
	call.body = json_pack("{ss sO}", "worker", scheduler_worker(scheduler), "answer", forward->answer);
	forward->fetch = scheduler_post(scheduler, &call, answer_taken, forward);
}

static const char *outcome_of(const struct fetch_answer *answer)
{
	if (answer->forbidden)
		return "forbidden";
	return answer->status || answer->cut_status ? "answered" : "unanswered";
}

static json_t *answer_new(const struct forward *forward, const struct fetch_answer *answer)
{
	_cleanup_(freep) char *body = crypto_base64(answer->body.data, answer->body.len);

	return json_pack("{si sf so sO ss sb sb sb si}", "status", answer->status ? answer->status : answer->cut_status,
		"seconds", (double)(forward->ended_ms - forward->began_ms) / 1000, "error",
		json_string_or_null(answer->error), "headers", answer->headers, "body", body, "internal",
		answer->listed, "forbidden", answer->forbidden, "too-large", answer->too_large, "retry-after",
		answer->retry_after);
}

static void service_answered(void *data, struct fetch_answer *answer)
{
	struct forward *forward = data;

	forward->fetch = NULL;
	forward->ended_ms = clock_mono_ms();
	forward->answer = answer_new(forward, answer);
	metric_addf(M_FORWARDS, 1, "outcome=\"%s\"", outcome_of(answer));
	answer_send(forward);
}

/* ---- requests ---- */

/* NULL for any other: it is a part of a request line. */
static const char *method_of(const json_t *request)
{
	static const char *const methods[] = {"GET", "POST", "PUT", "PATCH", "DELETE"};

	for (size_t i = 0; i < ARRAY_LEN(methods); i++)
		if (text_equal(json_string_at(request, "method"), methods[i]))
			return methods[i];
	return NULL;
}

static long long bounded(const json_t *request, const char *name, long long max)
{
	long long value = json_int_at(request, name, max);

	return value > 0 && value < max ? value : max;
}

static void forward_start(struct forwards *forwards, const json_t *claimed)
{
	const json_t *request = json_object_get(claimed, "request");
	const char *id = json_string_at(claimed, "id"), *body = json_string_at(request, "body");
	struct fetch_request fetch = {.method = method_of(request),
		.url = json_string_at(request, "url"),
		.body = body,
		.body_len = body ? strlen(body) : 0,
		.headers = json_object_get(request, "headers"),
		.guard = forwards->guard};
	struct forward *forward;

	if (!fetch.method || !fetch.url || !id_valid(text_or_empty(id), "fwd") || forwards->busy >= MAX_FORWARDS) {
		log_error("the scheduler gave a request that can't be read, or was not asked for", NULL);
		return;
	}
	forward = mem_new(1, sizeof(*forward));
	*forward = (struct forward){
		.forwards = forwards, .began_ms = clock_mono_ms(), .next = forwards->first, .at = &forwards->first};
	text_copy(forward->id.text, sizeof(forward->id.text), id);
	if (forward->next)
		forward->next->at = &forward->next;
	forwards->first = forward;
	forwards->busy++;
	fetch.connect_ms = (long)bounded(request, "connect-ms", MAX_TIME_MS);
	fetch.timeout_ms = fetch.connect_ms + (long)bounded(request, "response-ms", MAX_TIME_MS);
	fetch.answer_limit = (size_t)bounded(request, "answer-limit", MAX_ANSWER);
	forward->fetch = fetch_start(forwards->fetcher, &fetch, service_answered, forward);
}

/* ---- claims ---- */

static void claim_later(struct forwards *forwards, int64_t after_ms)
{
	loop_timer_set(forwards->worker->loop, &forwards->timer, after_ms, claim_send, forwards);
}

static void claim_heard(struct forwards *forwards, const struct fetch_answer *answer)
{
	json_auto_t *value = NULL;
	struct err err = ERR_INIT;
	const json_t *item;
	size_t i;

	if (json_parse(buf_str(&answer->body), answer->body.len, &value, &err) < 0) {
		log_error("the scheduler's answer to a claim of requests can't be read", "why", err.message, NULL);
		claim_later(forwards, backoff_next(&forwards->backoff, 0));
		return;
	}
	forwards->backoff.failures = 0;
	json_array_foreach(json_at(value, "requests"), i, item) forward_start(forwards, item);
	forwards_go_on(forwards);
}

/* A scheduler of an earlier version answers 404, as one that does not know this worker any more does. The heartbeat
 * tells the difference. */
static void claim_answered(void *data, struct fetch_answer *answer)
{
	struct forwards *forwards = data;

	forwards->claiming = NULL;
	if (answer->status == 200)
		claim_heard(forwards, answer);
	else
		claim_later(forwards, backoff_next(&forwards->backoff, answer->retry_after));
}

/* A full disk does not matter, unlike for jobs. */
static bool may_claim(const struct forwards *forwards)
{
	const struct worker *worker = forwards->worker;

	return !forwards->claiming && forwards->busy < MAX_FORWARDS && worker->drain == DRAIN_NONE && !worker->paused &&
		scheduler_worker(worker->scheduler);
}

static void claim_send(void *data)
{
	struct forwards *forwards = data;
	struct worker *worker = forwards->worker;
	struct scheduler_call call = {.path = "forwards/claim", .timeout_ms = SCHEDULER_POLL_MS};
	size_t room = MAX_FORWARDS - forwards->busy;

	if (!may_claim(forwards))
		return;
	loop_timer_clear(worker->loop, &forwards->timer);
	call.body = json_pack("{ss sI}", "worker", scheduler_worker(worker->scheduler), "max",
		(json_int_t)(room < MAX_CLAIMED ? room : MAX_CLAIMED));
	forwards->claiming = scheduler_post(worker->scheduler, &call, claim_answered, forwards);
}

void forwards_go_on(struct forwards *forwards)
{
	if (forwards && forwards->timer.due_ms == 0)
		claim_send(forwards);
}

void forwards_stop(struct forwards *forwards)
{
	if (!forwards)
		return;
	fetch_abort(forwards->claiming);
	forwards->claiming = NULL;
}

void forwards_give_up(struct forwards *forwards)
{
	while (forwards && forwards->first)
		forward_free(forwards->first);
}

/* ---- its life ---- */

void forwards_free(struct forwards *forwards)
{
	if (!forwards)
		return;
	forwards_stop(forwards);
	forwards_give_up(forwards);
	loop_timer_clear(forwards->worker->loop, &forwards->timer);
	fetcher_free(forwards->fetcher);
	guard_free(forwards->guard);
	free(forwards);
}

int forwards_open(struct worker *worker, struct forwards **ret_forwards, struct err *err)
{
	const struct options *options = &worker->options;
	struct guard *guard = NULL;
	struct forwards *forwards;

	if (guard_parse(options->vcs_allow, &guard, err) < 0)
		return err_context(err, "--vcs-allow");
	if (!options->request_forwarding || options->once || options->deliver) {
		guard_free(guard);
		return 0;
	}
	forwards = mem_new(1, sizeof(*forwards));
	*forwards = (struct forwards){.worker = worker, .guard = guard, .fetcher = fetcher_new(worker->loop)};
	log_info("request forwarding is enabled: requests of run tasks and to VCS providers are sent from here", NULL);
	*ret_forwards = forwards;
	return 0;
}
