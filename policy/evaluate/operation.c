/* SPDX-License-Identifier: MPL-2.0 */
/* Operations: logic, `else`, operators with one operand, and the order in which operands are evaluated. */
#include "policy/evaluate/activation.h"

static struct value left_of(struct activation *activation, const struct node *node)
{
	return evaluate(activation, node->operation.left);
}

/* ---- logic ---- */

/* A bool or undefined. */
static struct value operand_of(struct activation *activation, const struct node *node, const struct node *operand)
{
	struct value value = evaluate(activation, operand);

	if (value.type == VALUE_BOOL || value.type == VALUE_UNDEFINED)
		return value;
	activation_at(activation, node);
	run_fail(activation->run, "an operand of %s is a bool, not %s", operator_texts[node->op],
		value_type_name(value));
}

static bool is_true(struct value value)
{
	return value.type == VALUE_BOOL && value.truth;
}

/* Undefined and false stay; the right operand is the result of true. */
static struct value logical_and(struct activation *activation, const struct node *node)
{
	struct value left = operand_of(activation, node, node->operation.left);

	return is_true(left) ? operand_of(activation, node, node->operation.right) : left;
}

/* True stays. Undefined or true is true, else undefined. */
static struct value logical_or(struct activation *activation, const struct node *node)
{
	struct value left = operand_of(activation, node, node->operation.left), right;

	if (is_true(left))
		return left;
	right = operand_of(activation, node, node->operation.right);
	return left.type == VALUE_BOOL || is_true(right) ? right : left;
}

static struct value logical_xor(struct activation *activation, const struct node *node)
{
	struct value left = operand_of(activation, node, node->operation.left);
	struct value right = operand_of(activation, node, node->operation.right);

	if (left.type == VALUE_UNDEFINED || right.type == VALUE_UNDEFINED)
		return left.type == VALUE_UNDEFINED ? left : right;
	return value_bool(left.truth != right.truth);
}

static struct value logical_not(struct activation *activation, const struct node *node)
{
	struct value value = operand_of(activation, node, node->operation.left);

	return value.type == VALUE_BOOL ? value_bool(!value.truth) : value;
}

static struct value otherwise(struct activation *activation, const struct node *node)
{
	struct value value = left_of(activation, node);

	return value.type == VALUE_UNDEFINED ? evaluate(activation, node->operation.right) : value;
}

/* ---- one operand ---- */

static struct value is_defined(struct activation *activation, const struct node *node)
{
	return value_bool(left_of(activation, node).type != VALUE_UNDEFINED);
}

static struct value is_not_defined(struct activation *activation, const struct node *node)
{
	return value_bool(left_of(activation, node).type == VALUE_UNDEFINED);
}

static struct value is_empty(struct activation *activation, const struct node *node)
{
	struct value value = left_of(activation, node);

	switch (value.type) {
	case VALUE_UNDEFINED:
		return value;
	case VALUE_STRING:
		return value_bool(string_len(value) == 0);
	case VALUE_LIST:
		return value_bool(list_len(value) == 0);
	case VALUE_MAP:
		return value_bool(map_len(value) == 0);
	default:
		activation_at(activation, node);
		run_fail(activation->run, "a string, a list or a map can be empty, not %s", value_type_name(value));
	}
}

static struct value is_not_empty(struct activation *activation, const struct node *node)
{
	struct value empty = is_empty(activation, node);

	return empty.type == VALUE_BOOL ? value_bool(!empty.truth) : empty;
}

/* A number or undefined. */
static struct value numeric(struct activation *activation, const struct node *node)
{
	struct value value = left_of(activation, node);

	if (value_is_number(value) || value.type == VALUE_UNDEFINED)
		return value;
	activation_at(activation, node);
	run_fail(activation->run, "%s can't be applied to %s", operator_texts[node->op], value_type_name(value));
}

static struct value minus(struct activation *activation, const struct node *node)
{
	struct value value = numeric(activation, node);

	if (value.type == VALUE_INT)
		return value_int((int64_t)(0 - (uint64_t)value.number));
	return value.type == VALUE_FLOAT ? value_float(-value.real) : value;
}

/* ---- two operands ---- */

static struct value two_operands(struct activation *activation, const struct node *node)
{
	struct value left = left_of(activation, node);
	struct value right = evaluate(activation, node->operation.right);

	activation_at(activation, node);
	return operator_apply(activation->run, node->op, left, right);
}

struct value evaluate_operation(struct activation *activation, const struct node *node)
{
	/* The operators that are not here have two operands that are always evaluated. */
	static struct value (*const special[OP_PLUS + 1])(struct activation *, const struct node *) = {
		[OP_AND] = logical_and,
		[OP_OR] = logical_or,
		[OP_XOR] = logical_xor,
		[OP_NOT] = logical_not,
		[OP_ELSE] = otherwise,
		[OP_IS_DEFINED] = is_defined,
		[OP_IS_NOT_DEFINED] = is_not_defined,
		[OP_IS_EMPTY] = is_empty,
		[OP_IS_NOT_EMPTY] = is_not_empty,
		[OP_MINUS] = minus,
		[OP_PLUS] = numeric,
	};

	if (special[node->op])
		return special[node->op](activation, node);
	return two_operands(activation, node);
}
