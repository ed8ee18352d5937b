/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/runtime/lease.h"

#include <string.h>

#include "common/build_info.h"
#include "common/clock.h"
#include "common/crypto.h"
#include "common/err.h"
#include "common/http/fetch.h"
#include "common/log.h"
#include "common/loop/retry.h"
#include "proto/protocol.h"
#include "worker/metrics.h"
#include "worker/runtime/capabilities.h"
#include "worker/runtime/worker.h"
#include "worker/scheduler_client/forwards.h"
#include "worker/scheduler_client/git_source.h"
#include "worker/scheduler_client/job_source.h"
#include "worker/scheduler_client/scheduler.h"
#include "worker/upload/unsent.h"

enum { LEASE_MS = 60 * 1000, POST_MS = 20 * 1000, LEAST_MS = 1000, LEAVE_MS = 2000 };

struct lease {
	struct worker *worker;
	int64_t lease_ms;
	int64_t sent_ms;  /* when the heartbeat under way was sent, by the lease clock */
	int64_t hasty_ms; /* the next heartbeat is due by then (clock_mono_ms); 0: no such time */
	struct fetch *registering, *beating, *leaving;
	struct loop_timer timer; /* the next registration or heartbeat */
	struct backoff backoff;
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
	free(lease);
}

struct keeper_lease lease_since(int64_t sent_ms, long long seconds)
{
	int64_t ms = seconds > 0 ? seconds * 1000 : LEASE_MS;

	return (struct keeper_lease){.interrupt_ms = sent_ms + ms * 5 / 6, .kill_ms = sent_ms + ms * 11 / 12};
}

/* Posts with the worker's own token. The timeout of a lost heartbeat leaves time for others before the lease ends. */
static struct fetch *post_own(struct lease *lease, const char *path, json_t *body, fetch_fn fn)
{
	int64_t wait = lease->lease_ms / 4 < LEAST_MS ? LEAST_MS : lease->lease_ms / 4;
	const struct scheduler_call call = {
		.path = path, .body = body, .own_token = true, .timeout_ms = wait < POST_MS ? (long)wait : POST_MS};

	return scheduler_post(lease->worker->scheduler, &call, fn, lease);
}

/* ---- lists of attempts ---- */

/* For the registration: includes the proof that the attempt is this worker's. */
static void list_owned(void *data, const struct listed_attempt *listed)
{
	json_array_append_new(
		data, json_pack("{sssiss}", "job", listed->job, "attempt", listed->attempt, "token", listed->token));
}

/* For a heartbeat. A scheduler whose database has lost the claim of an apply learns of the apply this way, and
 * accepts its state later. */
static void list_heard(void *data, const struct listed_attempt *listed)
{
	json_t *item = json_pack("{sssi}", "job", listed->job, "attempt", listed->attempt);
	char token_hash[SHA256_HEX_SIZE];

	if (listed->applies) {
		crypto_sha256_hex(listed->token, strlen(listed->token), token_hash);
		json_object_update_new(item, json_pack("{ssss}", "apply-of", listed->run, "token-hash", token_hash));
	}
	json_array_append_new(data, item);
}

/* Skips attempts whose result is kept, because they are already in the list. */
static void list_unsent(void *data, const struct listed_attempt *listed)
{
	const json_t *item;
	size_t i;

	json_array_foreach((json_t *)data, i, item)
	{
		if (text_equal(json_string_at(item, "job"), listed->job) &&
			json_int_at(item, "attempt", 0) == listed->attempt)
			return;
	}
	list_heard(data, listed);
}

/* The running attempts and those whose result is kept. */
static json_t *attempts_list(const struct worker *worker, listed_fn list)
{
	json_t *jobs = json_array();

	for (size_t i = 0; i < worker->busy; i++) {
		const struct assignment *assignment = &worker->jobs[i]->assignment;

		if (!worker->jobs[i]->reported)
			list(jobs,
				&(struct listed_attempt){.job = assignment->job,
					.token = assignment->token,
					.run = assignment->run,
					.attempt = assignment->attempt,
					.applies = worker->jobs[i]->states.dir});
	}
	result_sink_each(worker->results, list, jobs);
	return jobs;
}

static void register_worker(void *data);

static void register_later(struct lease *lease, int retry_after)
{
	loop_timer_set(
		lease->worker->loop, &lease->timer, backoff_next(&lease->backoff, retry_after), register_worker, lease);
}

static void registered(struct lease *lease, const json_t *answer)
{
	struct worker *worker = lease->worker;
	const char *pool = text_or_empty(json_string_at(answer, "pool"));

	origin_recognize(&worker->origin, worker->options.scheduler_url);
	scheduler_registered(worker->scheduler, json_string_at(answer, "worker"), json_string_at(answer, "token"));
	lease->lease_ms = json_int_at(answer, "lease-seconds", LEASE_MS / 1000) * 1000;
	lease->backoff.failures = 0;
	log_info("registered", "worker", scheduler_worker(worker->scheduler), "pool", pool, NULL);
	loop_timer_set(worker->loop, &lease->timer, jitter(lease->lease_ms / 4), beat, lease);
	git_source_go_on(worker->git);
	forwards_go_on(worker->forwards);
	job_source_begin(worker->source, worker->options.once ? NULL : json_string_at(answer, "topic"), pool);
}

static void register_answered(void *data, struct fetch_answer *answer)
{
	struct lease *lease = data;
	json_auto_t *value = NULL;
	struct err err = ERR_INIT;

	lease->registering = NULL;
	if (answer->status >= 200 && answer->status < 300 &&
		json_parse(buf_str(&answer->body), answer->body.len, &value, &err) == 0 &&
		json_string_at(value, "worker") && json_string_at(value, "token")) {
		registered(lease, value);
		return;
	}
	if (scheduler_failed(lease->worker->scheduler, answer))
		register_later(lease, answer->retry_after);
}

static void register_worker(void *data)
{
	struct lease *lease = data;
	struct worker *worker = lease->worker;
	const struct options *options = &worker->options;
	struct scheduler_call call = {.path = "register", .introduces = true};

	if (lease->registering)
		return;
	call.body = json_pack("{sssIsssosOso}", "name", options->name, "slots", (json_int_t)options->slots, "version",
		build_version, "jobs", attempts_list(worker, list_owned), "capabilities", worker->capabilities,
		"protocols", protocol_versions());
	lease->registering = scheduler_post(worker->scheduler, &call, register_answered, lease);
}

void lease_begin(struct lease *lease)
{
	register_worker(lease);
}

/* ---- heartbeats ---- */

/* The number of ended jobs whose result or last state the scheduler lacks. */
static json_int_t undelivered(const struct worker *worker)
{
	return (json_int_t)(result_sink_undelivered(worker->results) + unsent_count(worker->host.unsent));
}

static json_t *heartbeat_body(const struct worker *worker)
{
	json_t *jobs = attempts_list(worker, list_heard);

	unsent_each(worker->host.unsent, list_unsent, jobs);
	return json_pack("{sIsIsIsbsososOso}", "undelivered", undelivered(worker), "free",
		(json_int_t)slots_free(worker), "slots", (json_int_t)worker->options.slots, "draining",
		worker->drain != DRAIN_NONE || worker->paused, "partitions", job_source_partitions(worker->source),
		"jobs", jobs, "capabilities", worker->capabilities, "announced", job_source_announced(worker->source));
}

static void job_heard(struct lease *lease, const struct keeper_lease *renewed, const json_t *item)
{
	struct worker *worker = lease->worker;
	const char *id = text_or_empty(json_string_at(item, "job"));
	int attempt = (int)json_int_at(item, "attempt", 0);
	bool held = json_bool_at(item, "held", true);
	struct job *job = slots_find(worker, id, attempt);

	if (!job)
		result_sink_heard(worker->results, id, attempt, held, json_bool_at(item, "awaited", false));
	else if (held)
		job_renew(job, renewed);
	else
		job_lose(job);
	/* A lost apply goes on and can still be canceled. It is looked up again, because job_lose ends other jobs. */
	slots_stop(worker, id, attempt, stop_wish(json_string_at(item, "stop")), "heartbeat");
}

static void heartbeat_heard(struct lease *lease, const struct fetch_answer *answer)
{
	json_auto_t *value = NULL;
	struct keeper_lease renewed;
	struct err err = ERR_INIT;
	const json_t *item;
	size_t i;

	if (json_parse(buf_str(&answer->body), answer->body.len, &value, &err) < 0)
		return;
	lease->lease_ms = json_int_at(value, "lease-seconds", lease->lease_ms / 1000) * 1000;
	renewed = lease_since(lease->sent_ms, lease->lease_ms / 1000);
	json_array_foreach(json_at(value, "jobs"), i, item)
	{
		job_heard(lease, &renewed, item);
	}
	drain_order(lease->worker, json_string_at(value, "order"));
	job_source_heard(lease->worker->source, json_at(value, "not-waiting"));
	drain_check(lease->worker);
}

/* Loses each job whose lease has ended, even one that only waits for the scheduler. Applies and jobs that have
 * reported are exempt. */
static void leases_check(struct worker *worker)
{
	for (size_t i = worker->busy; i > 0; i--) {
		struct job *job = i <= worker->busy ? worker->jobs[i - 1] : NULL;

		if (job && !job->reported && job->assignment.stage != STAGE_APPLY &&
			clock_boot_ms() >= job->lease.kill_ms)
			job_lose(job);
	}
}

/* The time until the next heartbeat after one that succeeded. */
static int64_t pause_ms(const struct lease *lease)
{
	int64_t pause = jitter(lease->lease_ms / 4), hasty = lease->hasty_ms - clock_mono_ms();

	if (!lease->hasty_ms || hasty >= pause)
		return pause;
	return hasty > 0 ? hasty : 0;
}

void lease_hasten(struct lease *lease, int64_t after_ms)
{
	int64_t due_ms = clock_mono_ms() + after_ms;

	if (lease->hasty_ms && lease->hasty_ms <= due_ms)
		return;
	lease->hasty_ms = due_ms;
	if (!lease->beating && lease->timer.fn == beat && lease->timer.due_ms > due_ms)
		loop_timer_set(lease->worker->loop, &lease->timer, after_ms, beat, lease);
}

static void beat_answered(void *data, struct fetch_answer *answer)
{
	struct lease *lease = data;
	int64_t next, again;

	lease->beating = NULL;
	if (scheduler_heard(lease->worker->scheduler, answer)) {
		metric_addf(M_HEARTBEATS, 1, "outcome=\"ok\"");
		lease->backoff.failures = 0;
		heartbeat_heard(lease, answer);
		next = pause_ms(lease);
	} else {
		metric_addf(M_HEARTBEATS, 1, "outcome=\"failed\"");
		/* At most a quarter of the lease: a scheduler that is back gives its workers half a lease to report. */
		again = backoff_next(&lease->backoff, answer->retry_after);
		next = jitter(again < lease->lease_ms / 4 ? again : lease->lease_ms / 4);
		leases_check(lease->worker);
	}
	if (!lease->registering)
		loop_timer_set(lease->worker->loop, &lease->timer, next, beat, lease);
}

static void beat(void *data)
{
	struct lease *lease = data;

	if (lease->beating || !scheduler_worker(lease->worker->scheduler))
		return;
	lease->sent_ms = clock_boot_ms();
	lease->hasty_ms = 0;
	lease->beating = post_own(lease, "heartbeat", heartbeat_body(lease->worker), beat_answered);
	capabilities_look(lease->worker, NULL, NULL); /* the next heartbeat reports changes */
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
	bool is_known = scheduler_worker(lease->worker->scheduler) != NULL;

	if (lease->left || lease->leaving)
		return;
	lease->left = fn;
	lease->left_data = data;
	loop_timer_set(lease->worker->loop, &lease->leave_timer, is_known ? LEAVE_MS : 0, leave_late, lease);
	if (is_known)
		lease->leaving = post_own(lease, "leave",
			json_pack("{sbsI}", "failed", lease->worker->drain >= DRAIN_INTERRUPT, "undelivered",
				undelivered(lease->worker)),
			leave_answered);
}
