/* SPDX-License-Identifier: MPL-2.0 */
#ifndef POLICY_SYNTAX_LEXER_H
#define POLICY_SYNTAX_LEXER_H

/*
 * The tokens of a source, one after the other. A lexer can be copied, to look ahead.
 *
 * A newline after a token that can end a statement is a token, too (TOKEN_NEWLINE), unless
 *   - `lines` is false: the parser clears it inside ( and [, where a statement can't end;
 *   - the next line begins with "." and no digit: it continues the expression.
 * So is the end of the file after such a token.
 */

#include <stdbool.h>
#include <stdint.h>

#include "policy/core/run.h"
#include "policy/core/source.h"
#include "policy/syntax/comment.h"
#include "policy/syntax/tree.h"

#define PSEUDO(name, text)             TOKEN_##name,
#define KEYWORD(name, text, ends_line) TOKEN_##name,
#define SIGN(name, text, ends_line)    TOKEN_##name,
enum token_kind {
#include "policy/syntax/tokens.def"
	TOKEN_COUNT
};
#undef PSEUDO
#undef KEYWORD
#undef SIGN

struct token {
	enum token_kind kind;
	struct span span;
	/* The comments right above: whole lines, without an empty line among them or after them. */
	struct span comment;
};

struct lexer {
	struct run *run;
	const struct source *source;
	uint32_t at;
	bool lines;
	bool ends_line;            /* the last token can end a statement */
	enum token_kind last_kind; /* of the last token; TOKEN_END at the beginning */
};

/* Fails on a source longer than MAX_SOURCE. Skips a byte order mark. */
void lexer_init(struct lexer *lexer, struct run *run, const struct source *source);
/* Fails (FAILURE_STATIC) on a character or literal that is none. After the last token: TOKEN_END each time. */
struct token lexer_next(struct lexer *lexer);

/* As a message names it: `"{"`, `"foo"`, `the end of the line`. Of the arena. */
const char *token_text(struct run *run, const struct source *source, struct token token);
/* How messages name the kind: `"{"`, `a name`. */
const char *token_kind_text(struct run *run, enum token_kind kind);

#endif
