/* SPDX-License-Identifier: MPL-2.0 */
#ifndef POLICY_SYNTAX_SYMBOL_H
#define POLICY_SYNTAX_SYMBOL_H

/*
 * The resolver's table of names. A symbol is one name of the file; its bindings are the scopes around the current place
 * that have a variable of that name, nearest first.
 *
 * A binding is definite if its variable has a value wherever the scope's remaining statements, and the scopes in them,
 * read it. Scopes behind a definite binding can't be meant.
 */

#include <stdbool.h>
#include <stdint.h>

#include "policy/syntax/tree.h"

struct symbol;

struct binding {
	struct level *level;
	struct symbol *symbol;
	uint32_t slot;
	bool definite;
	struct binding *outer;   /* of the same symbol */
	struct binding *sibling; /* of the same level */
};

struct symbol {
	struct word text;
	struct binding *binding; /* the nearest, or NULL */
	int import, builtin;     /* indices, or -1 */
	struct symbol *next;     /* of the same bucket */
};

/* A scope that the resolver is in. */
struct level {
	struct level *outer;
	struct scope *scope;
	struct binding *bindings;
	uint32_t depth;
	bool is_function;
	unsigned rules;      /* around the current place, within this level: they run later, as functions do */
	unsigned conditions; /* `if` and `case` around the current place, within this level */
};

struct symbols {
	struct run *run;
	struct symbol **buckets;
	uint32_t bucket_count, count;
	struct level *level;
};

void symbols_init(struct symbols *symbols, struct run *run);
struct symbol *symbols_get(struct symbols *symbols, struct word text);

/* `level` must live until level_leave. */
void level_enter(struct symbols *symbols, struct level *level, struct scope *scope);
void level_leave(struct symbols *symbols);

/* A new variable of the level, which is the innermost one, or the outermost one if the symbol has no binding. A second
 * one of a name hides the first. */
struct binding *symbol_bind(struct symbols *symbols, struct level *level, struct symbol *symbol);
/* True if an assignment at the current place always finds a variable that has a value. */
bool symbol_is_definite(const struct symbol *symbol);

/* Fills in a name's kind and place, and its chain. False, with the name untouched, if the symbol has neither binding
 * nor import nor built-in. Marks the scopes that must outlive their end. */
bool name_resolve(struct symbols *symbols, const struct symbol *symbol, struct name *name);

#endif
