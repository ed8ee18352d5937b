/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_RUNTIME_COMMAND_H
#define WORKER_RUNTIME_COMMAND_H

/* Runs one engine command for a job, in its sandbox and under a hold. */

#include "worker/runtime/job.h"

struct err;

enum command_output {
	OUTPUT_LOG,   /* standard output and error are the job's log */
	OUTPUT_FILE,  /* standard output goes to the file `out`; errors are kept */
	OUTPUT_QUIET, /* both are kept, and shown in the log if the command fails */
};

enum command_env {
	ENV_JOB,    /* the job's own variables */
	ENV_COST,   /* the worker's infracost settings, and nothing of the job's */
	ENV_TOKENS, /* only credentials of registries, so that the job's variables can't make the engine run a program
		     */
};

struct command {
	const char *name; /* "init"; used in metrics and messages */
	struct texts args;
	enum command_env env;
	bool with_ssh_key;     /* git uses the workspace's SSH key */
	bool with_credentials; /* ENV_JOB: the run's dynamic credentials, too (identity/credentials.h) */
	enum command_output output;
	int out;       /* OUTPUT_FILE; borrowed */
	bool recorded; /* OUTPUT_LOG: the output is also written to WORKDIR_OUTPUT in the job's folder (upload/record.h)
			*/
	struct child_kind kind;
	joblog_line_fn on_line; /* OUTPUT_LOG: called with each line and the job; or NULL */
	/* `code` is the exit code, or -1 if a signal ended the command. `errors` is its kept output, NULL for
	 * OUTPUT_LOG. */
	void (*done)(struct job *job, int code, const char *errors);
};

/* Whether the last line of a program's output is complete. Engines exit with success even if a write failed. */
bool command_wrote_all(int out);
/* Releases the command's args. Fails the job if the command can't be started. */
void command_run(struct job *job, struct command *command);
/* Writes a kept output to the log, and fails the job with the first error in it. */
void command_failed(struct job *job, const char *name, int code, const char *errors);
/* Adds the variables that every engine gets: fixed ones, and the worker's own settings for network access. */
void command_environment(struct texts *env);
/* Adds the variables of the job's dynamic credentials. ERR_TOO_LARGE. */
int command_credentials(const struct job *job, struct texts *env, struct err *err);
/* The path of a file below the job's root ("" for the root), as the job's programs see it. The caller frees it. */
char *command_path(const struct job *job, const char *path);

#endif
