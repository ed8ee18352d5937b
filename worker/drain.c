/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/worker.h"

#include "common/log.h"
#include "worker/claim.h"
#include "worker/lease.h"
#include "worker/metrics.h"

enum { HURRY_MS = 5000 };

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
		results_hurry(worker->results);
	if (results_undelivered(worker->results) == 0)
		lease_leave(worker->lease, drained, worker);
}

void drain_begin(struct worker *worker)
{
	log_info("draining: running jobs finish, no new ones are taken; a second signal stops them", NULL);
	worker->draining = true;
	metric_set(M_DRAINING, "", 1);
	claims_end(worker->claims);
	drain_check(worker);
}

static void give_up(void *data)
{
	struct worker *worker = data;

	log_warn("stopped without having told the scheduler everything", NULL);
	loop_stop(worker->loop);
}

void drain_hurry(struct worker *worker)
{
	if (worker->stopped_hard)
		return;
	log_warn("stopping at once: what runs is killed", NULL);
	worker->draining = worker->stopped_hard = true;
	loop_timer_set(worker->loop, &worker->give_up_timer, HURRY_MS, give_up, worker);
	/* A job that ends takes itself out of the list, and the last one moves to its place. */
	for (size_t i = worker->busy; i > 0; i--)
		if (i <= worker->busy)
			job_abandon(worker->jobs[i - 1]);
	drain_check(worker);
}
