/* SPDX-License-Identifier: MPL-2.0 */
/* The evaluation of a policy that fails: without memory it is an error or ends the process, and never passes. (Memory
 * of the evaluator itself: tests/unit. RE2 allocates by operators of C++, which can't be made to fail here.) */
#include <string.h>

#include "common/base.h"
#include "tests/alloc/alloc.h"
#include "worker/policy/sentinel/evaluate/evaluate.h"
#include "worker/policy/sentinel/imports/standard.h"

static const char decimals[] = "import \"decimal\"\n"
			       "d = decimal.new(\"1.1\").power(\"2.5\").add(\"1e-30\").sqrt().exp().div(3)\n"
			       "main = d.int is 0 and d.string is \"1\"\n";
static void evaluate(struct run *run, void *data)
{
	struct source source = {.name = "policy", .text = data, .len = strlen(data)};
	const struct tree *tree = tree_parse(run, &source, TREE_POLICY);
	struct unit *unit = unit_new(run, tree);
	struct outcome outcome;

	for (uint32_t i = 0; i < tree->import_count; i++) {
		const struct word path = tree->imports[i].path;

		unit_set_import(
			unit, i, (struct value){.type = VALUE_IMPORT, .import = standard_import(path.bytes, path.len)});
	}
	unit_evaluate(run, unit, &outcome);
	HOLDS(outcome.verdict == VERDICT_FAILED);
}

static void calculate(void)
{
	struct run run;

	run_init(&run, &run_limits_default);
	if (run_protected(&run, evaluate, (void *)(uintptr_t)decimals) < 0)
		HOLDS(run.failure.message[0] != '\0');
	run_release(&run);
}

const struct alloc_case alloc_cases[] = {
	{.name = "decimals", .libraries = "libgmp libmpfr", .run = calculate, .ends_itself = true},
	{0},
};
