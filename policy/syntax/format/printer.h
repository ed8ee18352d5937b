/* SPDX-License-Identifier: MPL-2.0 */
#ifndef POLICY_SYNTAX_FORMAT_PRINTER_H
#define POLICY_SYNTAX_FORMAT_PRINTER_H

/* Lines with their indentation, and the comments of the source, for the files of this folder. */

#include <stdbool.h>
#include <stdint.h>

#include "policy/core/output.h"
#include "policy/syntax/comment.h"
#include "policy/syntax/tree.h"

struct source_comment {
	struct span span;
	bool own_line; /* no token stands before it on its line */
};

/* A pair of brackets of the source. */
struct bracket {
	uint32_t open, close;
	uint32_t outer; /* the index of the pair around it; NO_BRACKET: none */
};

#define NO_BRACKET UINT32_MAX

struct printer {
	struct run *run;
	const struct source *source;
	struct output *output;
	unsigned indent;
	unsigned hang; /* more indentation of the lines behind a binary operator */
	bool started;  /* a line was begun */
	bool fresh;    /* no line was begun since an opening bracket, or at all */
	struct source_comment *comments;
	uint32_t comment_count, next_comment; /* before next_comment: printed */
	struct bracket *brackets;             /* by `open` */
	uint32_t bracket_count;
};

/* Reads the source's comments and brackets. */
void printer_init(struct printer *printer, struct run *run, const struct source *source, struct output *output);

void put(struct printer *printer, const char *text);
void put_word(struct printer *printer, struct word word);
/* The token of the source at the offset, as it is written there. */
void put_token(struct printer *printer, uint32_t offset);

/* Ends the line and prints the comments that stand before `upto` in the source: those behind tokens on the line, the
 * others below it. */
void end_line(struct printer *printer, uint32_t upto);
/* Begins the line of what stands at `offset` in the source, with an empty line before it if it has one there. */
void begin_line(struct printer *printer, uint32_t offset);
/* Begins a line that has no offset. */
void indent_line(struct printer *printer);

/* The innermost bracket around the offset, or NULL. */
const struct bracket *bracket_around(const struct printer *printer, uint32_t offset);
/* The outermost bracket around the offset that opens behind `start`; the innermost, if none does. */
const struct bracket *bracket_behind(const struct printer *printer, uint32_t start, uint32_t offset);
/* Where it closes; `otherwise` if there is no bracket. */
uint32_t bracket_close(const struct bracket *bracket, uint32_t otherwise);
/* True if a newline follows the byte at the offset. */
bool newline_behind(const struct printer *printer, uint32_t offset);
/* True if a newline stands before the offset, but for "(" and blanks. */
bool newline_before(const struct printer *printer, uint32_t offset);
/* True if a comment before the offset is not printed yet. */
bool comment_due(const struct printer *printer, uint32_t offset);

/* ---- expression.c ---- */

void print_expression(struct printer *printer, const struct node *node);
/* True if the expression is printed with "{" as its first token. */
bool begins_with_curly(const struct node *node);
/* An expression that "{" follows. */
void print_head(struct printer *printer, const struct node *node);
void print_function(struct printer *printer, const struct function_tree *function);
void print_loop_variables(struct printer *printer, const struct loop *loop);
/* Where an expression begins in the source. */
uint32_t expression_start(const struct node *node);

/* ---- format.c ---- */

void print_block(struct printer *printer, struct nodes block);

#endif
