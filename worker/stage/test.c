/* SPDX-License-Identifier: MPL-2.0 */
#include "proto/version.h"
#include "worker/engine/arguments.h"
#include "worker/runtime/command.h"
#include "worker/stage/stages.h"
#include "worker/stage/summary.h"

static void line_came(void *data, const char *line, size_t len)
{
	struct job *job = data;

	if (!job->decided) /* else the result says why the tests were stopped */
		summary_test_line(line, len, &job->result);
}

/* The engine exits with 1 both if a test failed and if no test could run. Only tests that ran have a summary with
 * results. A run whose tests failed has passed: its results say so. */
static void test_done(struct job *job, int code, const char *errors)
{
	const struct job_result *result = &job->result;
	bool ran = result->additions + result->changes + result->destructions + result->imports > 0;

	(void)errors;
	job->engine_ended = true;
	joblog_push(&job->log);
	if (job->decided)
		return;
	if (code == 0 || (code == 1 && ran)) {
		job->result.error[0] = '\0';
		return;
	}
	command_failed(job, "terraform test", code, NULL);
}

/* terraform has the flag since 1.12, and OpenTofu has none. */
static bool has_parallelism(const struct job *job)
{
	static const struct version first = {.part = {1, 12, 0}, .text = "1.12.0-alpha"};
	struct version version;

	return !job->tofu && version_parse(job->result.terraform_version, &version) == 0 &&
		version_compare(&version, &first) >= 0;
}

/* The results are lines of the log, and their numbers those of the job's result: nothing else is uploaded. */
void test_run(struct job *job, const char *var_file)
{
	struct command command = {.name = "test",
		.env = ENV_JOB,
		.with_credentials = true,
		.output = OUTPUT_LOG,
		.kind = {.in_order = true},
		.on_line = line_came,
		.done = test_done};

	arguments_test(&job->assignment, var_file, has_parallelism(job), &command.args);
	command_run(job, &command);
}
