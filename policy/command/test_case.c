/* SPDX-License-Identifier: MPL-2.0 */
/* One test case: its evaluation, what it expects, and what is shown of it. */
#include <stdlib.h>
#include <string.h>

#include "common/base.h"
#include "policy/command/evaluation.h"
#include "policy/command/test.h"
#include "policy/library/json.h"

/* A case whose result is written (result_write). */
struct judging {
	struct test_case *test;
	const struct options *options;
	struct result *result;
	struct output output;
};

/* A rule that the case lists. */
struct expectation {
	struct value name, expected;
	bool evaluated;
	struct value got;
	bool met;
};

/* ---- the verdict ---- */

static struct expectation expectation_of(
	struct run *run, const struct result *result, struct value name, struct value expected)
{
	struct expectation expectation = {.name = name, .expected = expected};

	expectation.evaluated = unit_variable(result->unit, string_bytes(name), string_len(name), &expectation.got);
	expectation.met = expectation.evaluated && value_equal(run, expectation.got, expected);
	return expectation;
}

static bool rules_are_met(struct run *run, const struct result *result)
{
	struct iterator at = value_iterate(run, result->configuration->rules);

	while (iterator_next(run, &at))
		if (!expectation_of(run, result, at.key, at.element).met)
			return false;
	return true;
}

static enum case_status status_of(struct run *run, const struct result *result)
{
	if (!result->evaluated)
		return CASE_ERRORED;
	if (!result->configuration->has_rules)
		return result_code(result) == EXIT_PASSED ? CASE_PASSED : CASE_FAILED;
	return rules_are_met(run, result) ? CASE_PASSED : CASE_FAILED;
}

/* ---- text ---- */

static const char *const words[] = {"PASS", "FAIL", "ERROR"};

static void add_line(struct run *run, struct output *output, const char *indent, const char *text)
{
	output_text(run, output, run_text(run, "%s%s\n", indent, text));
}

static void add_unmet(struct run *run, struct output *output, const struct expectation *expectation)
{
	const char *name = trace_shown(run, expectation->name);

	if (!expectation->evaluated) {
		add_line(run, output, "    ", run_text(run, "the rule %s was not evaluated", name));
		return;
	}
	add_line(run, output, "    ", run_text(run, "expected %s: %s", name, trace_shown(run, expectation->expected)));
	add_line(run, output, "    ", run_text(run, "got: %s", trace_shown(run, expectation->got)));
}

static void add_reasons(struct run *run, struct judging *judging)
{
	const struct result *result = judging->result;
	struct iterator at;

	if (!result->evaluated || !result->configuration->has_rules) {
		const char *error = result_error(run, result);

		add_line(run, &judging->output, "    ", error ? error : "expected the policy to pass");
		return;
	}
	at = value_iterate(run, result->configuration->rules);
	while (iterator_next(run, &at)) {
		struct expectation expectation = expectation_of(run, result, at.key, at.element);

		if (!expectation.met)
			add_unmet(run, &judging->output, &expectation);
	}
}

static void add_warnings(struct run *run, struct judging *judging)
{
	struct iterator at;

	if (!judging->result->configuration)
		return;
	at = value_iterate(run, judging->result->configuration->warnings);
	while (iterator_next(run, &at))
		add_line(
			run, &judging->output, "    ", run_copy(run, string_bytes(at.element), string_len(at.element)));
}

static void write_text(struct run *run, struct judging *judging)
{
	enum case_status status = judging->test->status;

	add_line(run, &judging->output, "  ", run_text(run, "%s - %s", words[status], judging->test->path));
	if (status != CASE_PASSED)
		add_reasons(run, judging);
	if (status == CASE_PASSED && !judging->options->verbose)
		return;
	add_warnings(run, judging);
	trace_text(run, judging->result, "    ", &judging->output);
}

/* ---- JSON ---- */

static struct value rule_detail(struct run *run, const struct result *result, const struct expectation *expectation)
{
	struct value detail = map_new(run, 3);

	map_set_text(run, detail, "expected", expectation->expected);
	if (expectation->evaluated && !result->without_values)
		map_set_text(run, detail, "got", expectation->got);
	map_set_text(run, detail, "evaluated", value_bool(expectation->evaluated));
	return detail;
}

/* The expectations that are not met. */
static struct value rule_details(struct run *run, const struct result *result)
{
	struct value details = map_new(run, 0);
	struct iterator at;

	if (!result->evaluated)
		return details;
	at = value_iterate(run, result->configuration->rules);
	while (iterator_next(run, &at)) {
		struct expectation expectation = expectation_of(run, result, at.key, at.element);

		if (!expectation.met)
			map_set(run, details, at.key, rule_detail(run, result, &expectation));
	}
	return details;
}

static struct value errors_of(struct run *run, const struct result *result)
{
	struct value errors = list_new(run, 1);
	const char *error = result_error(run, result);

	if (error)
		list_push(run, errors, string_text(run, error));
	return errors;
}

static void write_json(struct run *run, struct judging *judging)
{
	const struct result *result = judging->result;
	struct value map = map_new(run, 8);

	map_set_text(run, map, "path", string_text(run, judging->test->path));
	map_set_text(run, map, "status", string_text(run, words[judging->test->status]));
	map_set_text(run, map, "duration", value_int(result->duration_ms));
	map_set_text(run, map, "errors", errors_of(run, result));
	map_set_text(run, map, "trace", trace_value(run, result));
	map_set_text(run, map, "rule_detail", rule_details(run, result));
	map_set_text(run, map, "config_warnings",
		result->configuration ? result->configuration->warnings : list_new(run, 0));
	map_set_text(run, map, "config_legacy", value_bool(result->configuration && result->configuration->legacy));
	json_write(run, &judging->output, map);
}

/* ---- running ---- */

static void judge(struct run *run, void *data)
{
	struct judging *judging = data;

	judging->output = (struct output){0};
	judging->test->status = status_of(run, judging->result);
	if (judging->options->json)
		write_json(run, judging);
	else
		write_text(run, judging);
}

void test_case_run(struct test_case *test, const struct test_policy *policy, const struct options *options,
	const struct load_settings *settings)
{
	const struct evaluation_of of = {
		.settings = settings,
		.config_paths = (const char *const[]){test->path, NULL},
		.policy_path = policy->path,
	};
	const struct run_limits limits = options_limits(options);
	struct result result;
	struct judging judging = {.test = test, .options = options, .result = &result};

	result_make(&result, &of, &limits);
	if (result_write(&result, judge, &judging))
		test->text = malloc(judging.output.len + 1);
	if (test->text) {
		memcpy(test->text, judging.output.bytes, judging.output.len);
		test->text_len = judging.output.len;
	} else {
		test->status = CASE_ERRORED;
	}
	result_release(&result);
}
