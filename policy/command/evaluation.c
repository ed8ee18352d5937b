/* SPDX-License-Identifier: MPL-2.0 */
#include "policy/command/evaluation.h"

#include <string.h>

#include "common/clock.h"
#include "policy/library/json.h"

/* For writing a result: added to the evaluation's memory, and the time. */
enum { WRITE_MS = 20000 };
static const size_t write_memory = (size_t)512 << 20;

/* ---- loading and evaluation ---- */

static struct configuration *read_configuration(struct run *run, const struct evaluation_of *of)
{
	const struct reader reader = {.subject = "the configuration"};

	if (!of->config_paths)
		return configuration_empty(run, "");
	return configuration_read(run, &of->settings->files, of->config_paths, &reader);
}

static struct policy_file file_of_entry(struct run *run, struct result *result)
{
	const struct policy_entry *entry = configuration_policy(result->configuration, result->of.label);
	struct reader reader = {0};

	if (!entry)
		run_fail_at(run, (struct place){.source = result->configuration->source},
			"the configuration has no policy \"%s\"", result->of.label);
	reader = (struct reader){
		.subject = run_text(run, "policy \"%s\"", entry->name),
		.place = entry->place,
	};
	result->entry = entry;
	return (struct policy_file){
		.file = source_read(
			run, &result->of.settings->files, result->configuration->folder, entry->source, &reader),
		.name = source_path(run, result->configuration->folder, entry->source),
		.params = &entry->params,
	};
}

static struct policy_file file_of_path(struct run *run, const struct result *result)
{
	const struct reader reader = {.subject = "the policy"};
	const char *path = files_beneath(run, &result->of.settings->files, result->of.policy_path);

	return (struct policy_file){
		.name = path,
		.file = file_read(run, &result->of.settings->files, path, &reader),
	};
}

static void evaluate(struct run *run, void *data)
{
	struct result *result = data;
	struct policy_file policy;

	run->loading = true;
	run_check(run); /* the time may be over before it begins */
	result->configuration = read_configuration(run, &result->of);
	policy = result->of.policy_path ? file_of_path(run, result) : file_of_entry(run, result);
	result->name = policy.name;
	result->unit = loader_load(run, result->of.settings, result->configuration, &policy);
	run->loading = false;
	unit_evaluate(run, result->unit, &result->outcome);
	result->evaluated = true;
}

void result_make(struct result *result, const struct evaluation_of *of, const struct run_limits *limits)
{
	int64_t begin = clock_mono_ms();

	*result = (struct result){.of = *of, .name = of->policy_path ? of->policy_path : of->label};
	run_init(&result->run, limits);
	result->run.http = of->settings->http;
	if (run_protected(&result->run, evaluate, result) < 0) {
		result->failure = result->run.failure;
		result->evaluated = false;
	}
	result->duration_ms = clock_mono_ms() - begin;
}

void result_release(struct result *result)
{
	run_release(&result->run);
}

enum exit_code result_code(const struct result *result)
{
	static const enum exit_code codes[] = {
		[VERDICT_PASSED] = EXIT_PASSED,
		[VERDICT_FAILED] = EXIT_FAILED,
		[VERDICT_UNDEFINED] = EXIT_UNDEFINED,
	};

	if (result->evaluated)
		return codes[result->outcome.verdict];
	return result->failure.kind == FAILURE_RUNTIME ? EXIT_RUNTIME : EXIT_OTHER;
}

/* ---- writing ---- */

static int write_once(struct result *result, void (*write)(struct run *run, void *data), void *data)
{
	struct run *run = &result->run;

	run->limits = run_limits_default;
	run->limits.memory_bytes = run->allocated + write_memory;
	run->steps = run->next_check = 0;
	run->deadline_ms = clock_mono_ms() + WRITE_MS;
	return run_protected(run, write, data);
}

bool result_write(struct result *result, void (*write)(struct run *run, void *data), void *data)
{
	if (write_once(result, write, data) == 0)
		return true;
	result->without_values = true;
	return write_once(result, write, data) == 0;
}

static const char *at_place(struct run *run, struct place place, const char *name, const char *message)
{
	unsigned line, column;

	if (!place.source)
		return run_text(run, "%s: %s", name, message);
	place_position(place, &line, &column);
	return run_text(run, "%s:%u:%u: %s", place.source->name, line, column, message);
}

const char *result_error(struct run *run, const struct result *result)
{
	if (!result->evaluated)
		return at_place(run, result->failure.place, result->name, result->failure.message);
	if (result->outcome.verdict != VERDICT_UNDEFINED)
		return NULL;
	return at_place(run, value_origin(result->outcome.main), result->name,
		"main is undefined because of an undefined value that arose here");
}

bool output_print(const struct output *output, FILE *stream)
{
	return output->len == 0 || fwrite(output->bytes, 1, output->len, stream) == output->len;
}

int output_finish(int code)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return code;
	fprintf(stderr, "standard output can't be written\n");
	return EXIT_OTHER;
}

struct quoting {
	const char *text;
};

static void print_quoted(struct run *run, void *data)
{
	const struct quoting *quoting = data;
	struct output output = {0};

	json_write(run, &output, string_text(run, quoting->text));
	output_print(&output, stdout);
}

void json_print_text(const char *text)
{
	struct quoting quoting = {text};
	struct run run;

	run_init(&run, &run_limits_default);
	run_protected(&run, print_quoted, &quoting);
	run_release(&run);
}

void failure_print(const struct failure *failure)
{
	unsigned line, column;

	place_position(failure->place, &line, &column);
	if (failure->place.source)
		fprintf(stderr, "%s:%u:%u: ", failure->place.source->name, line, column);
	fprintf(stderr, "%s\n", failure->message);
}
