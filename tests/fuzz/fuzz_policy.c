/* SPDX-License-Identifier: MPL-2.0 */
/* A policy's source, evaluated under small limits. Two evaluations must have the same result and print the same. What
 * is printed of a value must read back as an equal one.
 *
 * Further parts follow, each behind a zero byte, with a name in its first line: a module; static data, an expression
 * whose name begins with "="; or a plan, named as the import that reads it. */
#include <stdlib.h>
#include <string.h>

#include "common/base.h"
#include "policy/evaluate/evaluate.h"
#include "policy/imports/standard.h"
#include "policy/imports/terraform.h"
#include "policy/library/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static const struct run_limits limits = {.steps = 20000, .timeout_ms = 20000, .memory_bytes = 64 << 20};

enum { MAX_PARTS = 8 };

struct part {
	const char *name; /* "lib", "=people"; of the policy NULL */
	size_t name_len;
	struct source source;
	struct unit *unit;
	bool loading;
};

struct evaluated {
	struct part parts[MAX_PARTS]; /* the policy is the first */
	size_t part_count;
	struct outcome outcome;
	struct run run;
	int result;
	bool evaluated; /* what fails afterwards is the reading of what was printed */
};

/* ---- loading ---- */

/* Text without a name line is a module without a name, which nothing imports. */
static struct part part_of(const char *text, size_t len, bool named)
{
	const char *end = named ? memchr(text, '\n', len) : NULL;
	const size_t head = end ? (size_t)(end - text) + 1 : 0;

	return (struct part){
		.name = text,
		.name_len = head > 0 ? head - 1 : 0,
		.source = {.name = named ? "module" : "policy", .text = text + head, .len = len - head},
	};
}

static void split(struct evaluated *evaluated, const char *text, size_t len)
{
	while (evaluated->part_count < MAX_PARTS) {
		const char *end = memchr(text, '\0', len);
		const size_t part_len = end ? (size_t)(end - text) : len;

		evaluated->parts[evaluated->part_count] = part_of(text, part_len, evaluated->part_count > 0);
		evaluated->part_count++;
		if (!end)
			return;
		text += part_len + 1;
		len -= part_len + 1;
	}
}

/* The value of an expression, as a unit of its own. */
static struct value value_of(struct run *run, const char *text, size_t len)
{
	struct source *source = run_alloc(run, 1, sizeof(*source));
	const char *policy = run_text(run, "main = %.*s", (int)len, text);
	struct outcome outcome = {0};

	*source = (struct source){.name = "data", .text = policy, .len = strlen(policy)};
	unit_evaluate(run, unit_new(run, tree_parse(run, source, TREE_MODULE)), &outcome);
	return outcome.main;
}

static bool named(const struct part *part, const char *name)
{
	return part->name_len == strlen(name) && memcmp(part->name, name, part->name_len) == 0;
}

static bool import_terraform(struct run *run, const struct part *part, struct value *ret_value)
{
	static const struct {
		const char *name;
		struct value (*make)(struct run *run, const struct source *source);
	} imports[] = {
		{"tfplan/v2", import_tfplan},
		{"tfstate/v2", import_tfstate},
		{"tfconfig/v2", import_tfconfig},
		{"tfrun", import_tfrun},
	};

	for (size_t i = 0; i < ARRAY_LEN(imports); i++)
		if (named(part, imports[i].name)) {
			*ret_value = imports[i].make(run, &part->source);
			return true;
		}
	return false;
}

static struct unit *load(struct evaluated *evaluated, struct part *part, enum tree_role role);

static bool import_part(
	struct evaluated *evaluated, struct part *part, const struct word *path, struct value *ret_value)
{
	const bool data = part->name_len > 0 && part->name[0] == '=';
	const size_t skipped = data ? 1 : 0;

	if (part->name_len - skipped != path->len || memcmp(part->name + skipped, path->bytes, path->len) != 0)
		return false;
	if (data)
		*ret_value = value_of(&evaluated->run, part->source.text, part->source.len);
	else if (!import_terraform(&evaluated->run, part, ret_value))
		*ret_value = unit_as_import(load(evaluated, part, TREE_MODULE));
	return true;
}

static struct value find_import(struct evaluated *evaluated, const struct import_tree *import)
{
	const struct import *standard = standard_import(import->path.bytes, import->path.len);
	struct value value;

	for (size_t i = 1; i < evaluated->part_count; i++)
		if (import_part(evaluated, &evaluated->parts[i], &import->path, &value))
			return value;
	if (!standard)
		run_fail(&evaluated->run, "there is no such import");
	return (struct value){.type = VALUE_IMPORT, .import = standard};
}

/* As the loader does it: each part once, no circles. */
static struct unit *load(struct evaluated *evaluated, struct part *part, enum tree_role role)
{
	struct run *run = &evaluated->run;
	const struct tree *tree;

	if (part->unit)
		return part->unit;
	if (part->loading)
		run_fail(run, "a circle of imports");
	part->loading = true;
	tree = tree_parse(run, &part->source, role);
	part->unit = unit_new(run, tree);
	for (uint32_t i = 0; i < tree->import_count; i++)
		unit_set_import(part->unit, i, find_import(evaluated, &tree->imports[i]));
	return part->unit;
}

/* ---- evaluation ---- */

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
	const char *text = run_copy(run, string_bytes(printed), string_len(printed));

	if (!has_literal(text) || strlen(text) != string_len(printed))
		return;
	if (!value_equal(run, value, value_of(run, text, strlen(text))))
		abort();
}

static void evaluate_source(struct run *run, void *data)
{
	struct evaluated *evaluated = data;
	struct unit *unit = load(evaluated, &evaluated->parts[0], TREE_POLICY);

	unit_evaluate(run, unit, &evaluated->outcome);
	evaluated->evaluated = true;
	if (evaluated->outcome.main.type != VALUE_UNDEFINED)
		read_back(run, evaluated->outcome.main);
}

/* Reads the rules as a trace does, also of an evaluation that failed. */
static void write_rules(struct run *run, void *data)
{
	const struct unit *unit = ((struct evaluated *)data)->parts[0].unit;
	struct evaluated_rule *rules;
	size_t count = unit ? unit_rules(run, unit, &rules) : 0;

	run->steps = run->next_check = 0;
	for (size_t i = 0; i < count; i++) {
		struct output output = {0};

		value_print(run, rules[i].value, VALUE_QUOTED);
		json_write(run, &output, rules[i].value);
	}
}

static void evaluate_once(struct evaluated *evaluated, const uint8_t *bytes, size_t len)
{
	*evaluated = (struct evaluated){0};
	split(evaluated, (const char *)bytes, len);
	run_init(&evaluated->run, &limits);
	evaluated->result = run_protected(&evaluated->run, evaluate_source, evaluated);
	if (evaluated->evaluated && evaluated->result < 0 && !strstr(evaluated->run.failure.message, "limit"))
		abort();
}

/* The caller leaves out policies that may read the clock. */
static void compare(const struct evaluated *a, const struct evaluated *b)
{
	if (a->result != b->result || a->outcome.verdict != b->outcome.verdict || a->run.steps != b->run.steps)
		abort();
	if (a->run.printed.len != b->run.printed.len || strcmp(a->run.failure.message, b->run.failure.message) != 0)
		abort();
	if (a->run.printed.len > 0 && memcmp(a->run.printed.bytes, b->run.printed.bytes, a->run.printed.len) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	static struct evaluated first, second;

	evaluate_once(&first, bytes, len);
	evaluate_once(&second, bytes, len);
	if (!memmem(bytes, len, "time", 4))
		compare(&first, &second);
	run_protected(&first.run, write_rules, &first);
	run_release(&first.run);
	run_release(&second.run);
	return 0;
}
