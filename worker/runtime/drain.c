/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/runtime/worker.h"

#include "common/log.h"
#include "common/loop/service_manager.h"
#include "worker/metrics.h"
#include "worker/runtime/lease.h"
#include "worker/scheduler_client/job_source.h"

enum { TELL_MS = 5000, GIVE_UP_MS = 10000 }; /* after the second signal */

static void drained(void *data)
{
	struct worker *worker = data;

	loop_stop(worker->loop);
}

void drain_check(struct worker *worker)
{
	if (!worker->draining || worker->busy > 0)
		return;
	if (worker->stopped_hard)
		result_sink_hurry(worker->results);
	if (result_sink_undelivered(worker->results) == 0)
		lease_leave(worker->lease, drained, worker);
}

void drain_begin(struct worker *worker)
{
	log_info("draining: running jobs finish, no new ones are taken; a second signal stops them", NULL);
	service_manager_stopping();
	worker->draining = true;
	metric_set(M_DRAINING, "", 1);
	job_source_stop(worker->source);
	drain_check(worker);
}

static void give_up(void *data)
{
	struct worker *worker = data;

	log_warn("stopped without having told the scheduler everything", NULL);
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

	loop_timer_set(worker->loop, &worker->give_up_timer, GIVE_UP_MS - TELL_MS, give_up, worker);
	each_job(worker, job_let_go);
	drain_check(worker);
}

void drain_hurry(struct worker *worker)
{
	if (worker->stopped_hard)
		return;
	log_warn("stopping at once: what runs is killed", NULL);
	worker->draining = worker->stopped_hard = true;
	loop_timer_set(worker->loop, &worker->give_up_timer, TELL_MS, let_go, worker);
	each_job(worker, job_abandon);
	drain_check(worker);
}
