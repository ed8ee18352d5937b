/* SPDX-License-Identifier: MPL-2.0 */
/* Files that are evaluated: modules, and the policy with its verdict. */
#include <string.h>

#include "policy/evaluate/activation.h"

/* ---- modules ---- */

static bool module_field(
	struct run *run, const struct import *import, const char *name, size_t len, struct value *ret_field)
{
	const struct unit *unit = import->data;
	uint32_t slot;

	run_step(run, unit->tree->scope.count / NAMES_PER_STEP);
	if (!tree_variable(unit->tree, name, len, &slot) || unit->frame->slots[slot].type == VALUE_UNSET)
		return false;
	*ret_field = forced(run, unit->frame->slots[slot]);
	return true;
}

struct unit *unit_new(struct run *run, const struct tree *tree)
{
	struct unit *unit = run_alloc(run, 1, sizeof(*unit));
	struct frame *frame = run_alloc(run, 1, sizeof(*frame) + tree->scope.count * sizeof(frame->slots[0]));

	frame_unset(frame, &tree->scope, 0);
	*unit = (struct unit){
		.tree = tree,
		.import = {.name = tree->source->name, .field = module_field, .data = unit},
		.imports = run_alloc(run, tree->import_count, sizeof(*unit->imports)),
		.frame = frame,
	};
	return unit;
}

const struct tree *unit_tree(const struct unit *unit)
{
	return unit->tree;
}

void unit_set_import(struct unit *unit, size_t index, struct value import)
{
	unit->imports[index] = import;
}

struct value unit_as_import(const struct unit *module)
{
	return (struct value){.type = VALUE_IMPORT, .import = &module->import};
}

void unit_set_variable(struct unit *unit, uint32_t slot, struct value value)
{
	unit->frame->slots[slot] = value;
}

/* The module's unit, or NULL for any other import. */
static struct unit *module_of(struct value import)
{
	if (import.type != VALUE_IMPORT || import.import->field != module_field)
		return NULL;
	return (struct unit *)import.import->data;
}

bool import_lacks(struct run *run, struct value import, const char *name, size_t len)
{
	const struct unit *module = module_of(import);
	uint32_t slot;

	if (module) {
		run_step(run, module->tree->scope.count / NAMES_PER_STEP);
		return !tree_variable(module->tree, name, len, &slot);
	}
	return import.type == VALUE_IMPORT && !import.import->field && !import_function(import.import, name, len);
}

/* ---- evaluation ---- */

static void set_default(struct activation *activation, const struct param_tree *param)
{
	struct value *slot = &activation->frame->slots[param->slot];

	if (slot->type != VALUE_UNSET)
		return;
	if (!param->otherwise)
		run_fail_at(activation->run,
			(struct place){.source = activation->unit->tree->source, .offset = param->offset},
			"the parameter \"%.*s\" has no value and no default", (int)param->name.len, param->name.bytes);
	*slot = evaluate(activation, param->otherwise);
}

static void run_modules(struct run *run, struct unit *unit)
{
	run_enter(run);
	for (uint32_t i = 0; i < unit->tree->import_count; i++) {
		struct unit *module = module_of(unit->imports[i]);

		if (module)
			unit_run(run, module);
	}
	run_leave(run);
}

void unit_run(struct run *run, struct unit *unit)
{
	struct activation activation = {.run = run, .unit = unit, .frame = unit->frame};

	if (unit->state == UNIT_DONE)
		return;
	if (unit->state == UNIT_RUNNING)
		run_fail(run, "the module %s imports itself", unit->tree->source->name);
	unit->state = UNIT_RUNNING;
	run_modules(run, unit);
	stack_mark(run);
	for (uint32_t i = 0; i < unit->tree->param_count; i++)
		set_default(&activation, &unit->tree->params[i]);
	execute(&activation, &unit->tree->statements);
	unit->state = UNIT_DONE;
}

/* ---- the verdict ---- */

static bool is_zero_or_empty(struct value value)
{
	switch (value.type) {
	case VALUE_INT:
		return value.number == 0;
	case VALUE_FLOAT:
		return value.real == 0;
	case VALUE_STRING:
		return string_len(value) == 0;
	case VALUE_LIST:
		return list_len(value) == 0;
	case VALUE_MAP:
		return map_len(value) == 0;
	default:
		return false;
	}
}

/* True passes, and so do an empty string, list or map, and zero. */
static enum verdict verdict_of(struct run *run, struct value main)
{
	switch (main.type) {
	case VALUE_UNDEFINED:
		return VERDICT_UNDEFINED;
	case VALUE_BOOL:
		return main.truth ? VERDICT_PASSED : VERDICT_FAILED;
	case VALUE_NULL:
	case VALUE_FUNCTION:
		run_fail(run, "main is %s, which is no result of a policy", value_type_name(main));
	default:
		return is_zero_or_empty(main) ? VERDICT_PASSED : VERDICT_FAILED;
	}
}

static struct place place_of_main(const struct tree *tree, uint32_t slot)
{
	struct place place = {.source = tree->source};

	for (uint32_t i = 0; i < tree->rule_count; i++)
		if (tree->rules[i].slot == slot)
			place.offset = tree->rules[i].rule->offset;
	return place;
}

void unit_evaluate(struct run *run, struct unit *policy, struct outcome *ret_outcome)
{
	uint32_t slot;
	struct value main;

	unit_run(run, policy);
	run->at = (struct place){.source = policy->tree->source};
	if (!tree_variable(policy->tree, "main", 4, &slot) || policy->frame->slots[slot].type == VALUE_UNSET)
		run_fail(run, "main has no value");
	run->at = place_of_main(policy->tree, slot);
	main = forced(run, policy->frame->slots[slot]);
	*ret_outcome = (struct outcome){.verdict = verdict_of(run, main), .main = main};
}

/* ---- the trace ---- */

/* The rule of the note, if it was evaluated. NULL if the variable has another value by now. */
static const struct rule *evaluated_rule(const struct unit *unit, const struct rule_note *note)
{
	struct value value = unit->frame->slots[note->slot];

	if (value.type != VALUE_RULE || value.rule->node != note->rule || value.rule->state != RULE_DONE)
		return NULL;
	return value.rule;
}

static bool is_main(const struct rule_note *note)
{
	return note->name.len == 4 && memcmp(note->name.bytes, "main", 4) == 0;
}

static size_t add_rules(const struct unit *unit, bool main, struct evaluated_rule *rules, size_t count)
{
	for (uint32_t i = 0; i < unit->tree->rule_count; i++) {
		const struct rule_note *note = &unit->tree->rules[i];
		const struct rule *rule = is_main(note) == main ? evaluated_rule(unit, note) : NULL;

		if (rule)
			rules[count++] = (struct evaluated_rule){.note = note, .value = rule->value};
	}
	return count;
}

size_t unit_rules(struct run *run, const struct unit *unit, struct evaluated_rule **ret_rules)
{
	struct evaluated_rule *rules = run_alloc(run, unit->tree->rule_count, sizeof(*rules));
	size_t count = add_rules(unit, true, rules, 0);

	*ret_rules = rules;
	return add_rules(unit, false, rules, count);
}

bool unit_variable(const struct unit *unit, const char *name, size_t len, struct value *ret_value)
{
	uint32_t slot;
	struct value value;

	if (!tree_variable(unit->tree, name, len, &slot))
		return false;
	value = unit->frame->slots[slot];
	if (value.type == VALUE_UNSET || (value.type == VALUE_RULE && value.rule->state != RULE_DONE))
		return false;
	*ret_value = value.type == VALUE_RULE ? value.rule->value : value;
	return true;
}
