/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/lease.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/fetch.h"
#include "common/log.h"
#include "worker/claim.h"
#include "worker/metrics.h"
#include "worker/ship/backoff.h"
#include "worker/tickets.h"
#include "worker/worker.h"

enum { LEASE_MS = 60 * 1000, POST_MS = 20 * 1000, LEAVE_MS = 2000 };

struct lease {
	struct worker *worker;
	char *id; /* of this worker; NULL: not registered */
	int64_t lease_ms;
	int64_t renewed_ms; /* when the last heartbeat that succeeded was sent */
	int64_t sent_ms;
	struct fetch *registering, *beating, *leaving;
	struct loop_timer timer; /* the next registration or heartbeat */
	struct backoff backoff;
	bool complained; /* about a scheduler that can't be reached; once, until it can */
	atomic_bool ready;
	loop_timer_fn left;
	void *left_data;
	struct loop_timer leave_timer;
};

static void beat(void *data);

struct lease *lease_new(struct worker *worker)
{
	struct lease *lease = mem_new(1, sizeof(*lease));

	lease->worker = worker;
	lease->lease_ms = LEASE_MS;
	return lease;
}

void lease_free(struct lease *lease)
{
	if (!lease)
		return;
	loop_timer_clear(lease->worker->loop, &lease->timer);
	loop_timer_clear(lease->worker->loop, &lease->leave_timer);
	fetch_abort(lease->registering);
	fetch_abort(lease->beating);
	fetch_abort(lease->leaving);
	free(lease->id);
	free(lease);
}

const char *lease_worker(const struct lease *lease)
{
	return lease->id;
}

bool lease_ready(const struct lease *lease)
{
	return atomic_load(&lease->ready);
}

struct fetch *lease_post(
	struct worker *worker, const char *path, json_t *body, void (*fn)(void *, struct fetch_answer *), void *data)
{
	_cleanup_(freep) char *url = mem_printf("%s/api/worker/v1/%s", worker->options.scheduler_url, path);
	_cleanup_(freep) char *text = json_text(body);
	const struct fetch_request request = {
		.method = "POST",
		.url = url,
		.bearer = worker->options.agent_token,
		.content_type = "application/json",
		.body = text,
		.body_len = strlen(text),
		.answer_limit = (size_t)64 * 1024 * 1024,
		.timeout_ms = POST_MS,
	};

	json_decref(body);
	return fetch_start(worker->fetcher, &request, fn, data);
}

/* ---- registration ---- */

static void complain(struct lease *lease, const struct fetch_answer *answer)
{
	char status[32];

	atomic_store(&lease->ready, false);
	if (lease->complained)
		return;
	lease->complained = true;
	snprintf(status, sizeof(status), "status %d", answer->status);
	if (answer->status == 401)
		log_error("the scheduler does not know this worker's token: set --agent-token-file to one of an agent "
			  "pool",
			"scheduler", lease->worker->options.scheduler_url, NULL);
	else
		log_warn("the scheduler can't be reached; trying again", "scheduler",
			lease->worker->options.scheduler_url, "why", answer->error ? answer->error : status, NULL);
}

static void register_worker(void *data);

static void register_later(struct lease *lease, int retry_after)
{
	loop_timer_set(
		lease->worker->loop, &lease->timer, backoff_next(&lease->backoff, retry_after), register_worker, lease);
}

static void registered(struct lease *lease, const json_t *answer)
{
	const char *topic = json_string_at(answer, "topic");

	free(lease->id);
	lease->id = mem_text(json_string_at(answer, "worker"));
	lease->lease_ms = json_int_at(answer, "lease-seconds", LEASE_MS / 1000) * 1000;
	lease->renewed_ms = clock_mono_ms();
	lease->complained = false;
	backoff_reset(&lease->backoff);
	atomic_store(&lease->ready, true);
	log_info("registered", "worker", lease->id, "pool", json_string_at(answer, "pool"), NULL);
	if (topic)
		tickets_subscribe(lease->worker->tickets, topic, text_or_empty(json_string_at(answer, "pool")));
	loop_timer_set(lease->worker->loop, &lease->timer, jitter(lease->lease_ms / 4), beat, lease);
	claims_wake(lease->worker->claims);
}

static void register_answered(void *data, struct fetch_answer *answer)
{
	struct lease *lease = data;
	json_auto_t *value = NULL;
	struct err err = ERR_INIT;

	lease->registering = NULL;
	if (answer->status >= 200 && answer->status < 300 &&
		json_parse(buf_str(&answer->body), answer->body.len, &value, &err) == 0 &&
		json_string_at(value, "worker")) {
		registered(lease, value);
		return;
	}
	complain(lease, answer);
	register_later(lease, answer->retry_after);
}

static void register_worker(void *data)
{
	struct lease *lease = data;
	const struct options *options = &lease->worker->options;
	json_t *body = json_pack(
		"{sssIss}", "name", options->name, "slots", (json_int_t)options->slots, "version", RUNYARD_VERSION);

	if (!lease->registering)
		lease->registering = lease_post(lease->worker, "register", body, register_answered, lease);
	else
		json_decref(body);
}

void lease_begin(struct lease *lease)
{
	register_worker(lease);
}

bool lease_heard(struct lease *lease, const struct fetch_answer *answer)
{
	if (answer->status >= 200 && answer->status < 300) {
		atomic_store(&lease->ready, true);
		lease->complained = false;
		return true;
	}
	complain(lease, answer);
	if (answer->status == 401 || answer->status == 404)
		register_worker(lease);
	return false;
}

/* ---- heartbeats ---- */

static void list_job(json_t *jobs, const char *job, int attempt)
{
	json_array_append_new(jobs, json_pack("{sssi}", "job", job, "attempt", attempt));
}

static void list_result(void *data, const char *job, int attempt)
{
	list_job(data, job, attempt);
}

static json_t *heartbeat_body(const struct worker *worker)
{
	json_t *jobs = json_array();

	for (size_t i = 0; i < worker->busy; i++)
		list_job(jobs, worker->jobs[i]->assignment.job, worker->jobs[i]->assignment.attempt);
	results_each(worker->results, list_result, jobs);
	return json_pack("{sssIsIsbsoso}", "worker", lease_worker(worker->lease), "free",
		(json_int_t)slots_free(worker), "slots", (json_int_t)worker->options.slots, "draining",
		worker->draining, "partitions", tickets_partitions(worker->tickets), "jobs", jobs);
}

static void job_heard(struct worker *worker, const json_t *item)
{
	const char *id = text_or_empty(json_string_at(item, "job"));
	int attempt = (int)json_int_at(item, "attempt", 0);
	bool held = json_bool_at(item, "held", true);
	struct job *job = slots_find(worker, id, attempt);

	if (!job)
		results_heard(worker->results, id, attempt, held);
	else if (!held)
		job_lose(job);
	else
		job_stop(job, stop_wish(json_string_at(item, "stop")));
}

static void heartbeat_heard(struct lease *lease, const struct fetch_answer *answer)
{
	json_auto_t *value = NULL;
	struct err err = ERR_INIT;
	const json_t *item;
	size_t i;

	lease->renewed_ms = lease->sent_ms;
	if (json_parse(buf_str(&answer->body), answer->body.len, &value, &err) < 0)
		return;
	json_array_foreach(json_at(value, "jobs"), i, item)
	{
		job_heard(lease->worker, item);
	}
	drain_check(lease->worker);
}

/* No plan that the scheduler may have given to another worker goes on here. */
static void lease_expired(struct worker *worker)
{
	for (size_t i = worker->busy; i > 0; i--)
		if (i <= worker->busy && worker->jobs[i - 1]->assignment.stage == STAGE_PLAN)
			job_lose(worker->jobs[i - 1]);
}

static void beat_answered(void *data, struct fetch_answer *answer)
{
	struct lease *lease = data;
	int64_t next = lease->lease_ms / 4;

	lease->beating = NULL;
	if (lease_heard(lease, answer)) {
		metric_addf(M_HEARTBEATS, 1, "outcome=\"ok\"");
		backoff_reset(&lease->backoff);
		heartbeat_heard(lease, answer);
	} else {
		metric_addf(M_HEARTBEATS, 1, "outcome=\"failed\"");
		next = backoff_next(&lease->backoff, answer->retry_after);
		if (clock_mono_ms() - lease->renewed_ms > lease->lease_ms)
			lease_expired(lease->worker);
	}
	if (!lease->registering)
		loop_timer_set(lease->worker->loop, &lease->timer, jitter(next), beat, lease);
}

static void beat(void *data)
{
	struct lease *lease = data;

	if (lease->beating || !lease->id)
		return;
	lease->sent_ms = clock_mono_ms();
	lease->beating = lease_post(lease->worker, "heartbeat", heartbeat_body(lease->worker), beat_answered, lease);
}

/* ---- leaving ---- */

static void leave_done(struct lease *lease)
{
	loop_timer_fn fn = lease->left;

	loop_timer_clear(lease->worker->loop, &lease->leave_timer);
	lease->left = NULL;
	if (fn)
		fn(lease->left_data);
}

static void leave_answered(void *data, struct fetch_answer *answer)
{
	struct lease *lease = data;

	(void)answer;
	lease->leaving = NULL;
	leave_done(lease);
}

static void leave_late(void *data)
{
	leave_done(data);
}

void lease_leave(struct lease *lease, loop_timer_fn fn, void *data)
{
	if (lease->left || lease->leaving)
		return;
	lease->left = fn;
	lease->left_data = data;
	loop_timer_set(lease->worker->loop, &lease->leave_timer, lease->id ? LEAVE_MS : 0, leave_late, lease);
	if (lease->id)
		lease->leaving = lease_post(
			lease->worker, "leave", json_pack("{ss}", "worker", lease->id), leave_answered, lease);
}
