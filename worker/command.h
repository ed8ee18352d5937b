/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_COMMAND_H
#define WORKER_COMMAND_H

/* One run of the engine for a job, in its sandbox, under a hold. */

#include "worker/job.h"

enum command_output {
	OUTPUT_LOG,   /* standard output and error are the job's log */
	OUTPUT_FILE,  /* standard output is the file `out`; errors are kept */
	OUTPUT_QUIET, /* both are kept, and shown in the log if the command fails */
};

enum command_env {
	ENV_JOB,    /* the job's own variables */
	ENV_COST,   /* what the worker was given for infracost; nothing of the job's */
	ENV_TOKENS, /* credentials of registries and no more: nothing of the job's can make the engine run a program */
};

struct command {
	const char *name; /* "init"; for metrics and sentences */
	struct texts args;
	enum command_env env;
	bool with_ssh_key; /* git finds the workspace's SSH key */
	enum command_output output;
	int out;       /* OUTPUT_FILE; borrowed */
	bool recorded; /* OUTPUT_LOG: the job's folder has the output too, as WORKDIR_OUTPUT (ship/record.h) */
	struct child_kind kind;
	joblog_line_fn on_line; /* OUTPUT_LOG: called with each line and the job; or NULL */
	/* The exit code; -1 if a signal ended it. `errors` is what it said on the way, NULL for OUTPUT_LOG. */
	void (*done)(struct job *job, int code, const char *errors);
};

/* Whether a program wrote its output's last line to the end. Engines end well although a write failed. */
bool command_wrote_all(int out);
/* Releases the command's args. If it can't be started, the job has failed. */
void command_run(struct job *job, struct command *command);
/* Puts a kept output into the log, and fails the job with its first error. */
void command_failed(struct job *job, const char *name, int code, const char *errors);
/* Adds the variables that every engine gets: fixed ones, and what the worker was given to reach the network. */
void command_environment(struct texts *env);
/* The job's view of its sandbox. */
struct sandbox_job command_view(const struct job *job, char **ret_root, char **ret_cli_config);

#endif
