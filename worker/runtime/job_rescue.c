/* SPDX-License-Identifier: MPL-2.0 */
#include "common/err.h"
#include "worker/runtime/job.h"
#include "worker/rescue/rescue.h"

/* The last state and the result, as if the job ended now. The scheduler need not be told that it has everything, and
 * a state that can't be read holds the workspace until a person has looked at it. */
static bool final_collect(const struct job *job, json_t *head, struct buf *state)
{
	struct job_result result = job->result;
	struct err unreadable = ERR_INIT;
	struct state_facts facts;
	bool behind = states_behind(&job->states, &unreadable);

	if (unreadable.kind != ERR_NONE || job_state_is_missing(job) ||
		(!behind && job->host->reachable(job->host->data)) ||
		(behind && leftover_read(job->dir.top, state, &facts) < 0))
		return false;
	job_outcome(job, &result);
	result.state_owed = json_array_size(job->unrecorded) > 0;
	json_object_set_new(head, "final", json_true());
	if (!job->lost)
		rescue_add_result(head, &result);
	if (job->unrecorded)
		json_object_set(head, "unrecorded", job->unrecorded);
	return true;
}

static bool collect(void *data, json_t *head, struct buf *state)
{
	const struct job *job = data;
	struct state_facts facts;

	return job->over ? final_collect(job, head, state) : leftover_read(job->dir.top, state, &facts) == 0;
}

void job_rescue_begin(struct job *job)
{
	job->rescue = rescue_new(&(struct rescue_spec){.loop = job->host->loop,
		.fetcher = job->host->outside,
		.url = job->assignment.rescue_url,
		.key = job->assignment.rescue_key,
		.job = job->assignment.job,
		.run = job->assignment.run,
		.attempt = job->assignment.attempt});
	rescue_source(job->rescue, collect, job);
	job->states.rescue = job->rescue;
}

void job_rescue_hurry(struct job *job)
{
	rescue_hurry(job->rescue);
}
