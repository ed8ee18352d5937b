/* SPDX-License-Identifier: MPL-2.0 */
#ifndef POLICY_SYNTAX_COMMENT_H
#define POLICY_SYNTAX_COMMENT_H

/* What stands between tokens: white space and comments. */

#include <stdbool.h>
#include <stdint.h>

#include "policy/core/run.h"
#include "policy/syntax/tree.h"

/* A part of the source; empty: none. */
struct span {
	uint32_t from, to;
};

struct blank {
	uint32_t end;     /* where the next token begins, or the end of the file */
	bool has_newline; /* also in a comment */
	/* The last comments: whole lines, without an empty line among them or after them. */
	struct span comment;
};

/* Fails on a comment that is not closed. */
struct blank blank_skip(struct run *run, const struct source *source, uint32_t from);

/* The comments that begin the file, up to the first empty line or token. */
struct span comment_first(struct run *run, const struct source *source);
/* The text of comments without their marks, lines separated by \n. Of the arena. */
struct word comment_text(struct run *run, const struct source *source, struct span comments);

#endif
