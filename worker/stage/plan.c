/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/stage/stages.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"
#include "worker/engine/arguments.h"
#include "worker/packages/used.h"
#include "worker/runtime/command.h"
#include "worker/stage/schemas.h"
#include "worker/stage/summary.h"

void plan_line_came(void *data, const char *line, size_t len)
{
	struct job *job = data;

	summary_line(line, len, &job->result);
}

/* ---- plan ---- */

/* The plan file is a zip archive. An engine reports no error if it can't write all of it. A file that OpenTofu
 * encrypts is no zip. */
static bool plan_is_whole(int plan)
{
	enum { END_SIZE = 22 };
	char first[2], end[END_SIZE];
	struct stat info;

	if (plan < 0 || fstat(plan, &info) < 0 || info.st_size < END_SIZE ||
		pread(plan, first, sizeof(first), 0) != sizeof(first) ||
		pread(plan, end, sizeof(end), info.st_size - END_SIZE) != sizeof(end))
		return false;
	return memcmp(first, "PK", 2) != 0 || memcmp(end, "PK\5\6", 4) == 0;
}

/* The explorer shows them. A plan does not fail for lack of them. */
static void packages_upload(struct job *job)
{
	static const char name[] = "packages.json";
	_cleanup_(freep) char *used = job->assignment.takes_packages ? packages_used(job->dir.root, job->folder) : NULL;
	struct err err = ERR_INIT;

	if (!used || beneath_write(job->dir.top, name, 0600, (struct bytes){used, strlen(used)}, &err) < 0)
		return;
	job_upload(job,
		&(struct transfer_spec){.path = "packages",
			.what = "packages",
			.content_type = "application/json",
			.body_fd = beneath_open(job->dir.top, name, O_RDONLY, 0),
			.batched = IN_BATCH});
}

static void plan_upload(struct job *job)
{
	int plan = beneath_open(job->dir.root, WORKDIR_PLAN, O_RDONLY, 0);

	if (!plan_is_whole(plan)) {
		closep(&plan);
		job_fail(job, OUTCOME_FAILED, "The plan file was not written to the end: is the worker's disk full?");
		return;
	}
	job_upload(job,
		&(struct transfer_spec){.path = "plan",
			.what = "plan",
			.content_type = "application/octet-stream",
			.body_fd = plan,
			.batched = IN_BATCH});
	packages_upload(job);
}

static void plan_done(struct job *job, int code, const char *errors)
{
	(void)errors;
	job->engine_ended = true;
	joblog_push(&job->log);
	if (code != 0 && code != 2) {
		command_failed(job, "terraform plan", code, NULL);
		init_useless(job);
		return;
	}
	job->result.has_changes = code == 2;
	if (!job_done(job))
		plan_upload(job);
}

static void step_plan(struct job *job)
{
	struct command command = {.name = "plan",
		.env = ENV_JOB,
		.with_credentials = true,
		.output = OUTPUT_LOG,
		.kind = {.in_order = true},
		.on_line = plan_line_came,
		.done = plan_done};
	_cleanup_(freep) char *variables = command_path(job, WORKDIR_VARIABLES);
	_cleanup_(freep) char *plan = command_path(job, WORKDIR_PLAN);
	_cleanup_(closep) int given = beneath_open(job->dir.root, WORKDIR_VARIABLES, O_RDONLY, 0);

	if (job->assignment.query) {
		query_run(job, given < 0 ? NULL : variables);
		return;
	}
	if (job->assignment.test) {
		test_run(job, given < 0 ? NULL : variables);
		return;
	}
	arguments_plan(&job->assignment, given < 0 ? NULL : variables, plan, &command.args);
	command_run(job, &command);
}

/* ---- a result that does not wait for the JSON ---- */

static bool json_comes_later(const struct job *job)
{
	return job->assignment.json_later && job->result.has_changes;
}

static void step_hand_in(struct job *job)
{
	if (json_comes_later(job))
		step_settle(job);
}

static void step_report(struct job *job)
{
	if (json_comes_later(job))
		job_report(job);
}

static void step_turn(struct job *job)
{
	if (job->reported && plan_is_shown(job))
		job_await_turn(job);
}

/* ---- show ---- */

bool plan_is_shown(const struct job *job)
{
	_cleanup_(closep) int plan = -1;

	if (job->assignment.query || job->assignment.test)
		return false;
	if (job->optional)
		return !job->lost && job->stop == STOP_NONE;
	if (job->assignment.stage == STAGE_APPLY)
		return false;
	if (!job_done(job))
		return true;
	if (!job->assignment.generate || job->lost || job->stop != STOP_NONE)
		return false;
	plan = beneath_open(job->dir.root, WORKDIR_PLAN, O_RDONLY, 0);
	return plan >= 0;
}

static void show_done(struct job *job, int code, const char *errors)
{
	if (code != 0) {
		command_failed(job, "terraform show", code, errors);
		return;
	}
	if (!command_wrote_all(job->plan_json)) {
		command_failed(job, "terraform show", code,
			"Error: The plan as JSON was not written to the end: is the worker's disk full?\n");
		return;
	}
	if (plan_is_shown(job))
		job_upload_plan(job, "plan-json", "plan-json", beneath_open(job->dir.top, "plan.json", O_RDONLY, 0));
}

void step_show(struct job *job)
{
	struct command command = {.name = "show", .env = ENV_JOB, .output = OUTPUT_FILE, .done = show_done};
	_cleanup_(freep) char *plan = command_path(job, WORKDIR_PLAN);

	if (!plan_is_shown(job))
		return;
	job->plan_json = beneath_open(job->dir.top, "plan.json", O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (job->plan_json < 0) {
		job_fail(
			job, OUTCOME_ERRORED, "The worker can't make a file for the plan as JSON: %s", strerror(errno));
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
	{"reuse", step_reuse, false},
	{"begin", step_begin, false},
	{"credentials", step_credentials, false},
	{"pre-hook", step_pre_hook, false},
	{"announce", step_announce_init, false},
	{"get", step_get, false},
	{"init", step_init, false},
	{"backend", step_check_backend, false},
	{"keep", step_keep_init, false},
	{"key", step_schemas_key, false},
	{"plan", step_plan, false},
	{"post-hook", step_post_hook, true},
	{"revoke", step_revoke, true},
	{"hand-in", step_hand_in, false},
	{"report", step_report, false},
	{"turn", step_turn, true},
	{"show", step_show, true},
	{"schemas", step_schemas, true},
	{"settle", step_settle, true},
	{NULL, NULL, false},
};
