/* SPDX-License-Identifier: MPL-2.0 */
#include "policy/syntax/parser.h"

#include "common/base.h"

/* Levels of binary operators, loosest first. All are left-associative. */
enum level { LEVEL_OR = 1, LEVEL_AND, LEVEL_COMPARE, LEVEL_ELSE, LEVEL_ADD, LEVEL_MULTIPLY };

static const struct binary {
	enum token_kind token;
	enum level level;
	enum operator_kind op;
} binaries[] = {
	{TOKEN_OR, LEVEL_OR, OP_OR},
	{TOKEN_XOR, LEVEL_OR, OP_XOR},
	{TOKEN_AND, LEVEL_AND, OP_AND},
	{TOKEN_EQUAL, LEVEL_COMPARE, OP_IS},
	{TOKEN_NOT_EQUAL, LEVEL_COMPARE, OP_IS_NOT},
	{TOKEN_LESS, LEVEL_COMPARE, OP_LESS},
	{TOKEN_LESS_EQUAL, LEVEL_COMPARE, OP_LESS_EQUAL},
	{TOKEN_GREATER, LEVEL_COMPARE, OP_GREATER},
	{TOKEN_GREATER_EQUAL, LEVEL_COMPARE, OP_GREATER_EQUAL},
	{TOKEN_CONTAINS, LEVEL_COMPARE, OP_CONTAINS},
	{TOKEN_IN, LEVEL_COMPARE, OP_IN},
	{TOKEN_MATCHES, LEVEL_COMPARE, OP_MATCHES},
	{TOKEN_IS, LEVEL_COMPARE, OP_IS},   /* and `is not`, `is empty`, … */
	{TOKEN_NOT, LEVEL_COMPARE, OP_NOT}, /* `not in`, … */
	{TOKEN_ELSE, LEVEL_ELSE, OP_ELSE},
	{TOKEN_ADD, LEVEL_ADD, OP_ADD},
	{TOKEN_SUBTRACT, LEVEL_ADD, OP_SUBTRACT},
	{TOKEN_MULTIPLY, LEVEL_MULTIPLY, OP_MULTIPLY},
	{TOKEN_DIVIDE, LEVEL_MULTIPLY, OP_DIVIDE},
	{TOKEN_REMAINDER, LEVEL_MULTIPLY, OP_REMAINDER},
};

static const struct {
	enum token_kind token;
	enum operator_kind op;
} negated[] = {
	{TOKEN_CONTAINS, OP_NOT_CONTAINS},
	{TOKEN_IN, OP_NOT_IN},
	{TOKEN_MATCHES, OP_NOT_MATCHES},
};

static enum operator_kind negated_operator(enum token_kind kind)
{
	for (size_t i = 0; i < ARRAY_LEN(negated); i++) {
		if (negated[i].token == kind)
			return negated[i].op;
	}
	return OP_NONE;
}

/* The operator at the token, or NULL. `else` before ":" is an arm of `case`. */
static const struct binary *binary_at(const struct parser *parser)
{
	enum token_kind kind = parser->token.kind;

	if (kind == TOKEN_ELSE && parser_peek(parser).kind == TOKEN_COLON)
		return NULL;
	if (kind == TOKEN_NOT && negated_operator(parser_peek(parser).kind) == OP_NONE)
		return NULL;
	for (size_t i = 0; i < ARRAY_LEN(binaries); i++) {
		if (binaries[i].token == kind)
			return &binaries[i];
	}
	return NULL;
}

/* Behind `is` or `is not`: OP_NONE, or the operator without a second operand. */
static enum operator_kind accept_property(struct parser *parser, bool negative)
{
	struct word word = parser_word(parser, parser->token.span);
	enum operator_kind op = OP_NONE;

	if (!parser_at(parser, TOKEN_IDENTIFIER))
		return OP_NONE;
	if (word_equals(word, "empty"))
		op = negative ? OP_IS_NOT_EMPTY : OP_IS_EMPTY;
	else if (word_equals(word, "defined"))
		op = negative ? OP_IS_NOT_DEFINED : OP_IS_DEFINED;
	if (op != OP_NONE)
		parser_advance(parser);
	return op;
}

static enum operator_kind take_is(struct parser *parser)
{
	bool negative = parser_accept(parser, TOKEN_NOT);
	enum operator_kind property = accept_property(parser, negative);

	if (property != OP_NONE)
		return property;
	return negative ? OP_IS_NOT : OP_IS;
}

static enum operator_kind take_operator(struct parser *parser, const struct binary *binary)
{
	enum operator_kind op = binary->op;

	parser_advance(parser);
	if (binary->token == TOKEN_IS)
		return take_is(parser);
	if (binary->token == TOKEN_NOT) {
		op = negated_operator(parser->token.kind);
		parser_advance(parser);
	}
	return op;
}

static struct node *operation(struct parser *parser, enum operator_kind op, uint32_t offset)
{
	struct node *node = parser_node(parser, NODE_OPERATION, offset);

	node->op = (uint8_t)op;
	return node;
}

void parser_refuse_zero(
	struct parser *parser, enum operator_kind op, const struct node *divisor, uint32_t operator_offset)
{
	if (op != OP_DIVIDE && op != OP_REMAINDER)
		return;
	if (divisor->kind == NODE_CONSTANT && value_is(divisor->constant, VALUE_INT) && divisor->constant.number == 0)
		run_fail_at(parser->run, parser_place(parser, operator_offset), "division by the constant 0");
}

static bool has_one_operand(enum operator_kind op)
{
	return op >= OP_IS_EMPTY && op <= OP_IS_NOT_DEFINED;
}

static struct node *parse_unary(struct parser *parser);

/* Operators of at least that level. */
static struct node *parse_binary(struct parser *parser, enum level level)
{
	struct node *left = parse_unary(parser);
	const struct binary *binary;

	while ((binary = binary_at(parser)) != NULL && binary->level >= level) {
		uint32_t offset = parser->token.span.from;
		struct node *node = operation(parser, take_operator(parser, binary), offset);

		node->operation.left = left;
		if (!has_one_operand(node->op)) {
			node->operation.right = parse_binary(parser, binary->level + 1);
			parser_refuse_zero(parser, node->op, node->operation.right, offset);
		}
		left = node;
	}
	return left;
}

/* ---- one operand ---- */

static enum operator_kind prefix_operator(enum token_kind kind)
{
	switch (kind) {
	case TOKEN_NOT:
	case TOKEN_EXCLAMATION:
		return OP_NOT;
	case TOKEN_SUBTRACT:
		return OP_MINUS;
	case TOKEN_ADD:
		return OP_PLUS;
	default:
		return OP_NONE;
	}
}

static struct node *parse_prefix(struct parser *parser, enum operator_kind op)
{
	struct node *node = operation(parser, op, parser->token.span.from);

	run_enter(parser->run);
	parser_advance(parser);
	if (op == OP_MINUS)
		parser->negated = parser->token.span.from;
	node->operation.left = parse_unary(parser);
	run_leave(parser->run);
	return node;
}

static struct node *parse_unary(struct parser *parser)
{
	enum operator_kind op = prefix_operator(parser->token.kind);

	return op == OP_NONE ? parse_primary(parser) : parse_prefix(parser, op);
}

struct node *parse_expression(struct parser *parser)
{
	struct node *node;

	run_enter(parser->run);
	node = parse_binary(parser, LEVEL_OR);
	run_leave(parser->run);
	return node;
}
