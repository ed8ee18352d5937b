/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/engine/arguments.h"
#include "worker/runtime/command.h"
#include "worker/stage/stages.h"

static void query_done(struct job *job, int code, const char *errors)
{
	(void)errors;
	job->engine_ended = true;
	joblog_push(&job->log);
	if (code == 0)
		return;
	command_failed(job, "terraform query", code, NULL);
	init_useless(job);
}

/* The results are lines of the log: nothing else is uploaded. */
void query_run(struct job *job, const char *var_file)
{
	struct command command = {.name = "query",
		.env = ENV_JOB,
		.with_credentials = true,
		.output = OUTPUT_LOG,
		.kind = {.in_order = true},
		.on_line = plan_line_came,
		.done = query_done};
	_cleanup_(freep) char *plan = command_path(job, WORKDIR_PLAN);
	_cleanup_(freep) char *generated = mem_printf("%s.tf", plan);

	arguments_query(var_file, job->assignment.generate ? generated : NULL, &command.args);
	command_run(job, &command);
}
