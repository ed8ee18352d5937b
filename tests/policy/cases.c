/* SPDX-License-Identifier: MPL-2.0 */
/* policy-cases FILE...: evaluates the cases of the files (case_file.h) and prints the ones that fail. */
#include <stdio.h>
#include <string.h>

#include "common/err.h"
#include "tests/policy/case_file.h"
#include "policy/configuration/terraform.h"
#include "policy/evaluate/evaluate.h"
#include "policy/imports/standard.h"

/* ---- evaluation ---- */

struct case_run {
	const struct test_case *test;
	struct source sources[CASE_FILES];
	struct unit *units[CASE_FILES]; /* by part; NULL until a part is loaded */
	struct value data[CASE_FILES];
	struct outcome outcome;
	struct value x;
	bool evaluated;
};

static struct unit *load(struct run *run, struct case_run *case_run, size_t part, enum tree_role role);

static struct unit *load_module(struct run *run, struct case_run *case_run, size_t part)
{
	if (!case_run->units[part])
		case_run->units[part] = load(run, case_run, part, TREE_MODULE);
	return case_run->units[part];
}

/* The value of a part that is an expression. */
static struct value literal(struct run *run, const struct part *part)
{
	struct source *source = run_alloc(run, 1, sizeof(*source));
	const char *text = run_text(run, "main = %s", buf_str(&part->text));
	struct outcome outcome;
	struct unit *unit;

	*source = (struct source){.name = part->name, .text = text, .len = strlen(text)};
	unit = unit_new(run, tree_parse(run, source, TREE_MODULE));
	unit_evaluate(run, unit, &outcome);
	return outcome.main;
}

static struct value load_terraform(struct run *run, const struct test_case *test, const struct terraform_import *import)
{
	static const struct files anywhere = {.root = -1};
	const struct terraform_paths paths = {.plan = test->plan, .schemas = test->schemas};

	return terraform_load(run, import, &paths, &anywhere, "", NULL);
}

static struct value find_import(struct run *run, struct case_run *case_run, const struct import_tree *import)
{
	for (size_t i = 1; i < case_run->test->part_count; i++) {
		const struct part *part = &case_run->test->parts[i];

		if (strlen(part->name) != import->path.len ||
			memcmp(part->name, import->path.bytes, import->path.len) != 0)
			continue;
		if (part->kind == PART_MODULE)
			return unit_as_import(load_module(run, case_run, i));
		if (part->kind == PART_DATA)
			return literal(run, part);
	}
	const struct import *standard = standard_import(import->path.bytes, import->path.len);
	const struct terraform_import *terraform = terraform_find(import->path.bytes, import->path.len);

	if (!standard && terraform)
		return load_terraform(run, case_run->test, terraform);
	if (!standard)
		run_fail(run, "import \"%.*s\" is not known", (int)import->path.len, import->path.bytes);
	return (struct value){.type = VALUE_IMPORT, .import = standard};
}

static void set_params(struct run *run, struct case_run *case_run, struct unit *unit)
{
	uint32_t slot;

	for (size_t i = 1; i < case_run->test->part_count; i++) {
		const struct part *part = &case_run->test->parts[i];

		if (part->kind == PART_PARAM && tree_variable(unit_tree(unit), part->name, strlen(part->name), &slot))
			unit_set_variable(unit, slot, literal(run, part));
	}
}

static struct unit *load(struct run *run, struct case_run *case_run, size_t part, enum tree_role role)
{
	struct source *source = &case_run->sources[part];
	const struct test_case *test = case_run->test;
	struct unit *unit;

	*source = (struct source){
		.name = test->parts[part].name ? test->parts[part].name : "policy",
		.text = buf_str(&test->parts[part].text),
		.len = test->parts[part].text.len - (test->open && part == 0),
	};
	unit = unit_new(run, tree_parse(run, source, role));
	for (uint32_t i = 0; i < unit_tree(unit)->import_count; i++) {
		run->at = (struct place){.source = source, .offset = unit_tree(unit)->imports[i].offset};
		unit_set_import(unit, i, find_import(run, case_run, &unit_tree(unit)->imports[i]));
	}
	return unit;
}

static void evaluate_case(struct run *run, void *data)
{
	struct case_run *case_run = data;

	run->loading = true;
	case_run->units[0] = load(run, case_run, 0, TREE_POLICY);
	run->loading = false;
	set_params(run, case_run, case_run->units[0]);
	unit_evaluate(run, case_run->units[0], &case_run->outcome);
	case_run->evaluated = true;
}

/* ---- what is expected ---- */

struct check {
	struct run *run;
	struct case_run *case_run;
	struct failure failure; /* of the evaluation */
	struct buf got;
	size_t printed; /* of what was printed: the part that is checked */
	size_t rules, warnings;
	bool ok;
};

/* "3", "undefined", "\"text\"". */
static const char *shown(struct run *run, struct value value)
{
	struct value text = value_print(run, value, VALUE_QUOTED);

	return run_copy(run, string_bytes(text), string_len(text));
}

static void describe_place(struct buf *got, struct place place)
{
	unsigned line = 0, column = 0;

	if (!place.source)
		return;
	place_position(place, &line, &column);
	if (strcmp(place.source->name, "policy") != 0)
		buf_printf(got, " %s:%u:%u", place.source->name, line, column);
	else
		buf_printf(got, " %u:%u", line, column);
}

static void describe_failure(struct buf *got, const struct failure *failure)
{
	buf_text(got, failure->kind == FAILURE_STATIC ? "static" : "error");
	describe_place(got, failure->place);
	buf_printf(got, ": %s", failure->message);
}

static void describe_verdict(struct buf *got, const struct outcome *outcome)
{
	static const char *const verdicts[] = {"pass", "fail", "undefined"};

	buf_text(got, verdicts[outcome->verdict]);
	if (outcome->verdict == VERDICT_UNDEFINED)
		describe_place(got, value_origin(outcome->main));
}

/* "error: MESSAGE" and "undefined" leave out the place. */
static bool same_without_place(const char *expected, const char *got)
{
	const char *colon = strstr(got, ": ");

	if (strcmp(expected, "undefined") == 0)
		return text_starts(got, "undefined");
	if (!text_starts(expected, "error: ") && !text_starts(expected, "static: "))
		return false;
	return strncmp(expected, got, strcspn(expected, ":")) == 0 && colon &&
		strcmp(strchr(expected, ':'), colon) == 0;
}

static bool check_print(struct check *check, const char *expected)
{
	const struct run *run = check->run;
	const char *line = run->printed.bytes ? run->printed.bytes + check->printed : "";
	size_t rest = run->printed.len - check->printed;
	const char *end = rest > 0 ? memchr(line, '\n', rest) : NULL;

	if (!end) {
		buf_text(&check->got, "no more lines are printed");
		return false;
	}
	check->printed += (size_t)(end - line) + 1;
	buf_printf(&check->got, "print %.*s", (int)(end - line), line);
	return strcmp(buf_str(&check->got), expected) == 0;
}

static bool check_rule(struct check *check, const char *expected)
{
	struct evaluated_rule *rules;
	size_t count = unit_rules(check->run, check->case_run->units[0], &rules);

	if (check->rules == count) {
		buf_text(&check->got, "no more rules were evaluated");
		return false;
	}
	const struct evaluated_rule *rule = &rules[check->rules++];

	buf_printf(&check->got, "rule %.*s %s", (int)rule->note->name.len, rule->note->name.bytes,
		shown(check->run, rule->value));
	return strcmp(buf_str(&check->got), expected) == 0;
}

static bool check_warning(struct check *check, const char *expected)
{
	const struct tree *tree = unit_tree(check->case_run->units[0]);

	if (check->warnings == tree->warning_count) {
		buf_text(&check->got, "there are no more warnings");
		return false;
	}
	const struct tree_warning *warning = &tree->warnings[check->warnings++];

	buf_text(&check->got, "warning");
	describe_place(&check->got, (struct place){.source = tree->source, .offset = warning->offset});
	buf_printf(&check->got, ": %s", warning->message);
	return strcmp(buf_str(&check->got), expected) == 0;
}

static bool check_value(struct check *check, const char *expected)
{
	struct value value;

	if (!check->case_run->evaluated)
		describe_failure(&check->got, &check->failure);
	else if (unit_variable(check->case_run->units[0], check->case_run->test->expression ? "x" : "main",
			 check->case_run->test->expression ? 1 : 4, &value))
		buf_text(&check->got, shown(check->run, value));
	return strcmp(buf_str(&check->got), expected) == 0 || same_without_place(expected, buf_str(&check->got));
}

static bool check_verdict(struct check *check, const char *expected)
{
	if (check->case_run->evaluated)
		describe_verdict(&check->got, &check->case_run->outcome);
	else
		describe_failure(&check->got, &check->failure);
	return strcmp(buf_str(&check->got), expected) == 0 || same_without_place(expected, buf_str(&check->got));
}

static bool check_expected(struct check *check, const char *expected)
{
	buf_reset(&check->got);
	if (check->case_run->test->expression)
		return check_value(check, expected);
	if (text_starts(expected, "value "))
		return check_value(check, expected + 6);
	if (text_starts(expected, "print "))
		return check_print(check, expected);
	if (text_starts(expected, "rule "))
		return check_rule(check, expected);
	if (text_starts(expected, "warning "))
		return check_warning(check, expected);
	return check_verdict(check, expected);
}

static void check_all(struct run *run, void *data)
{
	struct check *check = data;
	const struct test_case *test = check->case_run->test;

	(void)run;
	for (size_t i = 0; check->ok && i < test->expected_count; i++)
		check->ok = check_expected(check, test->expected[i]);
	if (check->ok && check->printed > 0 && check->printed < check->run->printed.len) {
		check->ok = false;
		buf_printf(&check->got, "more is printed: %.*s", (int)(check->run->printed.len - check->printed),
			check->run->printed.bytes + check->printed);
	}
	if (check->ok && check->case_run->units[0] && !test->expression &&
		check->warnings < unit_tree(check->case_run->units[0])->warning_count) {
		buf_reset(&check->got);
		check->ok = check_warning(check, "");
	}
}

static bool run_case(const char *path, const struct test_case *test)
{
	struct case_run case_run = {.test = test};
	struct run_limits limits = run_limits_default;
	struct run run;
	struct check check = {.run = &run, .case_run = &case_run, .got = BUF_INIT(1 << 20), .ok = true};

	if (test->steps > 0)
		limits.steps = test->steps;
	if (test->memory > 0)
		limits.memory_bytes = test->memory;
	run_init(&run, &limits);
	run_protected(&run, evaluate_case, &case_run);
	check.failure = run.failure;
	run.limits = run_limits_default;
	run.steps = run.next_check = 0;
	if (run_protected(&run, check_all, &check) < 0)
		check.ok = false;
	if (!check.ok)
		printf("%s:%u: %s\n  got: %s\n", path, test->line, test->name, buf_str(&check.got));
	buf_release(&check.got);
	run_release(&run);
	return check.ok;
}

static size_t run_file(const char *path)
{
	struct case_file file;
	struct err err = ERR_INIT;
	size_t failed = 0;

	if (case_file_read(&file, path, &err) < 0) {
		printf("%s\n", err.message);
		failed++;
	}
	for (size_t i = 0; i < file.count; i++)
		failed += !run_case(path, &file.cases[i]);
	printf("%s: %zu cases, %zu failed\n", path, file.count, failed);
	case_file_release(&file);
	return failed;
}

int main(int argc, char **argv)
{
	size_t failed = 0;

	for (int i = 1; i < argc; i++)
		failed += run_file(argv[i]);
	return failed > 0;
}
