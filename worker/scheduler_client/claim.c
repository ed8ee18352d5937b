/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/scheduler_client/claim.h"

#include "common/clock.h"
#include "common/err.h"
#include "common/http/fetch.h"
#include "common/log.h"
#include "worker/metrics.h"
#include "worker/runtime/capabilities.h"
#include "worker/runtime/lease.h"
#include "worker/runtime/worker.h"
#include "worker/scheduler_client/kafka_client.h"
#include "worker/upload/backoff.h"

enum { IDLE_MS = 2000, CALM_MS = 100, FRUITLESS_MS = 25, MAX_FRUITLESS = 7 };

struct claims {
	struct worker *worker;
	struct fetch *claiming, *waiting; /* at most one is non-NULL */
	bool more;                        /* more jobs waited when the last claim was answered */
	int64_t sent_ms;
	int64_t leased_ms; /* the same time by the lease clock */
	int64_t waited_ms; /* when the last wait was sent */
	int fruitless;     /* consecutive claims that got nothing although a job waited */
	struct loop_timer timer;
	struct backoff claim_backoff, wait_backoff;
};

struct claims *claims_new(struct worker *worker)
{
	struct claims *claims = mem_new(1, sizeof(*claims));

	claims->worker = worker;
	return claims;
}

void claims_free(struct claims *claims)
{
	if (!claims)
		return;
	loop_timer_clear(claims->worker->loop, &claims->timer);
	fetch_abort(claims->claiming);
	fetch_abort(claims->waiting);
	free(claims);
}

static void claim_send(void *data);
static void wait_send(void *data);

/* Whether the worker may send a claim or a wait now. */
static bool may_ask(const struct claims *claims)
{
	return !claims->claiming && !claims->waiting && slots_free(claims->worker) > 0 &&
		lease_worker(claims->worker->lease);
}

static void go_on(struct claims *claims)
{
	if (claims->timer.due_ms == 0 && claims->more)
		claim_send(claims);
	else if (claims->timer.due_ms == 0)
		wait_send(claims);
}

static void go_on_after(struct claims *claims, int64_t after_ms, loop_timer_fn fn)
{
	loop_timer_set(claims->worker->loop, &claims->timer, after_ms, fn, claims);
}

static json_t *request_body(const struct claims *claims)
{
	const struct worker *worker = claims->worker;

	return json_pack("{sssIso}", "worker", lease_worker(worker->lease), "slots", (json_int_t)slots_free(worker),
		"capabilities", capabilities_now(worker));
}

/* ---- claims ---- */

/* The scheduler measures the time of an apply from this claim, too. So it knows when no process of the apply can be
 * left. */
static json_t *claim_body(const struct claims *claims)
{
	json_t *body = request_body(claims);

	json_object_set_new(body, "apply-seconds", json_integer((json_int_t)limits_apply_end(&claims->worker->limits)));
	return body;
}

static size_t jobs_start(struct claims *claims, const struct fetch_answer *answer)
{
	struct worker *worker = claims->worker;
	json_auto_t *value = NULL;
	struct err err = ERR_INIT;
	const json_t *jobs, *item;
	size_t i;

	if (json_parse(buf_str(&answer->body), answer->body.len, &value, &err) < 0) {
		log_error("the scheduler's answer to a claim can't be read", "why", err.message, NULL);
		return 0;
	}
	jobs = json_at(value, "jobs");
	claims->more = json_bool_at(value, "more", json_array_size(jobs) > 0);
	json_array_foreach(jobs, i, item)
	{
		slots_start(worker, item, claims->leased_ms, json_int_at(value, "lease-seconds", 0));
	}
	return json_array_size(jobs);
}

/* Delays the next claim after fruitless ones, to avoid a busy loop: no worker may be able to run the job, or other
 * workers may always be faster. */
static int64_t rest_ms(const struct claims *claims)
{
	int times = claims->fruitless < MAX_FRUITLESS ? claims->fruitless : MAX_FRUITLESS;

	return times > 1 ? jitter(FRUITLESS_MS << (times - 1)) : 0;
}

static void claim_heard(struct claims *claims, const struct fetch_answer *answer)
{
	size_t jobs = jobs_start(claims, answer);

	backoff_reset(&claims->claim_backoff);
	claims->fruitless = jobs || claims->sent_ms - claims->waited_ms >= CALM_MS ? 0 : claims->fruitless + 1;
	metric_addf(M_CLAIMS, 1, "outcome=\"%s\"", jobs ? "jobs" : "none");
	kafka_client_answered(claims->worker->client);
	if (jobs || rest_ms(claims) == 0)
		go_on(claims);
	else
		go_on_after(claims, rest_ms(claims), wait_send);
}

static void claim_answered(void *data, struct fetch_answer *answer)
{
	struct claims *claims = data;

	claims->claiming = NULL;
	claims->more = false;
	metric_observef(M_CLAIM_SECONDS, (double)(clock_mono_ms() - claims->sent_ms) / 1000, "%s", "");
	if (lease_heard(claims->worker->lease, answer)) {
		claim_heard(claims, answer);
	} else {
		metric_addf(M_CLAIMS, 1, "outcome=\"failed\"");
		go_on_after(claims, backoff_next(&claims->claim_backoff, answer->retry_after), claim_send);
	}
	kafka_client_go_on(claims->worker->client);
}

static void claim_send(void *data)
{
	struct claims *claims = data;
	struct worker *worker = claims->worker;

	if (!may_ask(claims))
		return;
	loop_timer_clear(worker->loop, &claims->timer);
	kafka_client_asked(worker->client);
	claims->sent_ms = clock_mono_ms();
	claims->leased_ms = clock_boot_ms();
	claims->claiming = lease_post(worker, "claim", claim_body(claims), claim_answered, claims);
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
static void wait_failed(struct claims *claims, const struct fetch_answer *answer)
{
	int64_t next = backoff_next(&claims->wait_backoff, answer->retry_after), most = jitter(IDLE_MS);

	go_on_after(claims, next < most ? next : most, claim_send);
}

static void wait_answered(void *data, struct fetch_answer *answer)
{
	struct claims *claims = data;

	claims->waiting = NULL;
	if (answer->status != 200) {
		wait_failed(claims, answer);
		return;
	}
	backoff_reset(&claims->wait_backoff);
	if (wait_found(answer)) {
		claim_send(claims);
	} else {
		wait_send(claims);
	}
}

/* From here on the scheduler announces every job, so the job messages read so far count as answered. */
static void wait_send(void *data)
{
	struct claims *claims = data;
	struct worker *worker = claims->worker;

	if (!may_ask(claims))
		return;
	loop_timer_clear(worker->loop, &claims->timer);
	claims->waited_ms = clock_mono_ms();
	claims->waiting = lease_wait(worker, "wait", request_body(claims), wait_answered, claims);
	claims_message(claims);
}

/* ---- events ---- */

void claims_begin(struct claims *claims)
{
	fetch_abort(claims->waiting);
	claims->waiting = NULL;
	loop_timer_clear(claims->worker->loop, &claims->timer);
	go_on(claims);
	kafka_client_go_on(claims->worker->client);
}

void claims_slot_freed(struct claims *claims)
{
	go_on(claims);
	kafka_client_go_on(claims->worker->client);
}

void claims_message(struct claims *claims)
{
	struct kafka_client *client = claims->worker->client;

	if (claims->waiting) {
		kafka_client_asked(client);
		kafka_client_answered(client);
	} else {
		claim_send(claims);
	}
	kafka_client_go_on(client);
}

void claims_end(struct claims *claims)
{
	fetch_abort(claims->waiting);
	claims->waiting = NULL;
	kafka_client_go_on(claims->worker->client);
}
