/* SPDX-License-Identifier: MPL-2.0 */
#include "policy/syntax/symbol.h"

#include <string.h>

#include "policy/syntax/builtins.h"
#include "policy/syntax/parser.h"

enum { BUCKETS_FIRST = 64 };

void symbols_init(struct symbols *symbols, struct run *run)
{
	*symbols = (struct symbols){.run = run, .bucket_count = BUCKETS_FIRST};
	symbols->buckets = run_alloc(run, BUCKETS_FIRST, sizeof(struct symbol *));
}

/* ---- the table ---- */

static uint32_t word_hash(struct word word)
{
	uint32_t hash = 2166136261u;

	for (uint32_t i = 0; i < word.len; i++)
		hash = (hash ^ (uint8_t)word.bytes[i]) * 16777619u;
	return hash;
}

static struct symbol **bucket_of(const struct symbols *symbols, struct word text)
{
	return &symbols->buckets[word_hash(text) & (symbols->bucket_count - 1)];
}

static void table_grow(struct symbols *symbols)
{
	struct symbols old = *symbols;

	symbols->bucket_count *= 2;
	symbols->buckets = run_alloc(symbols->run, symbols->bucket_count, sizeof(struct symbol *));
	for (uint32_t i = 0; i < old.bucket_count; i++) {
		for (struct symbol *symbol = old.buckets[i], *next; symbol; symbol = next) {
			struct symbol **bucket = bucket_of(symbols, symbol->text);

			next = symbol->next;
			symbol->next = *bucket;
			*bucket = symbol;
		}
	}
}

static struct symbol *symbol_add(struct symbols *symbols, struct word text)
{
	struct symbol *symbol = run_alloc(symbols->run, 1, sizeof(*symbol));
	struct symbol **bucket;

	if (symbols->count++ >= symbols->bucket_count)
		table_grow(symbols);
	bucket = bucket_of(symbols, text);
	symbol->text = text;
	symbol->import = -1;
	symbol->builtin = builtin_find(text.bytes, text.len);
	symbol->next = *bucket;
	*bucket = symbol;
	return symbol;
}

struct symbol *symbols_get(struct symbols *symbols, struct word text)
{
	for (struct symbol *symbol = *bucket_of(symbols, text); symbol; symbol = symbol->next) {
		run_step(symbols->run, 1);
		if (symbol->text.len == text.len && memcmp(symbol->text.bytes, text.bytes, text.len) == 0)
			return symbol;
	}
	return symbol_add(symbols, text);
}

/* ---- levels ---- */

void level_enter(struct symbols *symbols, struct level *level, struct scope *scope)
{
	*level = (struct level){.outer = symbols->level, .scope = scope};
	level->depth = symbols->level ? symbols->level->depth + 1 : 0;
	symbols->level = level;
}

void level_leave(struct symbols *symbols)
{
	struct level *level = symbols->level;

	for (struct binding *binding = level->bindings; binding; binding = binding->sibling)
		binding->symbol->binding = binding->outer;
	symbols->level = level->outer;
}

/* ---- bindings ---- */

static uint32_t scope_add(struct run *run, struct scope *scope, struct word name)
{
	scope->names = array_room(run, scope->names, scope->count, sizeof(*scope->names));
	scope->names[scope->count] = name;
	return scope->count++;
}

struct binding *symbol_bind(struct symbols *symbols, struct level *level, struct symbol *symbol)
{
	struct binding *binding = symbol->binding;

	if (!binding || binding->level != level) {
		binding = run_alloc(symbols->run, 1, sizeof(*binding));
		*binding = (struct binding){
			.level = level, .symbol = symbol, .outer = symbol->binding, .sibling = level->bindings};
		level->bindings = symbol->binding = binding;
	}
	binding->slot = scope_add(symbols->run, level->scope, symbol->text);
	return binding;
}

bool symbol_is_definite(const struct symbol *symbol)
{
	const struct binding *binding = symbol->binding;

	while (binding && !binding->definite)
		binding = binding->outer;
	return binding != NULL;
}

/* ---- names ---- */

/* Marks the scopes through which a function or rule at the current place reaches the target. */
static void mark_captured(const struct symbols *symbols, const struct level *target)
{
	bool later = false;

	for (struct level *level = symbols->level;; level = level->outer) {
		later = later || level->rules > 0;
		if (later)
			level->scope->captured = true;
		if (level == target)
			return;
		later = later || level->is_function;
	}
}

static void set_variable(struct symbols *symbols, const struct binding *binding, struct name *name)
{
	run_step(symbols->run, 1 + symbols->level->depth - binding->level->depth);
	name->kind = NAME_VARIABLE;
	name->hops = (uint16_t)(symbols->level->depth - binding->level->depth);
	name->slot = binding->slot;
	mark_captured(symbols, binding->level);
}

/* False if the symbol has no meaning besides its variables. */
static bool set_predeclared(const struct symbol *symbol, struct name *name)
{
	if (symbol->import < 0 && symbol->builtin < 0)
		return false;
	name->kind = symbol->import >= 0 ? NAME_IMPORT : NAME_BUILTIN;
	name->slot = (uint32_t)(symbol->import >= 0 ? symbol->import : symbol->builtin);
	return true;
}

static struct name *chain(struct symbols *symbols, struct name *name, struct word text)
{
	struct name *outer = run_alloc(symbols->run, 1, sizeof(*outer));

	outer->text = text;
	name->outer = outer;
	return outer;
}

bool name_resolve(struct symbols *symbols, const struct symbol *symbol, struct name *name)
{
	if (!symbol->binding)
		return set_predeclared(symbol, name);
	for (const struct binding *binding = symbol->binding; binding; binding = binding->outer) {
		if (binding != symbol->binding)
			name = chain(symbols, name, symbol->text);
		set_variable(symbols, binding, name);
		if (binding->definite)
			return true;
	}
	if (symbol->import >= 0 || symbol->builtin >= 0)
		set_predeclared(symbol, chain(symbols, name, symbol->text));
	return true;
}
