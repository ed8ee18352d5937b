/* SPDX-License-Identifier: MPL-2.0 */
#ifndef POLICY_COMMAND_EVALUATION_H
#define POLICY_COMMAND_EVALUATION_H

/*
 * One evaluation of one policy, in a run of its own, and what is shown of it.
 *
 * The result is written after the evaluation with limits of its own, so that a policy that reached a limit is shown,
 * too.
 */

#include <stdio.h>

#include "policy/configuration/loader.h"
#include "policy/core/output.h"

enum exit_code {
	EXIT_PASSED = 0,
	EXIT_FAILED = 1,
	EXIT_UNDEFINED = 2,
	EXIT_RUNTIME = 3, /* an error of the evaluation, or a limit */
	EXIT_OTHER = 9,   /* a file that does not parse, a wrong configuration */
};

struct evaluation_of {
	const struct load_settings *settings;
	const char *const *config_paths; /* of the configuration's files, ended by NULL; NULL: no configuration */
	const char *policy_path; /* as the command line gives it; NULL: `label` names a policy of the configuration */
	const char *label;
};

struct result {
	struct run run;
	struct evaluation_of of;
	struct configuration *configuration; /* NULL if it can't be read */
	const struct policy_entry *entry;    /* of a policy with a label */
	const char *name;  /* of the policy's file, as messages have it; before it is known the label or path */
	struct unit *unit; /* NULL if it can't be loaded */
	bool evaluated;    /* `outcome` is set; else `failure` is */
	struct outcome outcome;
	struct failure failure;
	int64_t duration_ms;
	bool without_values; /* traces show no values, since they could not be written */
};

/* Loads and evaluates. result_release is due. */
void result_make(struct result *result, const struct evaluation_of *of, const struct run_limits *limits);
void result_release(struct result *result);
enum exit_code result_code(const struct result *result);

/* Calls write(run, data) in the result's run with new limits. If it fails, calls it again with `without_values`. False
 * if that failed, too; the reason is in result->run.failure. */
bool result_write(struct result *result, void (*write)(struct run *run, void *data), void *data);

/* "FILE:LINE:COL: message", or NULL if the policy passed or failed. Within result_write. */
const char *result_error(struct run *run, const struct result *result);

/* Writes the text to the stream. False if it could not be written. */
bool output_print(const struct output *output, FILE *stream);
/* Writes what is left for standard output. `code`, or EXIT_OTHER with a message if not all could be written. */
int output_finish(int code);
/* Prints the text as a JSON string on standard output. */
void json_print_text(const char *text);
/* Prints "FILE:LINE:COL: message" on standard error, for a failure outside of a policy's evaluation. */
void failure_print(const struct failure *failure);

/* The lines of the trace: the first comment, the evaluated rules, and what was printed. Each begins with
 * `indent`; an empty line is before each part. */
void trace_text(struct run *run, const struct result *result, const char *indent, struct output *output);
/* The printed lines alone. */
void trace_prints(struct run *run, const char *indent, struct output *output);
/* {description, error, print, result, rules}. */
struct value trace_value(struct run *run, const struct result *result);
/* The value as text, cut if it is long. */
const char *trace_shown(struct run *run, struct value value);

#endif
