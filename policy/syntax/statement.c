/* SPDX-License-Identifier: MPL-2.0 */
#include "policy/syntax/parser.h"

#include "common/base.h"

/* ---- blocks ---- */

static bool at_block_end(const struct parser *parser)
{
	switch (parser->token.kind) {
	case TOKEN_CLOSE_CURLY:
	case TOKEN_END:
	case TOKEN_WHEN:
	case TOKEN_ELSE:
		return true;
	default:
		return false;
	}
}

/* Statements up to what ends a block or an arm of `case`, which is not consumed. */
static struct nodes parse_statements(struct parser *parser)
{
	struct nodes statements = {0};

	for (parser_skip_separators(parser); !at_block_end(parser); parser_skip_separators(parser)) {
		nodes_push(parser->run, &statements, parse_statement(parser));
		if (!parser_at(parser, TOKEN_NEWLINE) && !parser_at(parser, TOKEN_SEMICOLON) && !at_block_end(parser))
			parser_fail_expected(parser, "the end of the statement");
	}
	return statements;
}

struct nodes parse_block(struct parser *parser)
{
	bool lines = parser_open(parser, TOKEN_OPEN_CURLY, true);
	struct nodes block = parse_statements(parser);

	parser_close(parser, TOKEN_CLOSE_CURLY, lines);
	return block;
}

/* ---- if, for, case ---- */

static struct node *parse_if(struct parser *parser)
{
	struct node *node = parser_node(parser, NODE_IF, parser->token.span.from);

	parser_advance(parser);
	node->branch = run_alloc(parser->run, 1, sizeof(*node->branch));
	node->branch->condition = parse_expression(parser);
	node->branch->then = parse_block(parser);
	if (!parser_accept(parser, TOKEN_ELSE))
		return node;
	if (parser_at(parser, TOKEN_IF))
		nodes_push(parser->run, &node->branch->otherwise, parse_statement(parser));
	else
		node->branch->otherwise = parse_block(parser);
	return node;
}

void parse_loop_variables(struct parser *parser, struct loop *loop)
{
	parser_expect(parser, TOKEN_AS);
	loop->first = parser_expect_name(parser);
	if (parser_accept(parser, TOKEN_COMMA))
		loop->second = parser_expect_name(parser);
}

static struct node *parse_for(struct parser *parser)
{
	struct node *node = parser_node(parser, NODE_FOR, parser->token.span.from);

	parser_advance(parser);
	node->loop = run_alloc(parser->run, 1, sizeof(*node->loop));
	node->loop->over = parse_expression(parser);
	parse_loop_variables(parser, node->loop);
	parser->loops++;
	node->loop->block = parse_block(parser);
	parser->loops--;
	return node;
}

static struct nodes parse_arm_values(struct parser *parser)
{
	struct nodes values = {0};

	do
		nodes_push(parser->run, &values, parse_expression(parser));
	while (parser_accept(parser, TOKEN_COMMA));
	return values;
}

static struct choice_arm parse_arm(struct parser *parser)
{
	struct choice_arm arm = {0};

	if (parser_accept(parser, TOKEN_WHEN))
		arm.values = parse_arm_values(parser);
	else if (!parser_accept(parser, TOKEN_ELSE))
		parser_fail_expected(parser, "\"when\", \"else\" or \"}\"");
	parser_expect(parser, TOKEN_COLON);
	arm.block = parse_statements(parser);
	return arm;
}

static struct node *parse_case(struct parser *parser)
{
	struct node *node = parser_node(parser, NODE_CASE, parser->token.span.from);
	struct choice *choice = run_alloc(parser->run, 1, sizeof(*choice));
	bool lines;

	parser_advance(parser);
	node->choice = choice;
	if (!parser_at(parser, TOKEN_OPEN_CURLY))
		choice->subject = parse_expression(parser);
	lines = parser_open(parser, TOKEN_OPEN_CURLY, true);
	for (parser_skip_separators(parser); !parser_at(parser, TOKEN_CLOSE_CURLY);) {
		choice->arms = array_room(parser->run, choice->arms, choice->count, sizeof(*choice->arms));
		choice->arms[choice->count++] = parse_arm(parser);
	}
	parser_close(parser, TOKEN_CLOSE_CURLY, lines);
	return node;
}

/* ---- return, break, continue ---- */

static struct node *parse_return(struct parser *parser)
{
	struct node *node = parser_node(parser, NODE_RETURN, parser->token.span.from);

	if (parser->functions == 0)
		run_fail(parser->run, "\"return\" stands outside a function");
	parser_advance(parser);
	node->operation.left = parse_expression(parser);
	return node;
}

static struct node *parse_jump(struct parser *parser, enum node_kind kind)
{
	struct node *node = parser_node(parser, kind, parser->token.span.from);

	if (parser->loops == 0)
		run_fail(parser->run, "%s stands outside \"for\"", token_kind_text(parser->run, parser->token.kind));
	parser_advance(parser);
	return node;
}

static struct node *parse_break(struct parser *parser)
{
	return parse_jump(parser, NODE_BREAK);
}

static struct node *parse_continue(struct parser *parser)
{
	return parse_jump(parser, NODE_CONTINUE);
}

/* ---- assignments ---- */

static const struct {
	enum token_kind token;
	enum operator_kind op;
} assignments[] = {
	{TOKEN_ASSIGN, OP_NONE},
	{TOKEN_ASSIGN_ADD, OP_ADD},
	{TOKEN_ASSIGN_SUBTRACT, OP_SUBTRACT},
	{TOKEN_ASSIGN_MULTIPLY, OP_MULTIPLY},
	{TOKEN_ASSIGN_DIVIDE, OP_DIVIDE},
	{TOKEN_ASSIGN_REMAINDER, OP_REMAINDER},
};

static bool accept_assignment(struct parser *parser, enum operator_kind *ret_operator)
{
	for (size_t i = 0; i < ARRAY_LEN(assignments); i++) {
		if (parser_accept(parser, assignments[i].token)) {
			*ret_operator = assignments[i].op;
			return true;
		}
	}
	return false;
}

static void refuse_target(struct parser *parser, const struct node *target)
{
	struct place place = parser_place(parser, target->offset);

	if (target->kind == NODE_SELECTOR)
		run_fail_at(parser->run, place, "the selector \".%.*s\" cannot be assigned; an index can: [\"%.*s\"]",
			(int)target->selector.field.len, target->selector.field.bytes, (int)target->selector.field.len,
			target->selector.field.bytes);
	if (target->kind != NODE_NAME && target->kind != NODE_INDEX)
		run_fail_at(parser->run, place, "only a name or an index can be assigned");
}

static struct node *assign_node(struct parser *parser, struct node *target, uint32_t offset)
{
	struct node *node = parser_node(parser, NODE_ASSIGN, offset);

	node->assign = run_alloc(parser->run, 1, sizeof(*node->assign));
	node->assign->target = target;
	return node;
}

static struct node *parse_simple(struct parser *parser)
{
	uint32_t offset = parser->token.span.from;
	struct node *left = parse_expression(parser), *node;
	enum operator_kind op;

	if (!accept_assignment(parser, &op)) {
		node = parser_node(parser, NODE_EXPRESSION, offset);
		node->operation.left = left;
		return node;
	}
	refuse_target(parser, left);
	node = assign_node(parser, left, offset);
	node->assign->op = op;
	node->assign->value = parse_expression(parser);
	parser_refuse_zero(parser, op, node->assign->value, offset);
	return node;
}

/* `func name(…) {…}`; without a name it is an expression. */
static struct node *parse_func(struct parser *parser)
{
	uint32_t offset = parser->token.span.from;
	struct node *node, *target;

	if (parser_peek(parser).kind != TOKEN_IDENTIFIER)
		return parse_simple(parser);
	parser_advance(parser);
	target = parser_node(parser, NODE_NAME, parser->token.span.from);
	target->name.text = parser_expect_name(parser);
	node = assign_node(parser, target, offset);
	node->assign->value = parse_function(parser, offset, target->name.text);
	return node;
}

/* ---- statements ---- */

static const struct {
	enum token_kind token;
	struct node *(*parse)(struct parser *parser);
} statements[] = {
	{TOKEN_IF, parse_if},
	{TOKEN_FOR, parse_for},
	{TOKEN_CASE, parse_case},
	{TOKEN_RETURN, parse_return},
	{TOKEN_BREAK, parse_break},
	{TOKEN_CONTINUE, parse_continue},
	{TOKEN_FUNC, parse_func},
};

static struct node *parse_any_statement(struct parser *parser)
{
	for (size_t i = 0; i < ARRAY_LEN(statements); i++) {
		if (parser_at(parser, statements[i].token))
			return statements[i].parse(parser);
	}
	return parse_simple(parser);
}

/* Rules of the file are in the trace. */
static void note_rule(struct parser *parser, const struct node *node, struct span comment)
{
	struct tree *tree = parser->tree;

	if (node->kind != NODE_ASSIGN || node->assign->value->kind != NODE_RULE ||
		node->assign->target->kind != NODE_NAME || node->assign->op != OP_NONE)
		return;
	tree->rules = array_room(parser->run, tree->rules, tree->rule_count, sizeof(*tree->rules));
	tree->rules[tree->rule_count++] = (struct rule_note){
		.name = node->assign->target->name.text,
		.description = comment_text(parser->run, parser->source, comment),
		.rule = node->assign->value,
		.offset = node->offset,
	};
}

struct node *parse_statement(struct parser *parser)
{
	struct span comment = parser->token.comment;
	struct node *node;

	run_enter(parser->run);
	node = parse_any_statement(parser);
	run_leave(parser->run);
	if (parser->functions == 0 && parser->loops == 0)
		note_rule(parser, node, comment);
	return node;
}
