/* SPDX-License-Identifier: MPL-2.0 */
/* Expressions: names, literals, and the table of all kinds. */
#include "policy/evaluate/activation.h"

/* ---- names ---- */

static struct value *slot_of(const struct activation *activation, const struct name *name)
{
	struct frame *frame = activation->frame;

	for (uint16_t i = 0; i < name->hops; i++)
		frame = frame->outer;
	return &frame->slots[name->slot];
}

/* VALUE_UNSET if the variable has none yet. Reads of static data are views. */
static struct value candidate(struct activation *activation, const struct name *name)
{
	if (name->kind == NAME_VARIABLE)
		return *slot_of(activation, name);
	if (name->kind == NAME_BUILTIN)
		return builtin_function(name->slot);
	return value_view(activation->run, activation->unit->imports[name->slot]);
}

struct value name_read(struct activation *activation, const struct node *node)
{
	for (const struct name *name = &node->name; name; name = name->outer) {
		struct value value = candidate(activation, name);

		if (value.type != VALUE_UNSET)
			return value;
	}
	activation_at(activation, node);
	run_fail(activation->run, "\"%.*s\" has no value yet", (int)node->name.text.len, node->name.text.bytes);
}

struct value *name_slot_to_assign(struct activation *activation, const struct name *name)
{
	struct value *first = NULL;

	for (; name; name = name->outer) {
		struct value *slot;

		if (name->kind != NAME_VARIABLE)
			continue;
		slot = slot_of(activation, name);
		if (slot->type != VALUE_UNSET)
			return slot;
		if (!first)
			first = slot;
	}
	return first;
}

static struct value evaluate_name(struct activation *activation, const struct node *node)
{
	struct value value = name_read(activation, node);

	if (value.type == VALUE_RULE)
		return rule_force(activation->run, value.rule);
	if (value.type != VALUE_IMPORT)
		return value;
	activation_at(activation, node);
	run_fail(activation->run, "the import \"%.*s\" is no value; only its fields are", (int)node->name.text.len,
		node->name.text.bytes);
}

/* ---- literals ---- */

static struct value evaluate_constant(struct activation *activation, const struct node *node)
{
	if (node->constant.type != VALUE_UNDEFINED)
		return node->constant;
	activation_at(activation, node);
	return value_undefined(activation->run);
}

static struct value evaluate_list(struct activation *activation, const struct node *node)
{
	struct value list = list_new(activation->run, node->items.count);

	for (uint32_t i = 0; i < node->items.count; i++)
		list_push(activation->run, list, evaluate(activation, node->items.items[i]));
	return list;
}

static struct value evaluate_map(struct activation *activation, const struct node *node)
{
	struct value map = map_new(activation->run, node->items.count / 2);

	for (uint32_t i = 0; i + 1 < node->items.count; i += 2) {
		struct value key = evaluate(activation, node->items.items[i]);
		struct value element = evaluate(activation, node->items.items[i + 1]);

		activation_at(activation, node->items.items[i]);
		map_set(activation->run, map, key, element);
	}
	return map;
}

/* Only an assignment keeps a rule lazy. */
static struct value evaluate_rule(struct activation *activation, const struct node *node)
{
	return forced(activation->run, rule_new(activation, node, (struct word){0}));
}

/* ---- all kinds ---- */

static struct value (*const evaluators[])(struct activation *activation, const struct node *node) = {
	[NODE_CONSTANT] = evaluate_constant,
	[NODE_NAME] = evaluate_name,
	[NODE_LIST] = evaluate_list,
	[NODE_MAP] = evaluate_map,
	[NODE_FUNCTION] = evaluate_function,
	[NODE_RULE] = evaluate_rule,
	[NODE_QUANTIFIER] = evaluate_quantifier,
	[NODE_OPERATION] = evaluate_operation,
	[NODE_SELECTOR] = evaluate_selector,
	[NODE_INDEX] = evaluate_index,
	[NODE_SLICE] = evaluate_slice,
	[NODE_CALL] = evaluate_call,
};

struct value evaluate(struct activation *activation, const struct node *node)
{
	struct value value;

	run_step(activation->run, 1);
	if (node->kind == NODE_CONSTANT)
		return evaluate_constant(activation, node);
	if (node->kind == NODE_NAME)
		return evaluate_name(activation, node);
	activation_at(activation, node);
	run_enter(activation->run);
	value = evaluators[node->kind](activation, node);
	run_leave(activation->run);
	return value;
}
