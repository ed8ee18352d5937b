/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/runtime/worker.h"

#include "common/log.h"
#include "common/loop/service_manager.h"
#include "worker/metrics.h"
#include "worker/runtime/lease.h"
#include "worker/scheduler_client/forwards.h"
#include "worker/scheduler_client/git_source.h"
#include "worker/scheduler_client/job_source.h"
#include "worker/upload/unsent.h"

enum { REPORT_MS = 5000, GIVE_UP_MS = 10000 }; /* after the jobs were killed */

static void drained(void *data)
{
	struct worker *worker = data;

	loop_stop(worker->loop);
}

/* The data folder may be gone with this worker, so the last states of its applies are sent first. */
static bool unsent_awaited(const struct worker *worker)
{
	const struct unsent *unsent = worker->host.unsent;

	return (worker->options.deliver ? unsent_count(unsent) : unsent_sending(unsent)) > 0;
}

void drain_check(struct worker *worker)
{
	if (worker->drain == DRAIN_NONE || worker->busy > 0 || git_source_busy(worker->git) > 0 ||
		forwards_busy(worker->forwards) > 0)
		return;
	if (worker->drain >= DRAIN_INTERRUPT)
		result_sink_hurry(worker->results);
	if (worker->drain >= DRAIN_KILL)
		unsent_hurry(worker->host.unsent);
	if (result_sink_undelivered(worker->results) == 0 && !unsent_awaited(worker))
		lease_leave(worker->lease, drained, worker);
}

static void give_up(void *data)
{
	struct worker *worker = data;

	worker->gave_up = true;
	log_warn("stopped before everything was delivered", NULL);
	loop_stop(worker->loop);
}

/* Calls fn for each job. A job that ends removes itself from the list, and the last job moves to its place. */
static void each_job(struct worker *worker, void (*fn)(struct job *job))
{
	for (size_t i = worker->busy; i > 0; i--)
		if (i <= worker->busy)
			fn(worker->jobs[i - 1]);
}

static void let_go(void *data)
{
	struct worker *worker = data;

	loop_timer_set(worker->loop, &worker->stop_timer, GIVE_UP_MS - REPORT_MS, give_up, worker);
	each_job(worker, job_let_go);
	unsent_hurry(worker->host.unsent);
	drain_check(worker);
}

static void drain_kill(void *data)
{
	struct worker *worker = data;

	log_warn("stopping at once: what runs is killed", NULL);
	worker->drain = DRAIN_KILL;
	loop_timer_set(worker->loop, &worker->stop_timer, REPORT_MS, let_go, worker);
	each_job(worker, job_kill);
	each_job(worker, job_rescue_hurry);
	git_source_give_up(worker->git);
	forwards_give_up(worker->forwards);
	drain_check(worker);
}

static void drain_interrupt(void *data)
{
	struct worker *worker = data;
	int64_t limit_ms = worker->options.job_stop_seconds * 1000;

	log_warn(
		"stopping: applies are interrupted and their states saved, other jobs are killed; a third signal kills "
		"applies, too",
		NULL);
	worker->drain = DRAIN_INTERRUPT;
	loop_timer_set(worker->loop, &worker->stop_timer, limit_ms, drain_kill, worker);
	each_job(worker, job_interrupt);
	git_source_give_up(worker->git);
	forwards_give_up(worker->forwards);
	drain_check(worker);
}

static void shown_kill(struct job *job)
{
	if (job->reported)
		job_kill(job);
}

static void shown_let_go(struct job *job)
{
	if (job->reported)
		job_let_go(job);
}

/* Ends jobs that only show their plan while no scheduler takes its JSON: they would hold up the worker's end. */
static void shown_check(void *data)
{
	struct worker *worker = data;

	loop_timer_set(worker->loop, &worker->shown_timer, REPORT_MS, shown_check, worker);
	if (worker->host.reachable(worker->host.data))
		return;
	each_job(worker, shown_kill);
	each_job(worker, shown_let_go);
}

void drain_begin(struct worker *worker)
{
	int64_t limit_ms = worker->options.drain_seconds * 1000;

	log_info("draining: running jobs finish, no new ones are taken; a second signal stops them", NULL);
	service_manager_stopping();
	worker->drain = DRAIN_FINISH;
	metric_set(M_DRAINING, "", 1);
	job_source_stop(worker->source);
	git_source_stop(worker->git);
	forwards_stop(worker->forwards);
	if (limit_ms > 0)
		loop_timer_set(worker->loop, &worker->stop_timer, limit_ms, drain_interrupt, worker);
	loop_timer_set(worker->loop, &worker->shown_timer, REPORT_MS, shown_check, worker);
	drain_check(worker);
}

static void pause_set(struct worker *worker, bool paused)
{
	if (atomic_exchange(&worker->paused, paused) == paused)
		return;
	metric_set(M_DRAINING, "", paused);
	if (paused) {
		log_info(
			"drained by an operator: running jobs finish, no new ones are taken until it is resumed", NULL);
		job_source_stop(worker->source);
		git_source_stop(worker->git);
		forwards_stop(worker->forwards);
	} else {
		log_info("resumed by an operator", NULL);
		job_source_go_on(worker->source);
		git_source_go_on(worker->git);
		forwards_go_on(worker->forwards);
	}
}

void drain_order(struct worker *worker, const char *order)
{
	if (worker->drain != DRAIN_NONE)
		return;
	if (text_equal(order, "leave")) {
		log_info("an operator ordered this worker to leave", NULL);
		drain_begin(worker);
		return;
	}
	pause_set(worker, text_equal(order, "drain"));
}

void drain_signal(struct worker *worker)
{
	switch ((enum drain)worker->drain) {
	case DRAIN_NONE:
		drain_begin(worker);
		break;
	case DRAIN_FINISH:
		drain_interrupt(worker);
		break;
	case DRAIN_INTERRUPT:
		drain_kill(worker);
		break;
	case DRAIN_KILL:
		break;
	}
}
