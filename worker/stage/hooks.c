/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/hooks/hooks.h"

#include <stdio.h>
#include <string.h>

#include "common/err.h"
#include "worker/hooks/hook_env.h"
#include "worker/runtime/command.h"
#include "worker/stage/stages.h"

/*
 * The steps that run the operator's hooks. A hook is a program of the job as the engine's commands are: it has the
 * job's keeper, limits, lease and log, and ends with all its processes. A hook that fails fails the job.
 *
 * Nothing undoes an apply that has succeeded. If a hook fails after it, the run is errored and keeps its counts and its
 * state, and the error says that the changes are made. If a user's cancel stops that hook, the run is applied.
 */

/* Shorter values of TFC_AGENT_ENV are not redacted, since names of regions and levels occur everywhere in a log. */
enum { SECRET_MIN = 16, REASON_SIZE = 700 };

/* ---- the end of a hook ---- */

/* An error of the backend or the state is the more important one. */
static void applied_fail(struct job *job, const char *reason)
{
	_cleanup_(freep) char *text = mem_printf(
		"The apply has succeeded: its changes are made. The run is errored because of a hook. %s", reason);

	if (job->result.outcome != OUTCOME_PASSED)
		return;
	job->hook_failed = true;
	job->result.outcome = OUTCOME_ERRORED;
	job_error_set(job, text);
}

static void hook_fail(struct job *job, const char *reason)
{
	if (!job->lost && (job->stop == STOP_NONE || job->applied)) {
		joblog_write(&job->log, reason);
		joblog_write(&job->log, "\n");
	}
	if (job->applied)
		applied_fail(job, reason);
	else
		job_fail(job, OUTCOME_FAILED, "%s", reason);
}

static void hook_refused(struct job *job, const char *why)
{
	_cleanup_(freep) char *reason = mem_printf("The %s hook can't be started: %s", hook_name(job->hook), why);

	hook_fail(job, reason);
}

/* The folder of the file TFC_AGENT_ENV. The processes of the job can't reach that of a trusted hook. */
static int env_folder(const struct job *job)
{
	return job->host->hooks->trusted ? job->dir.top : job->dir.root;
}

static void secrets_add(struct job *job)
{
	for (size_t i = 0; i < job->hook_env.count; i++) {
		const char *value = strchr(job->hook_env.items[i], '=') + 1;

		if (strlen(value) >= SECRET_MIN)
			redactor_add(&job->redactor, value);
	}
}

static void env_take(struct job *job)
{
	_cleanup_(buf_release) struct buf content = BUF_INIT(HOOK_ENV_LIMIT);
	_cleanup_(freep) char *reason = NULL;
	struct err err = ERR_INIT;

	if (beneath_read(env_folder(job), WORKDIR_HOOK_ENV, &content, &err) == 0 &&
		hook_env_read(buf_bytes(&content), &job->hook_env, &err) == 0) {
		secrets_add(job);
		return;
	}
	reason = mem_printf(
		"The file TFC_AGENT_ENV of the %s hook can't be used: %s.", hook_name(job->hook), err.message);
	hook_fail(job, reason);
}

static void reason_write(const struct job *job, int code, char ret_reason[REASON_SIZE])
{
	const char *name = hook_name(job->hook);

	if (job->stop != STOP_NONE)
		snprintf(ret_reason, REASON_SIZE, "The %s hook was stopped before its end.", name);
	else if (code == COMMAND_OVERDUE)
		snprintf(ret_reason, REASON_SIZE,
			"The %s hook took longer than %lld s (--hook-seconds of the worker) and was killed.", name,
			(long long)job->host->hooks->seconds);
	else if (code < 0)
		snprintf(ret_reason, REASON_SIZE, "The %s hook was killed.", name);
	else
		snprintf(ret_reason, REASON_SIZE, "The %s hook ended with exit code %d.", name, code);
}

static void hook_done(struct job *job, int code, const char *errors)
{
	char reason[REASON_SIZE];

	(void)errors;
	if (code == 0) {
		env_take(job);
	} else {
		reason_write(job, code, reason);
		hook_fail(job, reason);
	}
	joblog_push(&job->log);
}

/* ---- the start ---- */

static int hook_prepare(const struct job *job, struct err *err)
{
	if (hook_check(job->host->hooks, job->hook, err) < 0)
		return -1;
	beneath_remove(env_folder(job), WORKDIR_HOOK_ENV); /* the job may have put something else there */
	return beneath_write(env_folder(job), WORKDIR_HOOK_ENV, 0600, text_bytes(""), err);
}

static void hook_run(struct job *job, enum hook_kind kind)
{
	static const char *const names[HOOK_COUNT] = {
		"pre-plan-hook", "post-plan-hook", "pre-apply-hook", "post-apply-hook"};
	const struct hooks *hooks = job->host->hooks;
	struct command command = {.name = names[kind],
		.hook = hook_file(kind),
		.env = hooks->trusted ? ENV_TRUSTED : ENV_HOOK,
		.output = OUTPUT_LOG,
		.max_seconds = hooks->seconds,
		.refused = hook_refused,
		.done = hook_done};
	_cleanup_(freep) char *line = mem_printf("Executing %s hook...\n", hook_name(kind));
	struct err err = ERR_INIT;

	if (!hooks->present[kind])
		return;
	job->hook = kind;
	joblog_write(&job->log, line);
	joblog_push(&job->log);
	if (hook_prepare(job, &err) < 0)
		hook_refused(job, err.message);
	else
		command_run(job, &command);
}

static bool is_apply(const struct job *job)
{
	return job->assignment.stage == STAGE_APPLY;
}

void step_pre_hook(struct job *job)
{
	hook_run(job, is_apply(job) ? HOOK_PRE_APPLY : HOOK_PRE_PLAN);
}

/* After each end of the engine, also after a failure or a cancel of the user. */
void step_post_hook(struct job *job)
{
	if (job->engine_ended && !job->lost && !job->abandoned && job->stop != STOP_FORCE)
		hook_run(job, is_apply(job) ? HOOK_POST_APPLY : HOOK_POST_PLAN);
}
