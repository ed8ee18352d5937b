/* SPDX-License-Identifier: MPL-2.0 */
#include "policy/syntax/parser.h"

#include "common/base.h"
#include "policy/syntax/literal.h"

/* ---- constants ---- */

static struct node *constant(struct parser *parser, struct value value)
{
	struct node *node = parser_node(parser, NODE_CONSTANT, parser->token.span.from);

	node->constant = value;
	parser_advance(parser);
	return node;
}

/* 2^63 is a number only behind `-`; as an int it is its own negative. */
static struct node *parse_int(struct parser *parser)
{
	uint64_t number = literal_int(parser->run, parser->source, parser->token.span);

	if (number > INT64_MAX && parser->negated != parser->token.span.from)
		run_fail(parser->run, "the number does not fit into 64 bits");
	return constant(parser, value_int((int64_t)number));
}

static struct node *parse_float(struct parser *parser)
{
	return constant(parser, value_float(literal_float(parser->run, parser->source, parser->token.span)));
}

static struct node *parse_string(struct parser *parser)
{
	struct word bytes = literal_string(parser->run, parser->source, parser->token.span);

	return constant(parser, string_borrow(parser->run, bytes.bytes, bytes.len));
}

static struct node *parse_raw_string(struct parser *parser)
{
	struct word bytes = literal_raw_string(parser->source, parser->token.span);

	return constant(parser, string_borrow(parser->run, bytes.bytes, bytes.len));
}

/* ---- brackets ---- */

/* Expressions with commas up to the bracket, which is not consumed. */
static struct nodes parse_list_items(struct parser *parser, enum token_kind close)
{
	struct nodes items = {0};

	while (!parser_at(parser, close)) {
		nodes_push(parser->run, &items, parse_expression(parser));
		if (!parser_accept(parser, TOKEN_COMMA) && !parser_at(parser, close))
			parser_fail_expected(
				parser, run_text(parser->run, "\",\" or %s", token_kind_text(parser->run, close)));
	}
	return items;
}

static struct node *parse_list(struct parser *parser)
{
	struct node *node = parser_node(parser, NODE_LIST, parser->token.span.from);
	bool lines = parser_open(parser, TOKEN_OPEN_SQUARE, false);

	node->items = parse_list_items(parser, TOKEN_CLOSE_SQUARE);
	parser_close(parser, TOKEN_CLOSE_SQUARE, lines);
	return node;
}

static struct node *parse_map(struct parser *parser)
{
	struct node *node = parser_node(parser, NODE_MAP, parser->token.span.from);
	bool lines = parser_open(parser, TOKEN_OPEN_CURLY, false);

	while (!parser_at(parser, TOKEN_CLOSE_CURLY)) {
		nodes_push(parser->run, &node->items, parse_expression(parser));
		parser_expect(parser, TOKEN_COLON);
		nodes_push(parser->run, &node->items, parse_expression(parser));
		if (!parser_accept(parser, TOKEN_COMMA) && !parser_at(parser, TOKEN_CLOSE_CURLY))
			parser_fail_expected(parser, "\",\" or \"}\"");
	}
	parser_close(parser, TOKEN_CLOSE_CURLY, lines);
	return node;
}

static struct node *parse_round(struct parser *parser)
{
	bool lines = parser_open(parser, TOKEN_OPEN_ROUND, false);
	struct node *node = parse_expression(parser);

	parser_close(parser, TOKEN_CLOSE_ROUND, lines);
	return node;
}

/* "{" expression "}", of rules and quantifiers. */
static struct node *parse_body(struct parser *parser)
{
	bool lines = parser_open(parser, TOKEN_OPEN_CURLY, true);
	struct node *node = parse_expression(parser);

	parser_skip_separators(parser);
	parser_close(parser, TOKEN_CLOSE_CURLY, lines);
	return node;
}

/* ---- functions, rules, quantifiers ---- */

static void parse_parameters(struct parser *parser, struct function_tree *function)
{
	bool lines = parser_open(parser, TOKEN_OPEN_ROUND, false);

	while (!parser_at(parser, TOKEN_CLOSE_ROUND)) {
		function->parameters = array_room(
			parser->run, function->parameters, function->parameter_count, sizeof(*function->parameters));
		function->parameters[function->parameter_count++] = parser_expect_name(parser);
		if (!parser_accept(parser, TOKEN_COMMA) && !parser_at(parser, TOKEN_CLOSE_ROUND))
			parser_fail_expected(parser, "\",\" or \")\"");
	}
	parser_close(parser, TOKEN_CLOSE_ROUND, lines);
}

struct node *parse_function(struct parser *parser, uint32_t offset, struct word name)
{
	struct node *node = parser_node(parser, NODE_FUNCTION, offset);
	unsigned loops = parser->loops;

	node->function = run_alloc(parser->run, 1, sizeof(*node->function));
	node->function->name = name;
	parse_parameters(parser, node->function);
	parser->loops = 0;
	parser->functions++;
	node->function->block = parse_block(parser);
	parser->functions--;
	parser->loops = loops;
	return node;
}

static struct node *parse_function_literal(struct parser *parser)
{
	uint32_t offset = parser->token.span.from;

	parser_advance(parser);
	return parse_function(parser, offset, (struct word){0});
}

static struct node *parse_rule(struct parser *parser)
{
	struct node *node = parser_node(parser, NODE_RULE, parser->token.span.from);

	parser_advance(parser);
	if (parser_accept(parser, TOKEN_WHEN))
		node->rule.when = parse_expression(parser);
	node->rule.body = parse_body(parser);
	return node;
}

static struct node *parse_quantifier(struct parser *parser, enum quantifier quantifier)
{
	struct node *node = parser_node(parser, NODE_QUANTIFIER, parser->token.span.from);

	node->loop = run_alloc(parser->run, 1, sizeof(*node->loop));
	node->loop->quantifier = quantifier;
	parser_advance(parser);
	node->loop->over = parse_expression(parser);
	parse_loop_variables(parser, node->loop);
	node->loop->body = parse_body(parser);
	return node;
}

static struct node *parse_any(struct parser *parser)
{
	return parse_quantifier(parser, QUANTIFIER_ANY);
}

static struct node *parse_all(struct parser *parser)
{
	return parse_quantifier(parser, QUANTIFIER_ALL);
}

/* ---- names ---- */

/* True if `map` or `filter` begins a quantifier at that token. Else it is a name. */
static bool begins_collection(enum token_kind next)
{
	return next == TOKEN_IDENTIFIER || next == TOKEN_STRING || next == TOKEN_RAW_STRING ||
		next == TOKEN_OPEN_ROUND || next == TOKEN_OPEN_SQUARE || next == TOKEN_OPEN_CURLY;
}

static struct node *parse_plain_name(struct parser *parser, struct word text)
{
	struct node *node = parser_node(parser, NODE_NAME, parser->token.span.from);

	node->name.text = text;
	parser_advance(parser);
	return node;
}

static struct node *parse_name(struct parser *parser)
{
	struct word text = parser_word(parser, parser->token.span);
	bool is_map = word_equals(text, "map");

	if ((is_map || word_equals(text, "filter")) && begins_collection(parser_peek(parser).kind))
		return parse_quantifier(parser, is_map ? QUANTIFIER_MAP : QUANTIFIER_FILTER);
	if (word_equals(text, "true") || word_equals(text, "false"))
		return constant(parser, value_bool(text.bytes[0] == 't'));
	if (word_equals(text, "null"))
		return constant(parser, value_null());
	if (word_equals(text, "undefined"))
		return constant(parser, value_undefined(parser->run));
	return parse_plain_name(parser, text);
}

/* ---- operands ---- */

static const struct {
	enum token_kind token;
	struct node *(*parse)(struct parser *parser);
} operands[] = {
	{TOKEN_IDENTIFIER, parse_name},
	{TOKEN_STRING, parse_string},
	{TOKEN_RAW_STRING, parse_raw_string},
	{TOKEN_INT, parse_int},
	{TOKEN_FLOAT, parse_float},
	{TOKEN_OPEN_ROUND, parse_round},
	{TOKEN_OPEN_SQUARE, parse_list},
	{TOKEN_OPEN_CURLY, parse_map},
	{TOKEN_FUNC, parse_function_literal},
	{TOKEN_RULE, parse_rule},
	{TOKEN_ANY, parse_any},
	{TOKEN_ALL, parse_all},
};

static struct node *parse_operand(struct parser *parser)
{
	for (size_t i = 0; i < ARRAY_LEN(operands); i++) {
		if (parser_at(parser, operands[i].token))
			return operands[i].parse(parser);
	}
	parser_fail_expected(parser, "an expression");
}

/* ---- what follows an operand ---- */

static struct node *parse_selector(struct parser *parser, struct node *of, uint32_t offset)
{
	struct node *node = parser_node(parser, NODE_SELECTOR, offset);

	parser_advance(parser);
	if (!parser_at(parser, TOKEN_IDENTIFIER))
		parser_fail_expected(parser, token_kind_text(parser->run, TOKEN_IDENTIFIER));
	node->selector.of = of;
	node->selector.field = parser_word(parser, parser->token.span);
	parser_advance(parser);
	return node;
}

/* From the colon on. */
static struct node *parse_slice(struct parser *parser, struct node *of, struct node *from, uint32_t offset)
{
	struct node *node = parser_node(parser, NODE_SLICE, offset);

	parser_expect(parser, TOKEN_COLON);
	node->slice = (struct slice){.of = of, .from = from};
	if (!parser_at(parser, TOKEN_CLOSE_SQUARE))
		node->slice.to = parse_expression(parser);
	return node;
}

static struct node *index_node(struct parser *parser, struct node *of, struct node *index, uint32_t offset)
{
	struct node *node = parser_node(parser, NODE_INDEX, offset);

	node->operation.left = of;
	node->operation.right = index;
	return node;
}

static struct node *parse_index(struct parser *parser, struct node *of, uint32_t offset)
{
	bool lines = parser_open(parser, TOKEN_OPEN_SQUARE, false);
	struct node *from = parser_at(parser, TOKEN_COLON) ? NULL : parse_expression(parser);
	struct node *node = !from || parser_at(parser, TOKEN_COLON) ? parse_slice(parser, of, from, offset)
								    : index_node(parser, of, from, offset);

	parser_close(parser, TOKEN_CLOSE_SQUARE, lines);
	return node;
}

static struct node *parse_call(struct parser *parser, struct node *of, uint32_t offset)
{
	struct node *node = parser_node(parser, NODE_CALL, offset);
	bool lines = parser_open(parser, TOKEN_OPEN_ROUND, false);

	node->call.function = of;
	node->call.arguments = parse_list_items(parser, TOKEN_CLOSE_ROUND);
	parser_close(parser, TOKEN_CLOSE_ROUND, lines);
	return node;
}

struct node *parse_primary(struct parser *parser)
{
	uint32_t offset = parser->token.span.from;
	struct node *node = parse_operand(parser);

	for (;;) {
		if (parser_at(parser, TOKEN_DOT))
			node = parse_selector(parser, node, offset);
		else if (parser_at(parser, TOKEN_OPEN_SQUARE))
			node = parse_index(parser, node, offset);
		else if (parser_at(parser, TOKEN_OPEN_ROUND))
			node = parse_call(parser, node, offset);
		else
			return node;
	}
}
