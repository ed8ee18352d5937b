/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/scheduler_client/job_source.h"

#include "common/clock.h"
#include "common/err.h"
#include "common/http/fetch.h"
#include "common/log.h"
#include "common/loop/retry.h"
#include "worker/metrics.h"
#include "worker/runtime/worker.h"
#include "worker/scheduler_client/job_topic.h"
#include "worker/scheduler_client/scheduler.h"

enum { IDLE_MS = 2000, CALM_MS = 100, FRUITLESS_MS = 25, MAX_FRUITLESS = 7 };

struct job_source {
	struct worker *worker;
	void (*hasten)(struct worker *worker, int64_t after_ms);
	struct job_topic *topic;
	struct fetch *claiming, *waiting; /* at most one is non-NULL */
	bool more;                        /* more jobs waited when the last claim was answered */
	int64_t sent_ms;
	int64_t leased_ms; /* the same time by the lease clock */
	int64_t waited_ms; /* when the last wait was sent */
	int fruitless;     /* consecutive claims that got nothing although a job waited */
	struct loop_timer timer;
	struct backoff claim_backoff, wait_backoff;
};

static void messages_arrived(void *data);

static void hasten(void *data, int64_t after_ms)
{
	struct job_source *source = data;

	source->hasten(source->worker, after_ms);
}

struct job_source *job_source_new(struct worker *worker, void (*hasten_fn)(struct worker *worker, int64_t after_ms))
{
	struct job_source *source = mem_new(1, sizeof(*source));

	source->worker = worker;
	source->hasten = hasten_fn;
	source->topic = job_topic_new(&(struct job_topic_spec){
		.worker = worker, .arrived = messages_arrived, .hasten = hasten, .data = source});
	return source;
}

void job_source_free(struct job_source *source)
{
	if (!source)
		return;
	loop_timer_clear(source->worker->loop, &source->timer);
	fetch_abort(source->claiming);
	fetch_abort(source->waiting);
	job_topic_free(source->topic);
	free(source);
}

static void claim_send(void *data);
static void wait_send(void *data);

/* Whether the worker may send a claim or a wait now. */
static bool may_ask(const struct job_source *source)
{
	return !source->claiming && !source->waiting && slots_free(source->worker) > 0 &&
		scheduler_worker(source->worker->scheduler);
}

static void go_on(struct job_source *source)
{
	if (source->timer.due_ms == 0 && source->more)
		claim_send(source);
	else if (source->timer.due_ms == 0)
		wait_send(source);
}

static void go_on_after(struct job_source *source, int64_t after_ms, loop_timer_fn fn)
{
	loop_timer_set(source->worker->loop, &source->timer, after_ms, fn, source);
}

static json_t *request_body(const struct job_source *source)
{
	const struct worker *worker = source->worker;

	return json_pack("{sssIsO}", "worker", scheduler_worker(worker->scheduler), "slots",
		(json_int_t)slots_free(worker), "capabilities", worker->capabilities);
}

/* ---- claims ---- */

/* The scheduler measures the time of an apply from this claim, too. So it knows when no process of the apply can be
 * left. */
static json_t *claim_body(const struct job_source *source)
{
	json_t *body = request_body(source);

	json_object_set_new(body, "apply-seconds", json_integer((json_int_t)limits_apply_end(&source->worker->limits)));
	return body;
}

static size_t jobs_start(struct job_source *source, const struct fetch_answer *answer)
{
	struct worker *worker = source->worker;
	json_auto_t *value = NULL;
	struct err err = ERR_INIT;
	const json_t *jobs, *item;
	size_t i;

	if (json_parse(buf_str(&answer->body), answer->body.len, &value, &err) < 0) {
		log_error("the scheduler's answer to a claim can't be read", "why", err.message, NULL);
		return 0;
	}
	jobs = json_at(value, "jobs");
	source->more = json_bool_at(value, "more", json_array_size(jobs) > 0);
	json_array_foreach(jobs, i, item)
	{
		slots_start(worker, item, source->leased_ms, json_int_at(value, "lease-seconds", 0));
		job_topic_claimed(source->topic, text_or_empty(json_string_at(item, "job")));
	}
	return json_array_size(jobs);
}

/* Delays the next claim after fruitless ones, to avoid a busy loop: no worker may be able to run the job, or other
 * workers may always be faster. */
static int64_t rest_ms(const struct job_source *source)
{
	int times = source->fruitless < MAX_FRUITLESS ? source->fruitless : MAX_FRUITLESS;

	return times > 1 ? jitter(FRUITLESS_MS << (times - 1)) : 0;
}

static void claim_heard(struct job_source *source, const struct fetch_answer *answer)
{
	size_t jobs = jobs_start(source, answer);

	source->claim_backoff.failures = 0;
	source->fruitless = jobs || source->sent_ms - source->waited_ms >= CALM_MS ? 0 : source->fruitless + 1;
	metric_addf(M_CLAIMS, 1, "outcome=\"%s\"", jobs ? "jobs" : "none");
	if (jobs || rest_ms(source) == 0)
		go_on(source);
	else
		go_on_after(source, rest_ms(source), wait_send);
}

static void claim_answered(void *data, struct fetch_answer *answer)
{
	struct job_source *source = data;

	source->claiming = NULL;
	source->more = false;
	metric_observef(M_CLAIM_SECONDS, (double)(clock_mono_ms() - source->sent_ms) / 1000, "%s", "");
	if (scheduler_heard(source->worker->scheduler, answer)) {
		claim_heard(source, answer);
	} else {
		metric_addf(M_CLAIMS, 1, "outcome=\"failed\"");
		go_on_after(source, backoff_next(&source->claim_backoff, answer->retry_after), claim_send);
	}
}

static void claim_send(void *data)
{
	struct job_source *source = data;
	struct worker *worker = source->worker;
	struct scheduler_call call = {.path = "claim"};

	if (!may_ask(source))
		return;
	loop_timer_clear(worker->loop, &source->timer);
	source->sent_ms = clock_mono_ms();
	source->leased_ms = clock_boot_ms();
	call.body = claim_body(source);
	source->claiming = scheduler_post(worker->scheduler, &call, claim_answered, source);
}

/* ---- waits ---- */

static bool wait_found(const struct fetch_answer *answer)
{
	json_auto_t *value = NULL;
	struct err err = ERR_INIT;

	return json_parse(buf_str(&answer->body), answer->body.len, &value, &err) == 0 &&
		json_bool_at(value, "jobs", false);
}

/* If the failure is not specific to the wait, the next claim fails too and reports it. */
static void wait_failed(struct job_source *source, const struct fetch_answer *answer)
{
	int64_t next = backoff_next(&source->wait_backoff, answer->retry_after), max = jitter(IDLE_MS);

	go_on_after(source, next < max ? next : max, claim_send);
}

static void wait_answered(void *data, struct fetch_answer *answer)
{
	struct job_source *source = data;

	source->waiting = NULL;
	if (answer->status != 200) {
		wait_failed(source, answer);
		return;
	}
	source->wait_backoff.failures = 0;
	if (wait_found(answer)) {
		claim_send(source);
	} else {
		wait_send(source);
	}
}

static void wait_send(void *data)
{
	struct job_source *source = data;
	struct worker *worker = source->worker;
	struct scheduler_call call = {.path = "wait", .timeout_ms = SCHEDULER_POLL_MS};

	if (!may_ask(source))
		return;
	loop_timer_clear(worker->loop, &source->timer);
	source->waited_ms = clock_mono_ms();
	call.body = request_body(source);
	source->waiting = scheduler_post(worker->scheduler, &call, wait_answered, source);
}

/* ---- events ---- */

static void wait_end(struct job_source *source)
{
	fetch_abort(source->waiting);
	source->waiting = NULL;
}

void job_source_begin(struct job_source *source, const char *topic, const char *pool)
{
	wait_end(source);
	loop_timer_clear(source->worker->loop, &source->timer);
	if (topic)
		job_topic_subscribe(source->topic, topic, pool);
	job_source_go_on(source);
}

void job_source_go_on(struct job_source *source)
{
	go_on(source);
}

/* While a wait is under way, the scheduler announces every job. After a claim, the worker claims again or waits. */
static void messages_arrived(void *data)
{
	claim_send(data);
}

void job_source_stop(struct job_source *source)
{
	wait_end(source);
}

json_t *job_source_partitions(const struct job_source *source)
{
	return job_topic_partitions(source->topic);
}

json_t *job_source_announced(struct job_source *source)
{
	return job_topic_announced(source->topic);
}

void job_source_heard(struct job_source *source, const json_t *jobs)
{
	job_topic_heard(source->topic, jobs);
}
