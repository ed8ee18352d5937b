/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/runtime/lease.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "common/build_info.h"
#include "common/clock.h"
#include "common/crypto.h"
#include "common/err.h"
#include "common/http/fetch.h"
#include "common/log.h"
#include "worker/metrics.h"
#include "worker/runtime/capabilities.h"
#include "worker/runtime/worker.h"
#include "worker/scheduler_client/claim.h"
#include "worker/scheduler_client/kafka_client.h"
#include "worker/upload/backoff.h"
#include "worker/upload/unsent.h"

enum { LEASE_MS = 60 * 1000, POST_MS = 20 * 1000, LEAST_MS = 1000, LISTEN_MS = 40 * 1000, LEAVE_MS = 2000 };

struct lease {
	struct worker *worker;
	char *id;    /* this worker's id; NULL: not registered */
	char *token; /* the worker's own token; heartbeats keep working when the pool's token is revoked */
	int64_t lease_ms;
	int64_t sent_ms; /* when the heartbeat under way was sent, by the lease clock */
	struct fetch *registering, *beating, *leaving;
	struct loop_timer timer; /* the next registration or heartbeat */
	struct backoff backoff;
	char complaint[256]; /* the logged reason why the scheduler can't be reached; "": it can be reached */
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
	free(lease->token);
	free(lease);
}

const char *lease_worker(const struct lease *lease)
{
	return lease->id;
}

struct keeper_lease lease_since(int64_t sent_ms, long long seconds)
{
	int64_t ms = seconds > 0 ? seconds * 1000 : LEASE_MS;

	return (struct keeper_lease){.interrupt_ms = sent_ms + ms * 5 / 6, .kill_ms = sent_ms + ms * 11 / 12};
}

bool lease_ready(const struct lease *lease)
{
	return atomic_load(&lease->ready);
}

/* A request that authenticates with one of the two tokens. */
struct post {
	const char *token, *path;
	json_t *body; /* consumed */
	long timeout_ms;
	bool introduces; /* fetch.h */
};

static struct fetch *post_send(
	struct worker *worker, const struct post *post, void (*fn)(void *, struct fetch_answer *), void *data)
{
	_cleanup_(freep) char *url = mem_printf("%s/api/worker/v1/%s", worker->options.scheduler_url, post->path);
	_cleanup_(freep) char *text = json_text(post->body);
	const struct fetch_request request = {
		.method = "POST",
		.url = url,
		.bearer = post->token,
		.content_type = "application/json",
		.body = text,
		.body_len = strlen(text),
		.answer_limit = (size_t)64 * 1024 * 1024,
		.timeout_ms = post->timeout_ms,
		.introduces = post->introduces,
	};

	json_decref(post->body);
	return fetch_start(worker->fetcher, &request, fn, data);
}

struct fetch *lease_post(
	struct worker *worker, const char *path, json_t *body, void (*fn)(void *, struct fetch_answer *), void *data)
{
	const struct post post = {worker->options.agent_token, path, body, POST_MS, false};

	return post_send(worker, &post, fn, data);
}

struct fetch *lease_wait(
	struct worker *worker, const char *path, json_t *body, void (*fn)(void *, struct fetch_answer *), void *data)
{
	const struct post post = {worker->options.agent_token, path, body, LISTEN_MS, false};

	return post_send(worker, &post, fn, data);
}

struct fetch *lease_listen(
	struct lease *lease, const char *path, json_t *body, void (*fn)(void *, struct fetch_answer *), void *data)
{
	const struct post post = {lease->token, path, body, LISTEN_MS, false};

	return post_send(lease->worker, &post, fn, data);
}

static struct fetch *post_own(
	struct lease *lease, const char *path, json_t *body, void (*fn)(void *, struct fetch_answer *))
{
	/* The timeout of a lost heartbeat leaves time for others before the lease ends. */
	int64_t wait = lease->lease_ms / 4 < LEAST_MS ? LEAST_MS : lease->lease_ms / 4;
	const struct post post = {lease->token, path, body, wait < POST_MS ? (long)wait : POST_MS, false};

	return post_send(lease->worker, &post, fn, lease);
}

/* ---- registration ---- */

/* Logs each cause once until the scheduler answers. */
static void complain(struct lease *lease, const struct fetch_answer *answer)
{
	char why[sizeof(lease->complaint)];

	atomic_store(&lease->ready, false);
	snprintf(why, sizeof(why), "status %d", answer->status);
	if (answer->error)
		text_copy(why, sizeof(why), answer->error);
	if (text_equal(lease->complaint, why))
		return;
	text_copy(lease->complaint, sizeof(lease->complaint), why);
	log_warn("the scheduler can't be reached; trying again", "scheduler", lease->worker->options.scheduler_url,
		"why", why, NULL);
}

/* A 401 is permanent: running jobs finish under the worker's own token, and then the worker exits. */
static void refused(struct lease *lease)
{
	struct worker *worker = lease->worker;

	atomic_store(&lease->ready, false);
	if (worker->refused)
		return;
	worker->refused = true;
	log_error("the scheduler does not take this worker's agent token: it is not one of an agent pool, was revoked, "
		  "or "
		  "has expired; running jobs finish, then the worker ends",
		"scheduler", worker->options.scheduler_url, NULL);
	if (!worker->draining)
		drain_begin(worker);
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
	results_each(worker->results, list, jobs);
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
	const char *topic = json_string_at(answer, "topic");

	origin_recognize(&lease->worker->origin, lease->worker->options.scheduler_url);
	free(lease->id);
	free(lease->token);
	lease->id = mem_text(json_string_at(answer, "worker"));
	lease->token = mem_text(json_string_at(answer, "token"));
	lease->lease_ms = json_int_at(answer, "lease-seconds", LEASE_MS / 1000) * 1000;
	lease->complaint[0] = '\0';
	backoff_reset(&lease->backoff);
	atomic_store(&lease->ready, true);
	log_info("registered", "worker", lease->id, "pool", json_string_at(answer, "pool"), NULL);
	if (topic)
		kafka_client_subscribe(lease->worker->client, topic, text_or_empty(json_string_at(answer, "pool")));
	loop_timer_set(lease->worker->loop, &lease->timer, jitter(lease->lease_ms / 4), beat, lease);
	claims_begin(lease->worker->claims);
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
	if (answer->status == 401) {
		refused(lease);
		return;
	}
	complain(lease, answer);
	register_later(lease, answer->retry_after);
}

static void register_worker(void *data)
{
	struct lease *lease = data;
	struct worker *worker = lease->worker;
	const struct options *options = &worker->options;
	struct post post = {options->agent_token, "register", NULL, POST_MS, .introduces = true};

	if (lease->registering)
		return;
	post.body = json_pack("{sssIsssoso}", "name", options->name, "slots", (json_int_t)options->slots, "version",
		build_version, "jobs", attempts_list(worker, list_owned), "capabilities", capabilities_now(worker));
	lease->registering = post_send(worker, &post, register_answered, lease);
}

void lease_begin(struct lease *lease)
{
	register_worker(lease);
}

bool lease_heard(struct lease *lease, const struct fetch_answer *answer)
{
	if (answer->status >= 200 && answer->status < 300) {
		atomic_store(&lease->ready, true);
		lease->complaint[0] = '\0';
		return true;
	}
	if (answer->status == 401) {
		refused(lease);
		return false;
	}
	complain(lease, answer);
	if (answer->status == 404 && !lease->worker->refused)
		register_worker(lease);
	return false;
}

/* ---- heartbeats ---- */

static json_t *heartbeat_body(const struct worker *worker)
{
	json_t *jobs = attempts_list(worker, list_heard);

	unsent_each(worker->host.unsent, list_unsent, jobs);
	return json_pack("{sIsIsbsososo}", "free", (json_int_t)slots_free(worker), "slots",
		(json_int_t)worker->options.slots, "draining", worker->draining, "partitions",
		kafka_client_partitions(worker->client), "jobs", jobs, "capabilities", capabilities_now(worker));
}

static void job_heard(struct lease *lease, const struct keeper_lease *renewed, const json_t *item)
{
	struct worker *worker = lease->worker;
	const char *id = text_or_empty(json_string_at(item, "job"));
	int attempt = (int)json_int_at(item, "attempt", 0);
	bool held = json_bool_at(item, "held", true);
	struct job *job = slots_find(worker, id, attempt);

	if (!job)
		results_heard(worker->results, id, attempt, held, json_bool_at(item, "awaited", false));
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

static void beat_answered(void *data, struct fetch_answer *answer)
{
	struct lease *lease = data;
	int64_t next = lease->lease_ms / 4, again;

	lease->beating = NULL;
	if (lease_heard(lease, answer)) {
		metric_addf(M_HEARTBEATS, 1, "outcome=\"ok\"");
		backoff_reset(&lease->backoff);
		heartbeat_heard(lease, answer);
	} else {
		metric_addf(M_HEARTBEATS, 1, "outcome=\"failed\"");
		/* At most a quarter of the lease: a scheduler that is back gives its workers half a lease to report. */
		again = backoff_next(&lease->backoff, answer->retry_after);
		next = again < next ? again : next;
		leases_check(lease->worker);
	}
	if (!lease->registering)
		loop_timer_set(lease->worker->loop, &lease->timer, jitter(next), beat, lease);
}

static void beat(void *data)
{
	struct lease *lease = data;

	if (lease->beating || !lease->id)
		return;
	lease->sent_ms = clock_boot_ms();
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
	if (lease->left || lease->leaving)
		return;
	lease->left = fn;
	lease->left_data = data;
	loop_timer_set(lease->worker->loop, &lease->leave_timer, lease->id ? LEAVE_MS : 0, leave_late, lease);
	if (lease->id)
		lease->leaving = post_own(
			lease, "leave", json_pack("{sb}", "failed", lease->worker->stopped_hard), leave_answered);
}
