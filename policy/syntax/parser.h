/* SPDX-License-Identifier: MPL-2.0 */
#ifndef POLICY_SYNTAX_PARSER_H
#define POLICY_SYNTAX_PARSER_H

/*
 * A recursive-descent parser with one token of lookahead, shared by the files of this folder. For others: tree.h.
 * It leaves the resolver's members of the tree empty.
 */

#include <stdbool.h>
#include <stdint.h>

#include "policy/syntax/lexer.h"
#include "policy/syntax/tree.h"

struct parser {
	struct run *run;
	const struct source *source;
	struct tree *tree;
	enum tree_role role;
	struct lexer lexer;
	struct token token; /* the next one that is not consumed; run->at is its place */
	/* Around the token, within the innermost function. */
	unsigned loops, functions;
	uint32_t negated; /* where the operand of the last prefix `-` begins */
};

/* ---- parser.c ---- */

/* Parses the source; does not resolve it. Fails at the first error. */
struct tree *parser_run(struct run *run, const struct source *source, enum tree_role role);

void parser_advance(struct parser *parser);
/* The token behind the next one. */
struct token parser_peek(const struct parser *parser);
static inline bool parser_at(const struct parser *parser, enum token_kind kind)
{
	return parser->token.kind == kind;
}
/* Consumes the token if it is of that kind. */
bool parser_accept(struct parser *parser, enum token_kind kind);
void parser_expect(struct parser *parser, enum token_kind kind);
/* Consumes a name. */
struct word parser_expect_name(struct parser *parser);
/* Consumes newlines and semicolons. */
void parser_skip_separators(struct parser *parser);
/* "expected X, found Y" at the token */
_Noreturn void parser_fail_expected(struct parser *parser, const char *expected);
struct place parser_place(const struct parser *parser, uint32_t offset);
struct word parser_word(const struct parser *parser, struct span span);

/* Consumes an opening bracket. `lines`: whether newlines end statements in it. Returns what parser_close restores. */
bool parser_open(struct parser *parser, enum token_kind bracket, bool lines);
void parser_close(struct parser *parser, enum token_kind bracket, bool outer_lines);

void nodes_push(struct run *run, struct nodes *nodes, struct node *node);
/* Room for one more element in an array of `count` of them, which grows by doubling: the array, or its copy. */
void *array_room(struct run *run, void *array, uint32_t count, size_t size);

struct node *parser_node(struct parser *parser, enum node_kind kind, uint32_t offset);

/* ---- statement.c ---- */

struct node *parse_statement(struct parser *parser);
/* "{" … "}" */
struct nodes parse_block(struct parser *parser);
/* `a`, or `a, b`: the loop's variables */
void parse_loop_variables(struct parser *parser, struct loop *loop);

/* ---- expression.c ---- */

struct node *parse_expression(struct parser *parser);
/* Fails if the operator divides and the divisor is the constant 0. */
void parser_refuse_zero(
	struct parser *parser, enum operator_kind op, const struct node *divisor, uint32_t operator_offset);

/* ---- operand.c ---- */

/* An operand with its selectors, indices and calls. */
struct node *parse_primary(struct parser *parser);
/* A function from its parameters on. */
struct node *parse_function(struct parser *parser, uint32_t offset, struct word name);
bool word_equals(struct word word, const char *text);

#endif
