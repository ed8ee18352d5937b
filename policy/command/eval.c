/* SPDX-License-Identifier: MPL-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base.h"
#include "common/clock.h"
#include "policy/command/command.h"
#include "policy/command/evaluation.h"
#include "policy/command/folder.h"
#include "policy/library/json.h"

/* One call of the command. */
struct eval {
	const struct options *options;
	struct load_settings settings;
	struct evaluation_of of; /* without a label */
	size_t shown;            /* policies so far */
	enum exit_code code;     /* the highest */
	struct failure failure;  /* of the configuration, of which no policy could be evaluated */
};

/* ---- what is written of a policy ---- */

struct written {
	const struct eval *eval;
	struct result *result;
	struct output out, errors;
};

static const char *const words[] = {
	[EXIT_PASSED] = "Pass",
	[EXIT_FAILED] = "Fail",
	[EXIT_UNDEFINED] = "Fail",
	[EXIT_RUNTIME] = "Error",
	[EXIT_OTHER] = "Error",
};

static void write_text(struct run *run, struct written *written)
{
	const struct result *result = written->result;

	output_text(run, &written->out,
		run_text(run, "%s%s - %s\n", written->eval->shown > 0 ? "\n" : "", words[result_code(result)],
			result->name));
	if (written->eval->options->trace || result_code(result) != EXIT_PASSED)
		trace_text(run, result, "", &written->out);
	else
		trace_prints(run, "", &written->out);
}

static void write_json(struct run *run, struct written *written)
{
	const struct result *result = written->result;
	const char *error = result_error(run, result);
	struct value map = map_new(run, 6);

	map_set_text(run, map, "policy", string_text(run, result->of.label ? result->of.label : result->name));
	map_set_text(run, map, "result", value_bool(result_code(result) == EXIT_PASSED));
	map_set_text(run, map, "error", error ? string_text(run, error) : value_null());
	map_set_text(run, map, "enforcement_level",
		string_text(run, result->entry ? result->entry->enforcement_level : "advisory"));
	map_set_text(run, map, "duration", value_int(result->duration_ms));
	map_set_text(run, map, "trace", trace_value(run, result));
	if (written->eval->shown > 0)
		output_text(run, &written->out, ",");
	json_write(run, &written->out, map);
}

static void write_rule(struct run *run, struct written *written)
{
	const char *rule = written->eval->options->json_rule;
	struct value value;

	if (!written->result->unit || !unit_variable(written->result->unit, rule, strlen(rule), &value)) {
		output_text(run, &written->errors,
			run_text(run, "%s: \"%s\" was not evaluated\n", written->result->name, rule));
		return;
	}
	if (written->result->without_values || !json_write(run, &written->out, value))
		output_text(run, &written->out, "null");
	output_text(run, &written->out, "\n");
}

static void write_errors(struct run *run, struct written *written)
{
	const char *error = result_error(run, written->result);
	struct iterator at;

	if (error)
		output_text(run, &written->errors, run_text(run, "%s\n", error));
	if (!written->result->configuration)
		return;
	at = value_iterate(run, written->result->configuration->warnings);
	while (iterator_next(run, &at)) {
		output_add(run, &written->errors, string_bytes(at.element), string_len(at.element));
		output_text(run, &written->errors, "\n");
	}
}

static void write_result(struct run *run, void *data)
{
	struct written *written = data;
	const struct options *options = written->eval->options;

	written->out = written->errors = (struct output){0};
	write_errors(run, written);
	if (options->json_rule)
		write_rule(run, written);
	else if (options->json)
		write_json(run, written);
	else
		write_text(run, written);
}

static void show(struct eval *eval, struct result *result)
{
	struct written written = {.eval = eval, .result = result};

	if (!result_write(result, write_result, &written)) {
		fprintf(stderr, "%s: the result can't be written: %s\n", result->name, result->run.failure.message);
		eval->code = EXIT_OTHER;
		return;
	}
	output_print(&written.errors, stderr);
	output_print(&written.out, stdout);
	fflush(stdout);
	eval->shown++; /* without a gap: it separates what is written */
}

/* ---- the policies ---- */

static void evaluate(struct eval *eval, const struct evaluation_of *of)
{
	const struct run_limits limits = options_limits(eval->options);
	struct result result;

	result_make(&result, of, &limits);
	if (result_code(&result) > eval->code)
		eval->code = result_code(&result);
	show(eval, &result);
	result_release(&result);
}

/* The labels of a configuration, each ended by a zero byte, at most MAX_CONFIGURATION bytes. */
struct labels {
	const struct eval *eval;
	char *text; /* owned */
	size_t count;
};

static void read_labels(struct run *run, void *data)
{
	const struct reader reader = {.subject = "the configuration"};
	struct labels *labels = data;
	const struct files *files = &labels->eval->settings.files;
	const struct configuration *configuration =
		configuration_read(run, files, labels->eval->of.config_paths, &reader);
	struct output output = {0};

	for (const struct policy_entry *policy = configuration->policies; policy; policy = policy->next) {
		output_add(run, &output, policy->name, strlen(policy->name) + 1);
		labels->count++;
	}
	if (labels->count == 0)
		run_fail_at(run, (struct place){.source = configuration->source}, "the configuration has no policies");
	labels->text = malloc(output.len + 1);
	if (!labels->text)
		run_fail(run, "out of memory");
	memcpy(labels->text, output.len > 0 ? output.bytes : "", output.len);
}

static void evaluate_labels(struct eval *eval, const struct labels *labels)
{
	const char *label = labels->text;

	for (size_t i = 0; i < labels->count; i++, label += strlen(label) + 1) {
		struct evaluation_of of = eval->of;

		of.label = label;
		evaluate(eval, &of);
	}
}

static void evaluate_all(struct eval *eval)
{
	const struct run_limits limits = options_limits(eval->options);
	struct labels labels = {.eval = eval};
	struct run run;

	run_init(&run, &limits);
	run.loading = true;
	if (run_protected(&run, read_labels, &labels) == 0) {
		evaluate_labels(eval, &labels);
	} else {
		failure_print(&run.failure);
		eval->failure = run.failure;
		eval->code = EXIT_OTHER;
	}
	run_release(&run);
	free(labels.text);
}

static void evaluate_selected(struct eval *eval)
{
	struct evaluation_of of = eval->of;

	of.label = eval->options->policy;
	if (of.label || of.policy_path)
		evaluate(eval, &of);
	else
		evaluate_all(eval);
}

/* ---- the command ---- */

static bool is_usable(const struct options *options, bool configured)
{
	if (options->path_count > 1)
		fprintf(stderr, "eval takes one policy\n");
	else if (options->path_count == 1 && options->policy)
		fprintf(stderr, "eval takes a file or -policy, not both\n");
	else if (options->path_count == 0 && !configured)
		fprintf(stderr, "there is no policy, and no sentinel.hcl in this folder (-config)\n");
	else
		return true;
	return false;
}

/* Of the whole call, as JSON. */
static void print_error(const struct eval *eval)
{
	if (eval->failure.kind != FAILURE_NONE)
		json_print_text(eval->failure.message);
	else if (eval->code > EXIT_FAILED)
		json_print_text("a policy has no result");
	else
		fputs("null", stdout);
}

static void print_all(struct eval *eval)
{
	static const char *const booleans[] = {"false", "true"};
	const struct options *options = eval->options;
	int64_t begin = clock_mono_ms();
	bool json = options->json && !options->json_rule;

	if (json)
		fputs("{\"policies\":[", stdout);
	evaluate_selected(eval);
	if (!json)
		return;
	printf("],\"result\":%s,\"error\":", booleans[eval->code == EXIT_PASSED]);
	print_error(eval);
	printf(",\"duration\":%lld}\n", (long long)(clock_mono_ms() - begin));
}

/* A name for a policy of the configuration: there is no such file. */
static bool is_label(const char *policy)
{
	size_t len = strlen(policy), ending = strlen(".sentinel");

	return (len < ending || strcmp(policy + len - ending, ".sentinel") != 0) && access(policy, F_OK) != 0;
}

/* The options with what follows from others: POLICY may be a label, and -json-rule needs one policy. */
static struct options completed(const struct options *given, bool configured)
{
	struct options options = *given;

	if (options.path_count == 1 && !options.policy && configured && is_label(options.paths[0])) {
		options.policy = options.paths[0];
		options.path_count = 0;
	}
	if (options.path_count == 0 && !options.policy && options.json_rule) {
		options.json = true;
		options.json_rule = NULL;
	}
	return options;
}

static int eval_with(const struct options *given, const char *const *config)
{
	const struct options options = completed(given, config != NULL);
	struct eval eval = {
		.options = &options,
		.settings = {.params = options.params,
			.globals = options.globals,
			.terraform = {.plan = options.plan, .run = options.tfrun, .schemas = options.schemas},
			.http = options.http},
		.of = {.config_paths = config, .policy_path = options.path_count > 0 ? options.paths[0] : NULL},
	};

	if (!is_usable(&options, config != NULL))
		return EXIT_OTHER;
	if (files_open(&eval.settings.files, options.root) < 0) {
		fprintf(stderr, "%s: %s (-root)\n", options.root, strerror(errno));
		return EXIT_OTHER;
	}
	eval.of.settings = &eval.settings;
	print_all(&eval);
	files_close(&eval.settings.files);
	return output_finish((int)eval.code);
}

int command_eval(const struct options *options)
{
	char **found = NULL;
	int code;

	if (options->config)
		return eval_with(options, (const char *const[]){options->config, NULL});
	if (!folder_config(&found))
		return EXIT_OTHER;
	code = eval_with(options, (const char *const *)found);
	folder_free_names(found);
	return code;
}
