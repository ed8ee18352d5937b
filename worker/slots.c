/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/worker.h"

#include "common/err.h"
#include "common/log.h"
#include "worker/claim.h"
#include "worker/metrics.h"

size_t slots_free(const struct worker *worker)
{
	return worker->draining ? 0 : (size_t)worker->options.slots - worker->busy;
}

struct job *slots_find(const struct worker *worker, const char *job, int attempt)
{
	for (size_t i = 0; i < worker->busy; i++)
		if (worker->jobs[i]->assignment.attempt == attempt && text_equal(worker->jobs[i]->assignment.job, job))
			return worker->jobs[i];
	return NULL;
}

void slots_start(struct worker *worker, const json_t *claimed)
{
	struct assignment assignment;
	struct err err = ERR_INIT;
	bool refused = assignment_read(claimed, &assignment, &err) < 0;

	if (refused && err.kind == ERR_MALFORMED) {
		log_error("the scheduler gave a job that can't be read", "why", err.message, NULL);
		return;
	}
	if (worker->busy == (size_t)worker->options.slots || slots_find(worker, assignment.job, assignment.attempt)) {
		log_error("the scheduler gave a job that was not asked for", "job", assignment.job, NULL);
		assignment_release(&assignment);
		return;
	}
	worker->jobs[worker->busy++] = job_start(&worker->host, &assignment, refused ? &err : NULL);
	metric_set(M_SLOTS_BUSY, "", (double)worker->busy);
}

void slots_ended(void *data, struct job *job, const struct job_result *result)
{
	struct worker *worker = data;
	size_t at = 0;

	while (worker->jobs[at] != job)
		at++;
	worker->jobs[at] = worker->jobs[--worker->busy];
	metric_set(M_SLOTS_BUSY, "", (double)worker->busy);
	if (result)
		results_add(worker->results, result, job->assignment.token);
	claims_slot_freed(worker->claims);
	drain_check(worker);
}
