/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/stage/stages.h"

#include <fcntl.h>
#include <string.h>

#include "common/err.h"
#include "worker/cost/estimate.h"
#include "worker/cost/infracost.h"
#include "worker/runtime/command.h"

/*
 * The stage `cost`: estimates the cost of a plan from the price books in a thread, or with infracost if the worker has
 * it. The scheduler gets a document in any case. A failed estimate never stops a run.
 */

#define PLAN_JSON      "out/plan.json"
#define INFRACOST_JSON "infracost.json"
#define DOCUMENT       "cost.json"

static const size_t plan_limit = (size_t)512 << 20;

static void step_fetch_plan(struct job *job)
{
	job->plan_json = beneath_open(job->dir.root, PLAN_JSON, O_RDWR | O_CREAT | O_EXCL, 0600);
	job_download(job, "plan-json", job->plan_json, DOWNLOAD_NEEDED);
}

/* ---- infracost ---- */

/* infracost logs many lines; the last one has the error. */
static const char *last_line(const char *text, char *ret_line, size_t size)
{
	_cleanup_(freep) char *copy = mem_text(text_or_empty(text));
	char *rest = copy, *line;

	text_copy(ret_line, size, "");
	while ((line = strsep(&rest, "\n")))
		if (line[strspn(line, " \t\r")])
			text_copy(ret_line, size, line);
	return ret_line;
}

static void infracost_ended(struct job *job, int code, const char *errors)
{
	char why[600];

	if (code > 0)
		job_fail(job, OUTCOME_ERRORED, "infracost ended with exit code %d: %s", code,
			last_line(errors, why, sizeof(why)));
	else if (code < 0)
		job_fail(job, OUTCOME_ERRORED, "infracost was killed");
}

static int infracost_prepare(struct job *job, int *ret_out, struct err *err)
{
	/* infracost reads the plan and no configuration file. */
	free(job->folder);
	job->folder = mem_text("config");
	job->engine = mem_text(job->host->infracost);
	if (beneath_write(job->dir.top, "cli.tfrc", 0644, text_bytes(""), err) < 0)
		return -1;
	*ret_out = beneath_open(job->dir.top, INFRACOST_JSON, O_RDWR | O_CREAT | O_TRUNC, 0600);
	return *ret_out < 0 ? err_errno(err, INFRACOST_JSON) : 0;
}

static void step_infracost(struct job *job)
{
	struct command command = {
		.name = "infracost", .env = ENV_COST, .output = OUTPUT_FILE, .out = -1, .done = infracost_ended};
	_cleanup_(freep) char *plan = command_path(job, PLAN_JSON);
	_cleanup_(closep) int out = -1;
	struct err err = ERR_INIT;

	if (!*job->host->infracost)
		return;
	if (infracost_prepare(job, &out, &err) < 0) {
		job_fail(job, OUTCOME_ERRORED, "infracost can't be started: %s", err.message);
		return;
	}
	TEXTS_ADD(&command.args, "breakdown", "--path", plan, "--format", "json");
	command.out = out;
	command_run(job, &command);
}

/* ---- the estimate, in a thread ---- */

struct estimating {
	struct job *job;
	json_t *env;
	json_t *document;
	struct err err;
};

/* The non-sensitive environment variables, because prices may depend on a region that only the environment names. */
static json_t *plain_environment(const struct assignment *assignment)
{
	json_t *env = json_object();

	for (size_t i = 0; i < assignment->variable_count; i++) {
		const struct variable *variable = &assignment->variables[i];

		if (variable->env && !variable->sensitive)
			json_object_set_new(env, variable->key, json_string(variable->value));
	}
	return env;
}

static int estimate_read(struct estimating *estimating)
{
	struct job *job = estimating->job;
	_cleanup_(buf_release) struct buf text = BUF_INIT(plan_limit);
	struct err *err = &estimating->err;

	if (*job->host->infracost)
		return beneath_read(job->dir.top, INFRACOST_JSON, &text, err) < 0
			? -1
			: infracost_read(buf_str(&text), text.len, &estimating->document, err);
	if (beneath_read(job->dir.root, PLAN_JSON, &text, err) < 0)
		return -1;
	return estimate_plan(job->host->books, estimating->env, buf_bytes(&text), &estimating->document, err);
}

static void estimate(void *data)
{
	struct estimating *estimating = data;
	struct job *job = estimating->job;
	_cleanup_(freep) char *text = NULL;

	if (estimate_read(estimating) < 0)
		return;
	text = json_text(estimating->document);
	beneath_write(job->dir.top, DOCUMENT, 0600, text_bytes(text), &estimating->err);
}

static void estimated(void *data)
{
	struct estimating *estimating = data;
	struct job *job = estimating->job;

	if (estimating->err.kind != ERR_NONE)
		job_fail(job, OUTCOME_ERRORED, "The costs can't be estimated: %s", estimating->err.message);
	json_decref(estimating->env);
	json_decref(estimating->document);
	free(estimating);
}

static void step_estimate(struct job *job)
{
	struct estimating *estimating = mem_new(1, sizeof(*estimating));

	*estimating = (struct estimating){.job = job, .env = plain_environment(&job->assignment)};
	job_work(job, estimate, estimated, estimating);
}

/* ---- the outcome ---- */

static int write_errored(const struct job *job, struct err *err)
{
	json_auto_t *document = estimate_errored(job->result.error);
	_cleanup_(freep) char *text = json_text(document);

	return beneath_write(job->dir.top, DOCUMENT, 0600, text_bytes(text), err);
}

static void step_report(struct job *job)
{
	struct err err = ERR_INIT;

	if (job->lost || job->stop != STOP_NONE || !job->dir.name)
		return;
	if (job->decided && write_errored(job, &err) < 0)
		return; /* the result has the reason too */
	job_upload(job,
		&(struct transfer_spec){.path = "cost",
			.what = "cost estimate",
			.content_type = "application/json",
			.body_fd = beneath_open(job->dir.top, DOCUMENT, O_RDONLY, 0)});
}

const struct step cost_steps[] = {
	{"fetch", step_fetch_plan, false},
	{"infracost", step_infracost, false},
	{"estimate", step_estimate, false},
	{"report", step_report, true},
	{"settle", step_settle, true},
	{NULL, NULL, false},
};
