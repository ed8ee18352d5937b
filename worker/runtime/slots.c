/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/runtime/worker.h"

#include "common/clock.h"
#include "common/err.h"
#include "common/log.h"
#include "worker/metrics.h"
#include "worker/runtime/accept.h"
#include "worker/runtime/disk.h"
#include "worker/runtime/lease.h"
#include "worker/scheduler_client/control.h"
#include "worker/scheduler_client/job_source.h"

/* A slot counts as free for a plan after FREE_MS, because the next job usually comes sooner. After LATE_MS, a plan no
 * longer waits for a slot. */
enum { FREE_MS = 100, LATE_MS = 10000 };

/* The number of jobs that have not reported. */
static size_t running(const struct worker *worker)
{
	size_t count = 0;

	for (size_t i = 0; i < worker->busy; i++)
		count += !worker->jobs[i]->reported;
	return count;
}

static void show_busy(const struct worker *worker)
{
	metric_set(M_SLOTS_BUSY, "", (double)running(worker));
}

static bool is_late(const struct job *job)
{
	return job->reported && clock_mono_ms() - job->reported_ms >= LATE_MS;
}

/* A worker with --once has had its job. */
static bool slots_used_up(const struct worker *worker)
{
	return worker->options.once && worker->started_job;
}

bool slots_open(const struct worker *worker)
{
	return worker->drain == DRAIN_NONE && !worker->paused && !disk_low(worker->disk);
}

size_t slots_free(const struct worker *worker)
{
	size_t slots = (size_t)worker->options.slots, taken = running(worker), room = slots + MAX_SHOWN - worker->busy;

	for (size_t i = 0; i < worker->busy; i++)
		taken += is_late(worker->jobs[i]);
	if (!slots_open(worker) || !worker->capable || !accept_stages(worker->options.accept) || taken >= slots ||
		slots_used_up(worker))
		return 0;
	return slots - taken < room ? slots - taken : room;
}

struct job *slots_find(const struct worker *worker, const char *job, int attempt)
{
	for (size_t i = 0; i < worker->busy; i++)
		if (!worker->jobs[i]->reported && worker->jobs[i]->assignment.attempt == attempt &&
			text_equal(worker->jobs[i]->assignment.job, job))
			return worker->jobs[i];
	return NULL;
}

/* model: stop */
void slots_stop(struct worker *worker, const char *id, int attempt, enum stop stop, const char *way)
{
	struct job *job = slots_find(worker, id, attempt);

	if (!job || stop <= job->stop)
		return;
	metric_addf(M_STOPS, 1, "way=\"%s\"", way);
	job_stop(job, stop);
}

struct keeper_lease slots_lease(int64_t sent_ms, long long lease_seconds)
{
	return lease_since(sent_ms, lease_seconds);
}

void slots_start(struct worker *worker, const json_t *claimed, int64_t sent_ms, long long lease_seconds)
{
	const struct keeper_lease lease = lease_since(sent_ms, lease_seconds);
	struct assignment assignment;
	struct err err = ERR_INIT;
	struct job *job;
	bool refused = assignment_read(claimed, &assignment, &err) < 0;

	if (refused && err.kind == ERR_MALFORMED) {
		log_error("the scheduler gave a job that can't be read", "why", err.message, NULL);
		return;
	}
	if (running(worker) == (size_t)worker->options.slots ||
		worker->busy == (size_t)worker->options.slots + MAX_SHOWN ||
		slots_find(worker, assignment.job, assignment.attempt)) {
		log_error("the scheduler gave a job that was not asked for", "job", assignment.job, NULL);
		assignment_release(&assignment);
		return;
	}
	assignment.claimed_ms = sent_ms;
	job = job_start(&worker->host, &assignment, &lease, refused ? &err : NULL);
	worker->jobs[worker->busy++] = job;
	worker->started_job = true;
	show_busy(worker);
	slots_stop(worker, job->assignment.job, job->assignment.attempt,
		control_told(worker->control, job->assignment.job, job->assignment.attempt), "http");
	control_listen(worker->control);
}

bool slots_finishing(void *data, const char *run)
{
	const struct worker *worker = data;

	for (size_t i = 0; i < worker->busy; i++)
		if (worker->jobs[i]->reported && text_equal(worker->jobs[i]->assignment.run, run))
			return true;
	return false;
}

static bool job_uses(const struct job *job, const char *path)
{
	for (size_t i = 0; i < job->programs.count; i++)
		if (text_equal(job->programs.items[i], path))
			return true;
	return text_equal(job->engine, path);
}

bool slots_use_engine(void *data, const char *path)
{
	const struct worker *worker = data;

	for (size_t i = 0; i < worker->busy; i++)
		if (job_uses(worker->jobs[i], path))
			return true;
	return false;
}

/* The job that has waited the longest to show its plan, or NULL. */
static struct job *next_shown(const struct worker *worker)
{
	struct job *next = NULL;

	for (size_t i = 0; i < worker->busy; i++)
		if (worker->jobs[i]->turn == TURN_AWAITED &&
			(!next || worker->jobs[i]->reported_ms < next->reported_ms))
			next = worker->jobs[i];
	return next;
}

static size_t shown(const struct worker *worker)
{
	size_t count = 0;

	for (size_t i = 0; i < worker->busy; i++)
		count += worker->jobs[i]->turn == TURN_TAKEN;
	return count;
}

/* A plan is shown while a slot is free, or late beside the running jobs. A late plan takes a slot (slots_free). */
static void show_plans(void *data)
{
	struct worker *worker = data;
	size_t slots = (size_t)worker->options.slots;
	struct job *job;

	while ((job = next_shown(worker)) && shown(worker) < slots) {
		if (running(worker) + shown(worker) >= slots && !is_late(job)) {
			loop_timer_set(worker->loop, &worker->turn_timer, job->reported_ms + LATE_MS - clock_mono_ms(),
				show_plans, worker);
			return;
		}
		job_take_turn(job);
	}
}

void slots_show(void *data)
{
	struct worker *worker = data;

	loop_timer_set(worker->loop, &worker->turn_timer, FREE_MS, show_plans, worker);
}

void slots_reported(void *data, const struct job *job, const struct job_result *result)
{
	struct worker *worker = data;

	result_sink_add(worker->results, result, job->assignment.token, job->states.dir);
	show_busy(worker);
	job_source_go_on(worker->source);
}

void slots_ended(void *data, struct job *job, const struct job_result *result)
{
	struct worker *worker = data;
	size_t at = 0;

	while (worker->jobs[at] != job)
		at++;
	worker->jobs[at] = worker->jobs[--worker->busy];
	show_busy(worker);
	slots_show(worker);
	if (result)
		result_sink_add(worker->results, result, job->assignment.token, job->states.dir);
	job_source_go_on(worker->source);
	if (slots_used_up(worker) && worker->busy == 0 && worker->drain == DRAIN_NONE)
		drain_begin(worker);
	else
		drain_check(worker);
}
