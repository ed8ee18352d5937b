/* SPDX-License-Identifier: MPL-2.0 */
#include "policy/evaluate/activation.h"

static enum flow execute_expression(struct activation *activation, const struct node *node)
{
	evaluate(activation, node->operation.left);
	return FLOW_NEXT;
}

/* ---- assignment ---- */

static struct value assigned_to_name(struct activation *activation, const struct assignment *assign)
{
	struct value value, old;

	if (assign->op == OP_NONE && assign->value->kind == NODE_RULE)
		return rule_new(activation, assign->value, assign->target->name.text);
	value = evaluate(activation, assign->value);
	if (assign->op == OP_NONE)
		return value;
	old = evaluate(activation, assign->target);
	return operator_apply(activation->run, assign->op, old, value);
}

static void set_list_element(struct run *run, struct value list, struct value index, struct value value)
{
	int64_t len = (int64_t)list_len(list), position;

	if (index.type != VALUE_INT)
		run_fail(run, "an index of a list is an int, not %s", value_type_name(index));
	position = index.number < 0 ? index.number + len : index.number;
	if (position < 0 || position >= len)
		run_fail(run, "the index %lld is out of range, the list has %lld elements", (long long)index.number,
			(long long)len);
	list_set(run, list, (size_t)position, value);
}

static void set_element(struct run *run, struct value base, struct value index, struct value value)
{
	if (base.type == VALUE_LIST)
		set_list_element(run, base, index, value);
	else if (base.type == VALUE_MAP)
		map_set(run, base, index, value);
	else
		run_fail(run, "only elements of lists and maps can be assigned, not of %s", value_type_name(base));
}

static struct value old_element(struct run *run, struct value base, struct value index)
{
	struct value old;

	if (base.type == VALUE_MAP)
		return map_get(run, base, index, &old) ? old : value_undefined(run);
	if (base.type != VALUE_LIST || index.type != VALUE_INT)
		return value_undefined(run);
	int64_t len = (int64_t)list_len(base), position = index.number < 0 ? index.number + len : index.number;

	return position < 0 || position >= len ? value_undefined(run) : list_at(run, base, (size_t)position);
}

/* The right side first, then the left. */
static void assign_element(struct activation *activation, const struct node *node)
{
	const struct assignment *assign = node->assign;
	struct value value = evaluate(activation, assign->value);
	struct value base = evaluate(activation, assign->target->operation.left);
	struct value index = evaluate(activation, assign->target->operation.right);
	struct run *run = activation->run;

	activation_at(activation, node);
	if (assign->op != OP_NONE)
		value = operator_apply(run, assign->op, old_element(run, base, index), value);
	set_element(run, base, index, value);
}

static enum flow execute_assign(struct activation *activation, const struct node *node)
{
	struct value value;

	if (node->assign->target->kind != NODE_NAME) {
		assign_element(activation, node);
		return FLOW_NEXT;
	}
	activation_at(activation, node);
	value = assigned_to_name(activation, node->assign);
	*name_slot_to_assign(activation, &node->assign->target->name) = value;
	return FLOW_NEXT;
}

/* ---- if, case ---- */

/* An undefined condition is none that is true. */
static bool condition_holds(struct activation *activation, const struct node *condition)
{
	struct value value = evaluate(activation, condition);

	if (value.type == VALUE_BOOL)
		return value.truth;
	if (value.type == VALUE_UNDEFINED)
		return false;
	activation_at(activation, condition);
	run_fail(activation->run, "the condition of if is a bool, not %s", value_type_name(value));
}

static enum flow execute_if(struct activation *activation, const struct node *node)
{
	const struct branch *branch = node->branch;

	return execute(activation, condition_holds(activation, branch->condition) ? &branch->then : &branch->otherwise);
}

static bool arm_fits(struct activation *activation, const struct choice_arm *arm, struct value subject)
{
	for (uint32_t i = 0; i < arm->values.count; i++) {
		struct value value = evaluate(activation, arm->values.items[i]);

		if (subject.type != VALUE_UNDEFINED && value.type != VALUE_UNDEFINED &&
			value_equal(activation->run, subject, value))
			return true;
	}
	return false;
}

/* The first arm that fits; or the first `else`, wherever it stands. */
static enum flow execute_case(struct activation *activation, const struct node *node)
{
	const struct choice *choice = node->choice;
	struct value subject = choice->subject ? evaluate(activation, choice->subject) : value_bool(true);
	const struct choice_arm *otherwise = NULL;

	for (uint32_t i = 0; i < choice->count; i++) {
		if (choice->arms[i].values.count == 0)
			otherwise = otherwise ? otherwise : &choice->arms[i];
		else if (arm_fits(activation, &choice->arms[i], subject))
			return execute(activation, &choice->arms[i].block);
	}
	return otherwise ? execute(activation, &otherwise->block) : FLOW_NEXT;
}

/* ---- for ---- */

static enum flow execute_turns(struct activation *activation, struct turns *turns)
{
	while (turns_next(activation, turns)) {
		enum flow flow = execute(activation, &turns->loop->block);

		if (flow == FLOW_BREAK)
			return FLOW_NEXT;
		if (flow == FLOW_RETURN)
			return flow;
	}
	return FLOW_NEXT;
}

static enum flow execute_for(struct activation *activation, const struct node *node)
{
	struct value over = evaluate(activation, node->loop->over);
	struct turns turns;
	enum flow flow;

	activation_at(activation, node);
	turns_begin(activation, node->loop, over, &turns);
	flow = execute_turns(activation, &turns);
	turns_end(activation, &turns);
	return flow;
}

/* ---- leaving ---- */

static enum flow execute_return(struct activation *activation, const struct node *node)
{
	activation->returned = evaluate(activation, node->operation.left);
	return FLOW_RETURN;
}

static enum flow execute_break(struct activation *activation, const struct node *node)
{
	(void)activation;
	(void)node;
	return FLOW_BREAK;
}

static enum flow execute_continue(struct activation *activation, const struct node *node)
{
	(void)activation;
	(void)node;
	return FLOW_CONTINUE;
}

/* ---- all kinds ---- */

static enum flow (*const executors[])(struct activation *activation, const struct node *node) = {
	[NODE_EXPRESSION] = execute_expression,
	[NODE_ASSIGN] = execute_assign,
	[NODE_IF] = execute_if,
	[NODE_FOR] = execute_for,
	[NODE_CASE] = execute_case,
	[NODE_RETURN] = execute_return,
	[NODE_BREAK] = execute_break,
	[NODE_CONTINUE] = execute_continue,
};

enum flow execute(struct activation *activation, const struct nodes *block)
{
	enum flow flow = FLOW_NEXT;

	run_enter(activation->run);
	for (uint32_t i = 0; i < block->count && flow == FLOW_NEXT; i++) {
		run_step(activation->run, 1);
		flow = executors[block->items[i]->kind](activation, block->items[i]);
	}
	run_leave(activation->run);
	return flow;
}
