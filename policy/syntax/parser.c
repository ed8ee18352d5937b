/* SPDX-License-Identifier: MPL-2.0 */
#include "policy/syntax/parser.h"

#include <string.h>

#include "common/base.h"
#include "policy/syntax/literal.h"

/* ---- tokens ---- */

struct place parser_place(const struct parser *parser, uint32_t offset)
{
	return (struct place){parser->source, offset};
}

struct word parser_word(const struct parser *parser, struct span span)
{
	return (struct word){parser->source->text + span.from, span.to - span.from};
}

void parser_advance(struct parser *parser)
{
	parser->token = lexer_next(&parser->lexer);
	parser->run->at = parser_place(parser, parser->token.span.from);
}

struct token parser_peek(const struct parser *parser)
{
	struct lexer copy = parser->lexer;

	return lexer_next(&copy);
}

bool parser_accept(struct parser *parser, enum token_kind kind)
{
	if (!parser_at(parser, kind))
		return false;
	parser_advance(parser);
	return true;
}

void parser_fail_expected(struct parser *parser, const char *expected)
{
	run_fail_at(parser->run, parser_place(parser, parser->token.span.from), "expected %s, found %s", expected,
		token_text(parser->run, parser->source, parser->token));
}

void parser_expect(struct parser *parser, enum token_kind kind)
{
	if (!parser_accept(parser, kind))
		parser_fail_expected(parser, token_kind_text(parser->run, kind));
}

bool word_equals(struct word word, const char *text)
{
	return word.len == strlen(text) && memcmp(word.bytes, text, word.len) == 0;
}

static bool is_constant_name(struct word name)
{
	static const char *const names[] = {"true", "false", "null", "undefined"};

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (word_equals(name, names[i]))
			return true;
	}
	return false;
}

struct word parser_expect_name(struct parser *parser)
{
	struct word name = parser_word(parser, parser->token.span);

	if (!parser_at(parser, TOKEN_IDENTIFIER))
		parser_fail_expected(parser, token_kind_text(parser->run, TOKEN_IDENTIFIER));
	if (is_constant_name(name))
		run_fail(parser->run, "\"%.*s\" is predeclared and cannot name anything else", (int)name.len,
			name.bytes);
	parser_advance(parser);
	return name;
}

static bool at_separator(const struct parser *parser)
{
	return parser_at(parser, TOKEN_NEWLINE) || parser_at(parser, TOKEN_SEMICOLON);
}

void parser_skip_separators(struct parser *parser)
{
	while (at_separator(parser))
		parser_advance(parser);
}

bool parser_open(struct parser *parser, enum token_kind bracket, bool lines)
{
	bool outer_lines = parser->lexer.lines;

	/* Before the bracket is consumed, because that reads the token behind it. */
	if (parser_at(parser, bracket))
		parser->lexer.lines = lines;
	parser_expect(parser, bracket);
	return outer_lines;
}

void parser_close(struct parser *parser, enum token_kind bracket, bool outer_lines)
{
	if (parser_at(parser, bracket))
		parser->lexer.lines = outer_lines;
	parser_expect(parser, bracket);
}

/* ---- nodes ---- */

static bool is_power_of_two(uint32_t number)
{
	return (number & (number - 1)) == 0;
}

void *array_room(struct run *run, void *array, uint32_t count, size_t size)
{
	void *larger;

	if (!is_power_of_two(count))
		return array;
	larger = run_alloc(run, count ? (size_t)count * 2 : 1, size);
	if (count > 0)
		memcpy(larger, array, count * size);
	return larger;
}

void nodes_push(struct run *run, struct nodes *nodes, struct node *node)
{
	nodes->items = array_room(run, nodes->items, nodes->count, sizeof(struct node *));
	nodes->items[nodes->count++] = node;
}

struct node *parser_node(struct parser *parser, enum node_kind kind, uint32_t offset)
{
	struct node *node = run_alloc(parser->run, 1, sizeof(*node));

	node->kind = (uint8_t)kind;
	node->offset = offset;
	return node;
}

/* ---- the head of a file ---- */

static struct word last_segment(struct word path)
{
	const char *slash = memrchr(path.bytes, '/', path.len);
	uint32_t skipped = slash ? (uint32_t)(slash - path.bytes) + 1 : 0;

	return (struct word){path.bytes + skipped, path.len - skipped};
}

static struct word expect_path(struct parser *parser)
{
	struct span span = parser->token.span;
	bool raw = parser_at(parser, TOKEN_RAW_STRING);

	if (!raw && !parser_at(parser, TOKEN_STRING))
		parser_fail_expected(parser, "the name of an import as a string");
	parser_advance(parser);
	return raw ? literal_raw_string(parser->source, span) : literal_string(parser->run, parser->source, span);
}

static void parse_import(struct parser *parser)
{
	struct tree *tree = parser->tree;
	struct import_tree import = {0};

	parser_advance(parser);
	import.offset = parser->token.span.from;
	import.path = expect_path(parser);
	import.name = last_segment(import.path);
	if (parser_accept(parser, TOKEN_AS))
		import.name = parser_expect_name(parser);
	tree->imports = array_room(parser->run, tree->imports, tree->import_count, sizeof(*tree->imports));
	tree->imports[tree->import_count++] = import;
}

static bool is_constant(struct run *run, const struct node *node);

static bool are_constant(struct run *run, struct nodes nodes)
{
	for (uint32_t i = 0; i < nodes.count; i++) {
		if (!is_constant(run, nodes.items[i]))
			return false;
	}
	return true;
}

static bool is_signed_number(const struct node *node)
{
	const struct node *number = node->operation.left;

	return (node->op == OP_MINUS || node->op == OP_PLUS) && number->kind == NODE_CONSTANT &&
		value_is_number(number->constant);
}

static bool is_constant(struct run *run, const struct node *node)
{
	bool result = false;

	run_enter(run);
	if (node->kind == NODE_CONSTANT)
		result = !value_is(node->constant, VALUE_UNDEFINED);
	else if (node->kind == NODE_LIST || node->kind == NODE_MAP)
		result = are_constant(run, node->items);
	else if (node->kind == NODE_OPERATION)
		result = is_signed_number(node);
	run_leave(run);
	return result;
}

static struct node *parse_default(struct parser *parser, struct word name)
{
	struct node *constant;

	if (!parser_accept(parser, TOKEN_DEFAULT))
		return NULL;
	constant = parse_expression(parser);
	if (!is_constant(parser->run, constant))
		run_fail_at(parser->run, parser_place(parser, constant->offset),
			"the default of the parameter \"%.*s\" is not constant", (int)name.len, name.bytes);
	return constant;
}

static void parse_param(struct parser *parser)
{
	struct tree *tree = parser->tree;
	struct param_tree param = {0};

	if (parser->role == TREE_MODULE)
		run_fail(parser->run, "\"param\" is not allowed in a module");
	parser_advance(parser);
	param.offset = parser->token.span.from;
	param.name = parser_expect_name(parser);
	param.otherwise = parse_default(parser, param.name);
	tree->params = array_room(parser->run, tree->params, tree->param_count, sizeof(*tree->params));
	tree->params[tree->param_count++] = param;
}

/* ---- files ---- */

static void parse_item(struct parser *parser)
{
	enum token_kind kind = parser->token.kind;

	if (kind != TOKEN_IMPORT && kind != TOKEN_PARAM) {
		nodes_push(parser->run, &parser->tree->statements, parse_statement(parser));
		return;
	}
	if (parser->tree->statements.count > 0)
		run_fail(parser->run, "%s stands after a statement", token_kind_text(parser->run, kind));
	if (kind == TOKEN_IMPORT)
		parse_import(parser);
	else
		parse_param(parser);
}

static void parse_file(struct parser *parser)
{
	for (parser_skip_separators(parser); !parser_at(parser, TOKEN_END); parser_skip_separators(parser)) {
		if (parser_at(parser, TOKEN_CLOSE_CURLY))
			run_fail(parser->run, "the \"}\" closes nothing");
		parse_item(parser);
		if (!at_separator(parser) && !parser_at(parser, TOKEN_END) && !parser_at(parser, TOKEN_CLOSE_CURLY))
			parser_fail_expected(parser, "the end of the statement");
	}
}

struct tree *parser_run(struct run *run, const struct source *source, enum tree_role role)
{
	struct parser parser = {.run = run, .source = source, .role = role, .negated = UINT32_MAX};

	parser.tree = run_alloc(run, 1, sizeof(*parser.tree));
	parser.tree->source = source;
	lexer_init(&parser.lexer, run, source);
	parser.tree->description = comment_text(run, source, comment_first(run, source));
	parser_advance(&parser);
	parse_file(&parser);
	return parser.tree;
}
