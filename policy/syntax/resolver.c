/* SPDX-License-Identifier: MPL-2.0 */
#include "policy/syntax/resolver.h"

#include <string.h>

#include "common/base.h"
#include "policy/syntax/parser.h"
#include "policy/syntax/symbol.h"

struct resolver {
	struct run *run;
	struct tree *tree;
	struct symbols symbols;
	struct level file;
	const struct node *statement; /* the expression of the newest statement that is one: its result is not used */
};

static void resolve(struct resolver *resolver, struct node *node);

static void warn(struct resolver *resolver, uint32_t offset, const char *message)
{
	struct tree *tree = resolver->tree;

	tree->warnings = array_room(resolver->run, tree->warnings, tree->warning_count, sizeof(*tree->warnings));
	tree->warnings[tree->warning_count++] = (struct tree_warning){message, offset};
}

/* `the import "x" is repeated`: subject, name, predicate */
static _Noreturn void fail_name(
	struct resolver *resolver, uint32_t offset, const char *subject, struct word name, const char *predicate)
{
	run_fail_at(resolver->run, (struct place){resolver->tree->source, offset}, "the %s \"%.*s\" %s", subject,
		(int)name.len, name.bytes, predicate);
}

/* ---- which names a scope has ---- */

static void declare(struct resolver *resolver, struct word name)
{
	struct symbols *symbols = &resolver->symbols;
	struct symbol *symbol = symbols_get(symbols, name);
	bool here = symbol->binding && symbol->binding->level == symbols->level;

	bool file = symbols->level == &resolver->file;

	/* Inner scopes may have a variable with an import's name. The file may not: the assignment is refused when it
	 * is resolved. */
	if (here || symbol_is_definite(symbol) || (file && symbol->import >= 0))
		return;
	symbol_bind(symbols, symbols->level, symbol);
}

static void declare_assigned(struct resolver *resolver, struct nodes block);

static void declare_arms(struct resolver *resolver, const struct choice *choice)
{
	for (uint32_t i = 0; i < choice->count; i++)
		declare_assigned(resolver, choice->arms[i].block);
}

static void declare_statement(struct resolver *resolver, const struct node *node)
{
	if (node->kind == NODE_ASSIGN && node->assign->op == OP_NONE && node->assign->target->kind == NODE_NAME)
		declare(resolver, node->assign->target->name.text);
	if (node->kind == NODE_CASE)
		declare_arms(resolver, node->choice);
	if (node->kind == NODE_IF) {
		declare_assigned(resolver, node->branch->then);
		declare_assigned(resolver, node->branch->otherwise);
	}
}

/* The variables that the statements of a scope assign, without those of inner scopes. */
static void declare_assigned(struct resolver *resolver, struct nodes block)
{
	run_enter(resolver->run);
	for (uint32_t i = 0; i < block.count; i++)
		declare_statement(resolver, block.items[i]);
	run_leave(resolver->run);
}

/* A parameter or a loop's variable: it has a value from the scope's beginning. */
static struct binding *declare_given(struct resolver *resolver, struct word name)
{
	struct symbols *symbols = &resolver->symbols;
	struct binding *binding = symbol_bind(symbols, symbols->level, symbols_get(symbols, name));

	binding->definite = true;
	return binding;
}

/* ---- names ---- */

static void note_unassigned(struct resolver *resolver, struct symbol *symbol, uint32_t offset)
{
	struct tree *tree = resolver->tree;

	const struct binding *binding = symbol_bind(&resolver->symbols, &resolver->file, symbol);

	tree->unassigned =
		array_room(resolver->run, tree->unassigned, tree->unassigned_count, sizeof(*tree->unassigned));
	tree->unassigned[tree->unassigned_count++] = (struct name_use){symbol->text, binding->slot, offset};
}

static void resolve_name(struct resolver *resolver, struct node *node)
{
	struct symbol *symbol = symbols_get(&resolver->symbols, node->name.text);

	if (name_resolve(&resolver->symbols, symbol, &node->name))
		return;
	note_unassigned(resolver, symbol, node->offset);
	name_resolve(&resolver->symbols, symbol, &node->name);
}

/* The current scope's variable has a value from here on, if the assignment can't have gone to another scope and no
 * condition stands around it. */
static void mark_assigned(struct resolver *resolver, const struct symbol *symbol)
{
	const struct level *level = resolver->symbols.level;
	struct binding *binding = symbol->binding;

	if (binding->level == level && !binding->outer && level->conditions == 0)
		binding->definite = true;
}

/* The name at the beginning of x.a["b"]; NULL if there is none. */
static const struct node *first_name(const struct node *node)
{
	while (node->kind == NODE_INDEX || node->kind == NODE_SELECTOR)
		node = node->kind == NODE_INDEX ? node->operation.left : node->selector.of;
	return node->kind == NODE_NAME ? node : NULL;
}

/* x["b"] = … fails for an import; x.a["b"] = … changes a copy. */
static void resolve_element_target(struct resolver *resolver, struct node *target)
{
	const struct node *name = first_name(target);

	resolve(resolver, target);
	if (!name || name->name.kind != NAME_IMPORT)
		return;
	if (target->operation.left == name)
		fail_name(resolver, name->offset, "import", name->name.text, "cannot be assigned");
	warn(resolver, name->offset,
		run_text(resolver->run, "the data of the import \"%.*s\" is a copy, so the change is lost",
			(int)name->name.text.len, name->name.text.bytes));
}

static void resolve_target(struct resolver *resolver, struct node *target)
{
	struct symbol *symbol;

	if (target->kind != NODE_NAME) {
		resolve_element_target(resolver, target);
		return;
	}
	symbol = symbols_get(&resolver->symbols, target->name.text);
	if (!symbol->binding && symbol->import >= 0)
		fail_name(resolver, target->offset, "import", symbol->text, "cannot be assigned");
	if (!symbol->binding && symbol->builtin >= 0)
		fail_name(resolver, target->offset, "function", symbol->text,
			"is predeclared and has no value to change");
	resolve_name(resolver, target);
}

static void resolve_assign(struct resolver *resolver, struct node *node)
{
	struct node *target = node->assign->target;

	resolve(resolver, node->assign->value);
	resolve_target(resolver, target);
	if (target->kind == NODE_NAME)
		mark_assigned(resolver, symbols_get(&resolver->symbols, target->name.text));
}

/* ---- scopes ---- */

static void resolve_nodes(struct resolver *resolver, struct nodes nodes)
{
	for (uint32_t i = 0; i < nodes.count; i++)
		resolve(resolver, nodes.items[i]);
}

static void resolve_items(struct resolver *resolver, struct node *node)
{
	resolve_nodes(resolver, node->items);
}

static void resolve_function(struct resolver *resolver, struct node *node)
{
	struct function_tree *function = node->function;
	struct level level;

	level_enter(&resolver->symbols, &level, &function->scope);
	level.is_function = true;
	for (uint32_t i = 0; i < function->parameter_count; i++)
		declare_given(resolver, function->parameters[i]);
	declare_assigned(resolver, function->block);
	resolve_nodes(resolver, function->block);
	level_leave(&resolver->symbols);
}

static void resolve_rule(struct resolver *resolver, struct node *node)
{
	struct level *level = resolver->symbols.level;

	level->rules++;
	resolve(resolver, node->rule.when);
	resolve(resolver, node->rule.body);
	level->rules--;
}

static void resolve_loop(struct resolver *resolver, struct node *node)
{
	struct loop *loop = node->loop;
	struct level level;

	resolve(resolver, loop->over);
	level_enter(&resolver->symbols, &level, &loop->scope);
	declare_given(resolver, loop->first);
	if (loop->second.len > 0)
		declare_given(resolver, loop->second);
	declare_assigned(resolver, loop->block);
	resolve_nodes(resolver, loop->block);
	resolve(resolver, loop->body);
	level_leave(&resolver->symbols);
}

/* ---- statements with conditions ---- */

static void resolve_if(struct resolver *resolver, struct node *node)
{
	struct level *level = resolver->symbols.level;

	resolve(resolver, node->branch->condition);
	level->conditions++;
	resolve_nodes(resolver, node->branch->then);
	resolve_nodes(resolver, node->branch->otherwise);
	level->conditions--;
}

static void resolve_case(struct resolver *resolver, struct node *node)
{
	struct level *level = resolver->symbols.level;

	resolve(resolver, node->choice->subject);
	level->conditions++;
	for (uint32_t i = 0; i < node->choice->count; i++) {
		resolve_nodes(resolver, node->choice->arms[i].values);
		resolve_nodes(resolver, node->choice->arms[i].block);
	}
	level->conditions--;
}

/* ---- expressions ---- */

static void resolve_operands(struct resolver *resolver, struct node *node)
{
	resolve(resolver, node->operation.left);
	resolve(resolver, node->operation.right);
}

static void resolve_selector(struct resolver *resolver, struct node *node)
{
	struct tree *tree = resolver->tree;
	const struct node *of = node->selector.of;

	resolve(resolver, node->selector.of);
	if (of->kind != NODE_NAME || of->name.kind != NAME_IMPORT)
		return;
	tree->fields = array_room(resolver->run, tree->fields, tree->field_count, sizeof(*tree->fields));
	tree->fields[tree->field_count++] = (struct field_use){of->name.slot, node->selector.field, of->offset};
}

static void resolve_slice(struct resolver *resolver, struct node *node)
{
	resolve(resolver, node->slice.of);
	resolve(resolver, node->slice.from);
	resolve(resolver, node->slice.to);
}

static bool has_no_result(const struct node *function)
{
	return function->kind == NODE_NAME && function->name.kind == NAME_BUILTIN &&
		(word_equals(function->name.text, "append") || word_equals(function->name.text, "delete"));
}

static void resolve_call(struct resolver *resolver, struct node *node)
{
	const struct node *function = node->call.function;
	bool used = node != resolver->statement;

	resolve(resolver, node->call.function);
	resolve_nodes(resolver, node->call.arguments);
	if (used && has_no_result(function))
		warn(resolver, node->offset,
			run_text(resolver->run, "the result of %.*s is always undefined", (int)function->name.text.len,
				function->name.text.bytes));
}

static void resolve_statement(struct resolver *resolver, struct node *node)
{
	resolver->statement = node->operation.left;
	resolve(resolver, node->operation.left);
}

/* By enum node_kind. NULL: there is no name in it. */
static void (*const resolvers[])(struct resolver *resolver, struct node *node) = {
	[NODE_NAME] = resolve_name,
	[NODE_LIST] = resolve_items,
	[NODE_MAP] = resolve_items,
	[NODE_FUNCTION] = resolve_function,
	[NODE_RULE] = resolve_rule,
	[NODE_QUANTIFIER] = resolve_loop,
	[NODE_OPERATION] = resolve_operands,
	[NODE_SELECTOR] = resolve_selector,
	[NODE_INDEX] = resolve_operands,
	[NODE_SLICE] = resolve_slice,
	[NODE_CALL] = resolve_call,
	[NODE_EXPRESSION] = resolve_statement,
	[NODE_ASSIGN] = resolve_assign,
	[NODE_IF] = resolve_if,
	[NODE_FOR] = resolve_loop,
	[NODE_CASE] = resolve_case,
	[NODE_RETURN] = resolve_operands,
	[NODE_BREAK] = NULL,
	[NODE_CONTINUE] = NULL,
};

/* `node` may be NULL. */
static void resolve(struct resolver *resolver, struct node *node)
{
	if (!node || !resolvers[node->kind])
		return;
	resolver->run->at.offset = node->offset;
	run_step(resolver->run, 1);
	run_enter(resolver->run);
	resolvers[node->kind](resolver, node);
	run_leave(resolver->run);
}

/* ---- the file ---- */

/* The same import twice does no harm; another one would hide the first. */
static void warn_repeated(struct resolver *resolver, const struct import_tree *first, const struct import_tree *second)
{
	bool same = first->path.len == second->path.len &&
		memcmp(first->path.bytes, second->path.bytes, first->path.len) == 0;

	if (!same)
		fail_name(resolver, second->offset, "import", second->name, "is repeated with another path");
	warn(resolver, second->offset,
		run_text(resolver->run, "the import \"%.*s\" is repeated", (int)second->name.len, second->name.bytes));
}

static void declare_imports(struct resolver *resolver)
{
	const struct tree *tree = resolver->tree;

	for (uint32_t i = 0; i < tree->import_count; i++) {
		const struct import_tree *import = &tree->imports[i];
		struct symbol *symbol = symbols_get(&resolver->symbols, import->name);

		if (symbol->import < 0)
			symbol->import = (int)i;
		else
			warn_repeated(resolver, &tree->imports[symbol->import], import);
	}
}

static void declare_params(struct resolver *resolver)
{
	const struct tree *tree = resolver->tree;

	for (uint32_t i = 0; i < tree->param_count; i++) {
		struct param_tree *param = &tree->params[i];
		struct symbol *symbol = symbols_get(&resolver->symbols, param->name);

		if (symbol->import >= 0)
			fail_name(resolver, param->offset, "parameter", param->name, "has the name of an import");
		if (symbol->builtin >= 0)
			fail_name(resolver, param->offset, "parameter", param->name, "has a predeclared name");
		if (symbol->binding)
			fail_name(resolver, param->offset, "parameter", param->name, "is repeated");
		param->slot = declare_given(resolver, param->name)->slot;
	}
}

static void require_main(struct resolver *resolver)
{
	static const struct word name = {"main", 4};

	if (!symbols_get(&resolver->symbols, name)->binding)
		run_fail_at(resolver->run, (struct place){resolver->tree->source, 0}, "main is missing");
}

static void place_rules(struct resolver *resolver)
{
	struct tree *tree = resolver->tree;

	for (uint32_t i = 0; i < tree->rule_count; i++)
		tree->rules[i].slot = symbols_get(&resolver->symbols, tree->rules[i].name)->binding->slot;
}

void resolver_run(struct run *run, struct tree *tree, enum tree_role role)
{
	struct resolver resolver = {.run = run, .tree = tree};

	run->at = (struct place){tree->source, 0};
	symbols_init(&resolver.symbols, run);
	level_enter(&resolver.symbols, &resolver.file, &tree->scope);
	declare_imports(&resolver);
	declare_params(&resolver);
	declare_assigned(&resolver, tree->statements);
	if (role == TREE_POLICY)
		require_main(&resolver);
	resolve_nodes(&resolver, tree->statements);
	place_rules(&resolver);
}
