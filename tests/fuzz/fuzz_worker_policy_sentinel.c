/* SPDX-License-Identifier: MPL-2.0 */
/* A policy's source, evaluated under small limits. Two evaluations must have the same result and print the same. What
 * is printed of a value must read back as an equal one. */
#include <stdlib.h>
#include <string.h>

#include "worker/policy/sentinel/evaluate/evaluate.h"
#include "worker/policy/sentinel/imports/standard.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static const struct run_limits limits = {.steps = 20000, .timeout_ms = 20000, .memory_bytes = 64 << 20};

struct evaluated {
	struct source source;
	struct outcome outcome;
	struct run run;
	int result;
	bool evaluated; /* what fails afterwards is the reading of what was printed */
};

static struct value find_import(struct run *run, const struct import_tree *import)
{
	const struct import *found = standard_import(import->path.bytes, import->path.len);

	return found ? (struct value){.type = VALUE_IMPORT, .import = found} : map_new(run, 0);
}

/* Values without a literal. A string with one of the words is left out, too. */
static bool has_literal(const char *text)
{
	static const char *const words[] = {"func", "rule", "import", "undefined", "NaN", "Inf"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strstr(text, words[i]))
			return false;
	return true;
}

static void read_back(struct run *run, struct value value)
{
	struct value printed = value_print(run, value, VALUE_QUOTED);
	char *text = run_text(run, "main = %.*s", (int)string_len(printed), string_bytes(printed));
	struct source source = {.name = "printed", .text = text, .len = strlen(text)};
	struct outcome outcome = {0};

	if (!has_literal(text) || source.len != string_len(printed) + 7)
		return;
	unit_evaluate(run, unit_new(run, tree_parse(run, &source, TREE_POLICY)), &outcome);
	if (!value_equal(run, value, outcome.main))
		abort();
}

static void evaluate_source(struct run *run, void *data)
{
	struct evaluated *evaluated = data;
	const struct tree *tree = tree_parse(run, &evaluated->source, TREE_POLICY);
	struct unit *unit = unit_new(run, tree);

	for (uint32_t i = 0; i < tree->import_count; i++)
		unit_set_import(unit, i, find_import(run, &tree->imports[i]));
	unit_evaluate(run, unit, &evaluated->outcome);
	evaluated->evaluated = true;
	if (evaluated->outcome.main.type != VALUE_UNDEFINED)
		read_back(run, evaluated->outcome.main);
}

static void evaluate_once(struct evaluated *evaluated, const uint8_t *bytes, size_t len)
{
	*evaluated = (struct evaluated){.source = {.name = "policy", .text = (const char *)bytes, .len = len}};
	run_init(&evaluated->run, &limits);
	evaluated->result = run_protected(&evaluated->run, evaluate_source, evaluated);
	if (evaluated->evaluated && evaluated->run.failure.kind == FAILURE_STATIC &&
		!strstr(evaluated->run.failure.message, "limit"))
		abort();
}

/* The caller leaves out policies that may read the clock. */
static void compare(const struct evaluated *a, const struct evaluated *b)
{
	if (a->result != b->result || a->outcome.verdict != b->outcome.verdict || a->run.steps != b->run.steps)
		abort();
	if (a->run.printed_len != b->run.printed_len || strcmp(a->run.failure.message, b->run.failure.message) != 0)
		abort();
	if (a->run.printed_len > 0 && memcmp(a->run.printed, b->run.printed, a->run.printed_len) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct evaluated first, second;

	evaluate_once(&first, bytes, len);
	evaluate_once(&second, bytes, len);
	if (!memmem(bytes, len, "time", 4))
		compare(&first, &second);
	run_release(&first.run);
	run_release(&second.run);
	return 0;
}
