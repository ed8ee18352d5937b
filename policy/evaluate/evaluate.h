/* SPDX-License-Identifier: MPL-2.0 */
#ifndef POLICY_EVALUATE_EVALUATE_H
#define POLICY_EVALUATE_EVALUATE_H

/*
 * Evaluation of a policy with its modules.
 *
 * The loader makes a unit of each file, once for a run, and gives it its imports, parameters and globals:
 *
 *	struct unit *policy = unit_new(run, tree_parse(run, source, TREE_POLICY));
 *	unit_set_import(policy, 0, (struct value){.type = VALUE_IMPORT, .import = &strings_import});
 *	unit_set_import(policy, 1, unit_as_import(module));
 *	unit_set_variable(policy, tree->params[0].slot, value);
 *	unit_evaluate(run, policy, &outcome);
 *
 * All functions run within run_protected. Units are the arena's. A unit whose evaluation failed can't be evaluated
 * again, but unit_rules can still be called.
 */

#include <stdbool.h>
#include <stddef.h>

#include "policy/core/run.h"
#include "policy/syntax/tree.h"
#include "policy/values/value.h"

struct unit;

struct unit *unit_new(struct run *run, const struct tree *tree);
const struct tree *unit_tree(const struct unit *unit);

/* What the name of tree->imports[index] means: a VALUE_IMPORT, or static data. Each import must be set before the unit
 * is evaluated. The loader refuses circles of modules. */
void unit_set_import(struct unit *unit, size_t index, struct value import);
/* The unit as a module: a VALUE_IMPORT whose fields are the variables of its file. A module is evaluated before the
 * first unit that imports it. */
struct value unit_as_import(const struct unit *module);

/* True if the import is a module or a standard import that has no such field. Of computed fields this is not known. */
bool import_lacks(struct run *run, struct value import, const char *name, size_t len);

/* A parameter's or global's value, before the evaluation. A parameter without one gets its default; if it has none, the
 * evaluation fails. */
void unit_set_variable(struct unit *unit, uint32_t slot, struct value value);

enum verdict {
	VERDICT_PASSED,
	VERDICT_FAILED,
	VERDICT_UNDEFINED, /* main is undefined, which fails the policy; value_origin(main) is where it arose */
};

struct outcome {
	enum verdict verdict;
	struct value main; /* the value of the variable, or of the rule */
};

/* Evaluates the unit, its modules before it, and then `main`. */
void unit_evaluate(struct run *run, struct unit *policy, struct outcome *ret_outcome);
/* Evaluates the statements of a module that nothing has evaluated yet, and of its modules. */
void unit_run(struct run *run, struct unit *unit);

/* A rule of the file that was evaluated. */
struct evaluated_rule {
	const struct rule_note *note;
	struct value value;
};

/* The rules that were evaluated: main first, the others in the order of the file. An array of the arena. */
size_t unit_rules(struct run *run, const struct unit *unit, struct evaluated_rule **ret_rules);
/* The value of a variable of the file, or of an evaluated rule. False if there is none. */
bool unit_variable(const struct unit *unit, const char *name, size_t len, struct value *ret_value);

#endif
