/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/stage/stages.h"

#include <fcntl.h>
#include <unistd.h>

#include "common/err.h"
#include "common/log.h"
#include "worker/engine/arguments.h"
#include "worker/identity/vault_session.h"
#include "worker/runtime/command.h"
#include "worker/stage/schemas.h"
#include "worker/stage/summary.h"
#include "worker/rescue/rescue.h"
#include "worker/upload/reserve.h"
#include "worker/upload/unrecorded.h"
#include "worker/upload/unsent.h"

/* ---- the start ---- */

static void started_answered(void *data, int status, const struct buf *body)
{
	struct job *job = data;
	char why[300];

	answer_sentence(status, body, why, sizeof(why));
	if (status == 409 || status == 404)
		job_lose(job);
	else if (status < 200 || status >= 300)
		job_fail(job, OUTCOME_ERRORED, "The scheduler did not let the apply start: %s", why);
	job_release(job);
}

/* After the scheduler has answered this request, the apply is never retried on another worker. So this is the last
 * step before terraform starts, and the note for a restarted worker is on the disk before. */
static void step_start(struct job *job)
{
	const struct transfer_spec spec = {
		.method = "POST", .path = "started", .what = "started", .expects_refusal = true, .batched = IN_BATCH};
	struct unsent_job note = {.job = job->assignment.job,
		.token = job->assignment.token,
		.run = job->assignment.run,
		.organization = job->assignment.organization_id,
		.folder = job->folder};
	struct err err = ERR_INIT;

	/* After a slow answer to the claim, the lease may be over already, and another worker may get the job. */
	if (!job_leased(job))
		return;
	states_init(&job->states, job->host->loop, &job->channel, &job->dir);
	job_rescue_begin(job);
	note.digest = job->states.delivered.digest;
	if (job->assignment.state_differences)
		states_differ(&job->states);
	if (unsent_note(job->host->unsent, &job->dir, &note, &err) < 0) {
		job_fail(job, OUTCOME_ERRORED, "The worker can't note that the apply begins: %s", err.message);
		return;
	}
	if (reserve_allocate(&job->dir, job->folder, job->host->limits->disk << 20, &err) < 0) {
		job_fail(job, OUTCOME_ERRORED,
			"The apply was not started: the worker can't allocate disk space for its last state, %s",
			err.message);
		return;
	}
	job_hold(job);
	joblog_push(&job->log); /* sent in the same request */
	channel_send(&job->channel, &spec, started_answered, job);
}

/* ---- apply ---- */

static void log_line_came(void *data, const char *line, size_t len)
{
	struct job *job = data;

	summary_line(line, len, &job->result);
	if (job->changed || !summary_line_changes(line, len))
		return;
	job->changed = true;
	unsent_changed(&job->dir);
}

static void apply_done(struct job *job, int code, const char *errors)
{
	(void)errors;
	job->engine_ended = true;
	joblog_push(&job->log);
	states_ended(&job->states, job->folder);
	if (code != 0) {
		command_failed(job, "terraform apply", code, NULL);
		return;
	}
	job->applied = job->decided = true;
	job->result.outcome = OUTCOME_PASSED;
	job->result.error[0] = '\0';
}

static void step_apply(struct job *job)
{
	struct command command = {.name = "apply",
		.env = ENV_JOB,
		.with_credentials = true,
		.output = OUTPUT_LOG,
		.recorded = true,
		.kind = {.in_order = true, .outlives = true},
		.on_line = log_line_came,
		.done = apply_done};
	_cleanup_(freep) char *plan = command_path(job, WORKDIR_PLAN);
	_cleanup_(freep) char *variables = command_path(job, WORKDIR_AGAIN);
	_cleanup_(closep) int again = beneath_open(job->dir.root, WORKDIR_AGAIN, O_RDONLY, 0);
	struct err err = ERR_INIT;

	if (states_watch(&job->states, &err) < 0) {
		job_fail(job, OUTCOME_ERRORED, "The worker can't watch the state: %s", err.message);
		return;
	}
	if (job->vault)
		vault_session_outlive(job->vault);
	arguments_apply(&job->assignment, again < 0 ? NULL : variables, plan, &command.args);
	command_run(job, &command);
}

/* Checks again after the apply, because code that ran during it can have changed the backend. */
static void step_check_applied(struct job *job)
{
	if (job->applied)
		step_check_backend(job);
}

/* ---- unrecorded resources ---- */

static void compare(void *data)
{
	struct job *job = data;

	job->unrecorded = unrecorded_find(job->dir.top);
}

static void compared(void *data)
{
	const struct job *job = data;

	if (json_array_size(job->unrecorded))
		log_warn("an apply reported resources that its last state does not show", "run", job->result.run.text,
			"job", job->result.job.text, NULL);
}

/* Compares unless the engine succeeded: then the state has all that it reported. */
static void step_compare(struct job *job)
{
	if (!job->states.dir)
		return;
	if (job->applied && !job_state_is_missing(job))
		job->unrecorded = json_array();
	else
		job_work(job, compare, compared, job);
}

/* ---- the end of the engine ---- */

/* From now on the last state and the result are known. The steps that follow may wait for the scheduler. */
static void step_over(struct job *job)
{
	if (!job->states.dir)
		return;
	job->over = true;
	rescue_end(job->rescue);
}

/* ---- the plan's JSON, if the plan's worker did not make it ---- */

static void json_answered(void *data, int status, const struct buf *body)
{
	struct job *job = data;

	(void)body;
	job->optional = status == 404;
	job_release(job);
}

static void step_ask_json(struct job *job)
{
	const struct transfer_spec spec = {.method = "PUT",
		.path = "plan-json",
		.what = "plan-json",
		.expects_refusal = true,
		.batched = IN_BATCH};

	if (job->assignment.has_json || !job->states.dir || job->lost || job->stop != STOP_NONE)
		return;
	if (job->host->finishing(job->host->data, job->assignment.run))
		return; /* it is made here, with the steps of the plan */
	job_hold(job);
	channel_send(&job->channel, &spec, json_answered, job);
}

const struct step apply_steps[] = {
	{"fetch", step_fetch, false},
	{"unpack", step_unpack, false},
	{"begin", step_begin, false},
	{"credentials", step_credentials, false},
	{"pre-hook", step_pre_hook, false},
	{"announce", step_announce_init, false},
	{"get", step_get, false},
	{"init", step_init, false},
	{"backend", step_check_backend, false},
	{"keep", step_keep_init, false},
	{"key", step_schemas_key, false},
	{"start", step_start, false},
	{"apply", step_apply, false},
	{"check", step_check_applied, true},
	{"compare", step_compare, true},
	{"over", step_over, true},
	{"post-hook", step_post_hook, true},
	{"revoke", step_revoke, true},
	{"ask-json", step_ask_json, true},
	{"show", step_show, true},
	{"schemas", step_schemas, true},
	{"settle", step_settle, true},
	{NULL, NULL, false},
};
