/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/stage/stages.h"

#include <fcntl.h>
#include <unistd.h>

#include "common/err.h"
#include "worker/command.h"
#include "worker/exec/arguments.h"
#include "worker/stage/schemas.h"
#include "worker/stage/summary.h"

static void log_line_came(void *data, const char *line, size_t len)
{
	struct job *job = data;

	summary_line(line, len, &job->result);
}

/* ---- plan ---- */

static void plan_done(struct job *job, int code, const char *errors)
{
	(void)errors;
	joblog_push(&job->log);
	if (code != 0 && code != 2) {
		command_failed(job, "terraform plan", code, NULL);
		return;
	}
	job->result.has_changes = code == 2;
	if (!job_done(job))
		job_upload(job, "plan", "plan", "application/octet-stream",
			beneath_open(job->dir.root, WORKDIR_PLAN, O_RDONLY, 0));
}

static void step_plan(struct job *job)
{
	struct command command = {.name = "plan",
		.env = ENV_JOB,
		.output = OUTPUT_LOG,
		.in_order = true,
		.on_line = log_line_came,
		.done = plan_done};
	_cleanup_(freep) char *root = NULL;
	_cleanup_(freep) char *cli_config = NULL;
	struct sandbox_job view = command_view(job, &root, &cli_config);
	_cleanup_(freep) char *variables = sandbox_path(job->host->sandbox, &view, WORKDIR_VARIABLES);
	_cleanup_(freep) char *plan = sandbox_path(job->host->sandbox, &view, WORKDIR_PLAN);

	arguments_plan(&job->assignment, variables, plan, &command.args);
	command_run(job, &command);
}

/* ---- show ---- */

static void show_done(struct job *job, int code, const char *errors)
{
	if (code != 0) {
		command_failed(job, "terraform show", code, errors);
		return;
	}
	if (!job_done(job))
		job_upload(job, "plan-json", "plan-json", "application/json",
			beneath_open(job->dir.top, "plan.json", O_RDONLY, 0));
}

static void step_show(struct job *job)
{
	struct command command = {.name = "show", .env = ENV_JOB, .output = OUTPUT_FILE, .done = show_done};
	_cleanup_(freep) char *root = NULL;
	_cleanup_(freep) char *cli_config = NULL;
	struct sandbox_job view = command_view(job, &root, &cli_config);
	_cleanup_(freep) char *plan = sandbox_path(job->host->sandbox, &view, WORKDIR_PLAN);

	job->plan_json = beneath_open(job->dir.top, "plan.json", O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (job->plan_json < 0) {
		job_fail(job, OUTCOME_ERRORED, "The worker can't write a file for the plan as JSON");
		return;
	}
	command.out = job->plan_json;
	arguments_show(plan, &command.args);
	command_run(job, &command);
	schemas_send_known(job);
}

const struct step plan_steps[] = {
	{"fetch", step_fetch, false},
	{"unpack", step_unpack, false},
	{"begin", step_begin, false},
	{"get", step_get, false},
	{"init", step_init, false},
	{"keep", step_keep_init, false},
	{"plan", step_plan, false},
	{"show", step_show, false},
	{"schemas", step_schemas, false},
	{"settle", step_settle, true},
	{NULL, NULL, false},
};

const struct step *stage_steps(enum stage stage)
{
	static const struct step *const steps[] = {
		[STAGE_PLAN] = plan_steps,
		[STAGE_OPA] = opa_steps,
		[STAGE_COST] = cost_steps,
		[STAGE_SENTINEL] = sentinel_steps,
		[STAGE_APPLY] = apply_steps,
	};

	return steps[stage];
}
