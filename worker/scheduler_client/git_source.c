/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/scheduler_client/git_source.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/http/fetch.h"
#include "common/log.h"
#include "common/loop/retry.h"
#include "common/process.h"
#include "worker/exec/beneath.h"
#include "worker/exec/program.h"
#include "worker/git/caches.h"
#include "worker/git/git_task.h"
#include "worker/runtime/accept.h"
#include "worker/runtime/worker.h"
#include "worker/scheduler_client/scheduler.h"

enum { LEASE_MS = 60 * 1000 };

struct git_source {
	struct worker *worker;
	struct git_host host;
	char *jobs_path, *caches_path, *helper, *inspector;
	bool has_git;
	struct git_task **tasks; /* room for --git-slots */
	size_t busy, slots;
	struct fetch *claiming, *beating;
	int64_t claimed_ms, beat_ms; /* by the lease clock: when the requests under way were sent */
	int64_t lease_ms;
	struct loop_timer claim_timer, beat_timer;
	struct backoff backoff;
	struct cache_trim trim;
};

static void claim_send(void *data);
static void beat_send(void *data);

size_t git_source_busy(const struct git_source *source)
{
	return source ? source->busy : 0;
}

/* ---- jobs ---- */

static void task_ended(void *data, struct git_task *task)
{
	struct git_source *source = data;
	size_t at = 0;

	while (source->tasks[at] != task)
		at++;
	source->tasks[at] = source->tasks[--source->busy];
	if (git_task_caches(task))
		cache_trim(&source->trim);
	git_source_go_on(source);
	drain_check(source->worker);
}

static struct git_task *task_find(const struct git_source *source, const char *job, int attempt)
{
	for (size_t i = 0; i < source->busy; i++)
		if (git_task_attempt(source->tasks[i]) == attempt && text_equal(git_task_job(source->tasks[i]), job))
			return source->tasks[i];
	return NULL;
}

static void task_start(struct git_source *source, const json_t *claimed)
{
	const struct keeper_lease lease = slots_lease(source->claimed_ms, source->lease_ms / 1000);
	struct git_task *task = source->busy < source->slots ? git_task_start(&source->host, claimed, &lease) : NULL;

	if (!task) {
		log_error("the scheduler gave a git job that can't be read, or was not asked for", NULL);
		return;
	}
	source->tasks[source->busy++] = task;
}

/* ---- claims ---- */

static bool may_claim(const struct git_source *source)
{
	const struct worker *worker = source->worker;

	return !source->claiming && source->busy < source->slots && slots_open(worker) &&
		scheduler_worker(worker->scheduler);
}

static void claim_later(struct git_source *source, int64_t after_ms)
{
	loop_timer_set(source->worker->loop, &source->claim_timer, after_ms, claim_send, source);
}

static void claim_heard(struct git_source *source, const struct fetch_answer *answer)
{
	json_auto_t *value = NULL;
	struct err err = ERR_INIT;
	const json_t *job;
	size_t i;

	source->backoff.failures = 0;
	if (json_parse(buf_str(&answer->body), answer->body.len, &value, &err) < 0) {
		log_error("the scheduler's answer to a claim of git jobs can't be read", "why", err.message, NULL);
		claim_later(source, backoff_next(&source->backoff, 0));
		return;
	}
	source->lease_ms = json_int_at(value, "lease-seconds", source->lease_ms / 1000) * 1000;
	json_array_foreach(json_at(value, "jobs"), i, job) task_start(source, job);
	if (source->busy && !source->beat_timer.due_ms && !source->beating)
		loop_timer_set(
			source->worker->loop, &source->beat_timer, jitter(source->lease_ms / 4), beat_send, source);
	git_source_go_on(source);
}

/* A scheduler of an earlier version has no such request, which the heartbeat of the worker tells from a lost
 * registration. */
static void claim_answered(void *data, struct fetch_answer *answer)
{
	struct git_source *source = data;

	source->claiming = NULL;
	if (answer->status == 200)
		claim_heard(source, answer);
	else
		claim_later(source, backoff_next(&source->backoff, answer->retry_after));
}

static void claim_send(void *data)
{
	struct git_source *source = data;
	struct worker *worker = source->worker;
	struct scheduler_call call = {.path = "git/claim", .timeout_ms = SCHEDULER_POLL_MS};

	if (!may_claim(source))
		return;
	loop_timer_clear(worker->loop, &source->claim_timer);
	source->claimed_ms = clock_boot_ms();
	call.body = json_pack("{ss sI so}", "worker", scheduler_worker(worker->scheduler), "slots",
		(json_int_t)(source->slots - source->busy), "kinds",
		source->has_git ? json_pack("[sssss]", "fetch", "directory", "diff", "look", "module")
				: json_pack("[s]", "module"));
	source->claiming = scheduler_post(worker->scheduler, &call, claim_answered, source);
}

/* ---- heartbeats ---- */

static void job_heard(struct git_source *source, const json_t *item)
{
	const struct keeper_lease lease = slots_lease(source->beat_ms, source->lease_ms / 1000);
	struct git_task *task =
		task_find(source, text_or_empty(json_string_at(item, "job")), (int)json_int_at(item, "attempt", 0));

	if (task && json_bool_at(item, "held", true))
		git_task_renew(task, &lease);
	else if (task)
		git_task_lose(task);
}

static void beat_answered(void *data, struct fetch_answer *answer)
{
	struct git_source *source = data;
	json_auto_t *value = NULL;
	struct err err = ERR_INIT;
	const json_t *item;
	size_t i;

	source->beating = NULL;
	if (answer->status == 200 && json_parse(buf_str(&answer->body), answer->body.len, &value, &err) == 0) {
		source->lease_ms = json_int_at(value, "lease-seconds", source->lease_ms / 1000) * 1000;
		json_array_foreach(json_at(value, "jobs"), i, item) job_heard(source, item);
	}
	if (source->busy)
		loop_timer_set(
			source->worker->loop, &source->beat_timer, jitter(source->lease_ms / 4), beat_send, source);
}

static void beat_send(void *data)
{
	struct git_source *source = data;
	struct scheduler_call call = {.path = "git/heartbeat", .own_token = true};
	json_t *jobs = json_array();

	for (size_t i = 0; i < source->busy; i++)
		json_array_append_new(jobs,
			json_pack("{ss si}", "job", git_task_job(source->tasks[i]), "attempt",
				git_task_attempt(source->tasks[i])));
	if (!source->busy || source->beating || !scheduler_worker(source->worker->scheduler)) {
		json_decref(jobs);
		return;
	}
	source->beat_ms = clock_boot_ms();
	call.body = json_pack("{so}", "jobs", jobs);
	source->beating = scheduler_post(source->worker->scheduler, &call, beat_answered, source);
}

/* ---- its life ---- */

void git_source_go_on(struct git_source *source)
{
	if (source && source->claim_timer.due_ms == 0)
		claim_send(source);
}

void git_source_stop(struct git_source *source)
{
	if (!source)
		return;
	fetch_abort(source->claiming);
	source->claiming = NULL;
}

void git_source_give_up(struct git_source *source)
{
	for (size_t i = 0; source && i < source->busy; i++)
		git_task_give_up(source->tasks[i]);
}

void git_source_close(struct git_source *source)
{
	if (!source)
		return;
	loop_timer_clear(source->worker->loop, &source->claim_timer);
	loop_timer_clear(source->worker->loop, &source->beat_timer);
	fetch_abort(source->claiming);
	fetch_abort(source->beating);
	for (size_t i = 0; i < source->busy; i++)
		git_task_abandon(source->tasks[i]);
}

void git_source_free(struct git_source *source)
{
	if (!source)
		return;
	for (size_t i = 0; i < source->busy; i++)
		git_task_free(source->tasks[i]);
	closep(&source->host.jobs);
	closep(&source->host.caches);
	free(source->tasks);
	free(source->jobs_path);
	free(source->caches_path);
	free(source->helper);
	free(source->inspector);
	free(source);
}

/* ---- the start ---- */

/* The sandbox of git needs no network. Where it can't do without one, git itself may connect elsewhere. */
static bool can_be_offline(const struct worker *worker)
{
	struct sandbox probe = {.tmp = worker->sandbox.tmp};
	struct err err = ERR_INIT;
	bool can = worker->sandbox.bwrap && sandbox_open(&probe, true, &err) == 0;

	if (worker->sandbox.bwrap && !can)
		log_warn("git runs with this machine's network, because a sandbox without one can't be made", "why",
			err.message, NULL);
	sandbox_release(&probe);
	return can;
}

static bool wants_jobs(const struct worker *worker)
{
	return worker->options.git_slots > 0 && !worker->options.once && !worker->options.deliver &&
		accept_git(worker->options.accept);
}

static bool has_git(void)
{
	_cleanup_(freep) char *git = program_find("git", "/usr/bin");

	if (!git)
		log_warn("there is no git: this worker fetches no commits; install git", NULL);
	return git != NULL;
}

int git_source_open(struct worker *worker, struct git_source **ret_source, struct err *err)
{
	const struct options *options = &worker->options;
	struct git_source *source;

	if (!wants_jobs(worker))
		return 0;
	source = mem_new(1, sizeof(*source));
	*source = (struct git_source){.worker = worker,
		.jobs_path = mem_printf("%s/git", options->data_dir),
		.caches_path = mem_printf("%s/git-caches", options->data_dir),
		.helper = process_helper("runyard-git"),
		.inspector = process_helper("runyard-inspect"),
		.has_git = has_git(),
		.slots = (size_t)options->git_slots,
		.tasks = mem_new((size_t)options->git_slots, sizeof(struct git_task *)),
		.lease_ms = LEASE_MS};
	source->host = (struct git_host){.worker = worker,
		.jobs = -1,
		.caches = -1,
		.jobs_path = source->jobs_path,
		.caches_path = source->caches_path,
		.helper = source->helper,
		.inspector = source->inspector,
		.offline = can_be_offline(worker),
		.ended = task_ended,
		.data = source};
	*ret_source = source;
	source->host.jobs = folder_make(source->jobs_path, true, err);
	source->host.caches = source->host.jobs < 0 ? -1 : folder_make(source->caches_path, false, err);
	if (source->host.caches < 0)
		return -1;
	source->trim = (struct cache_trim){
		.loop = worker->loop, .caches = source->host.caches, .max_bytes = options->git_cache << 20};
	return 0;
}
