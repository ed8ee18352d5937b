/* SPDX-License-Identifier: MPL-2.0 */
#include "policy/syntax/format/printer.h"

#include "common/base.h"
#include "policy/syntax/parser.h"

/* How tightly an expression binds: the levels of binary operators and two above them. */
enum tightness {
	TIGHT_OR = 1,
	TIGHT_AND,
	TIGHT_COMPARE,
	TIGHT_ELSE,
	TIGHT_ADD,
	TIGHT_MULTIPLY,
	TIGHT_PREFIX,
	TIGHT_OPERAND,
};

static const struct {
	enum operator_kind last; /* of the level, in the order of operators.def */
	enum tightness tightness;
} levels[] = {
	{OP_XOR, TIGHT_OR},
	{OP_AND, TIGHT_AND},
	{OP_IS_NOT_DEFINED, TIGHT_COMPARE},
	{OP_ELSE, TIGHT_ELSE},
	{OP_SUBTRACT, TIGHT_ADD},
	{OP_REMAINDER, TIGHT_MULTIPLY},
	{OP_PLUS, TIGHT_PREFIX},
};

static enum tightness tightness(const struct node *node)
{
	if (node->kind != NODE_OPERATION)
		return TIGHT_OPERAND;
	for (size_t i = 0; i < ARRAY_LEN(levels); i++) {
		if (node->op <= levels[i].last)
			return levels[i].tightness;
	}
	return TIGHT_PREFIX;
}

static bool is_prefix(const struct node *node)
{
	return tightness(node) == TIGHT_PREFIX;
}

uint32_t expression_start(const struct node *node)
{
	while (node->kind == NODE_OPERATION && !is_prefix(node))
		node = node->operation.left;
	return node->offset;
}

static void put_round(struct printer *printer, const struct node *node)
{
	put(printer, "(");
	print_expression(printer, node);
	put(printer, ")");
}

static void put_bound(struct printer *printer, const struct node *node, enum tightness wanted)
{
	if (tightness(node) < wanted)
		put_round(printer, node);
	else
		print_expression(printer, node);
}

/* ---- `map` and `filter` as names ---- */

static bool is_collection_name(const struct node *node)
{
	return node->kind == NODE_NAME &&
		(word_equals(node->name.text, "map") || word_equals(node->name.text, "filter"));
}

/* The operand that the expression's last token belongs to. */
static const struct node *last_operand(const struct node *node)
{
	while (node->kind == NODE_OPERATION) {
		if (node->operation.right)
			node = node->operation.right;
		else if (is_prefix(node))
			node = node->operation.left;
		else
			break;
	}
	return node;
}

void print_head(struct printer *printer, const struct node *node)
{
	if (is_collection_name(last_operand(node)))
		put_round(printer, node);
	else
		print_expression(printer, node);
}

/* ---- operations ---- */

static void print_prefix(struct printer *printer, const struct node *node)
{
	put_token(printer, node->offset);
	if (printer->source->text[node->offset] == 'n')
		put(printer, " ");
	put_bound(printer, node->operation.left, TIGHT_PREFIX);
}

static bool is_sign(const struct printer *printer, const struct node *node)
{
	char byte = printer->source->text[node->offset];

	return byte == '=' || byte == '!';
}

/* == and != stay as they are. */
static void put_operator(struct printer *printer, const struct node *node)
{
	if (is_sign(printer, node))
		put_token(printer, node->offset);
	else
		put(printer, operator_texts[node->op]);
}

/* The first operand of what print_expression prints first without a bracket. */
static const struct node *first_operand(const struct node *node, enum tightness wanted)
{
	while (node->kind == NODE_OPERATION && !is_prefix(node) && tightness(node) >= wanted) {
		wanted = tightness(node);
		node = node->operation.left;
	}
	return node;
}

static const struct node *base_of(const struct node *node)
{
	switch (node->kind) {
	case NODE_SELECTOR:
		return node->selector.of;
	case NODE_INDEX:
		return node->operation.left;
	case NODE_SLICE:
		return node->slice.of;
	case NODE_CALL:
		return node->call.function;
	default:
		return NULL;
	}
}

/* The operand that the expression's first token belongs to, if no bracket stands before it. */
static const struct node *first_leaf(const struct node *node)
{
	const struct node *base;

	node = first_operand(node, TIGHT_OR);
	while ((base = base_of(node)) != NULL)
		node = base;
	return node;
}

bool begins_with_curly(const struct node *node)
{
	return first_leaf(node)->kind == NODE_MAP;
}

static bool starts_with_not(const struct printer *printer, const struct node *node)
{
	return node->kind == NODE_OPERATION && node->op == OP_NOT && printer->source->text[node->offset] == 'n';
}

/* True if the operand behind `is` would be read as `is not`, `is empty` or `is defined`. */
static bool is_misread(const struct printer *printer, const struct node *operation)
{
	const struct node *node = first_operand(operation->operation.right, tightness(operation) + 1);

	if ((operation->op != OP_IS && operation->op != OP_IS_NOT) || is_sign(printer, operation))
		return false;
	if (starts_with_not(printer, node))
		return operation->op == OP_IS;
	for (const struct node *base; (base = base_of(node)) != NULL; node = base)
		;
	return node->kind == NODE_NAME &&
		(word_equals(node->name.text, "empty") || word_equals(node->name.text, "defined"));
}

static void break_line(struct printer *printer, uint32_t next)
{
	printer->indent += printer->hang;
	end_line(printer, next);
	indent_line(printer);
	printer->indent -= printer->hang;
}

static void print_right(struct printer *printer, const struct node *node)
{
	const struct node *right = node->operation.right;
	uint32_t start = expression_start(right);

	if (newline_before(printer, start))
		break_line(printer, start);
	else
		put(printer, " ");
	if (is_misread(printer, node))
		put_round(printer, right);
	else
		put_bound(printer, right, tightness(node) + 1);
}

static void print_operation(struct printer *printer, const struct node *node)
{
	if (is_prefix(node)) {
		print_prefix(printer, node);
		return;
	}
	put_bound(printer, node->operation.left, tightness(node));
	put(printer, " ");
	put_operator(printer, node);
	if (node->operation.right)
		print_right(printer, node);
}

/* ---- brackets ---- */

/* The items of a list, map or call. */
struct items {
	struct nodes nodes;
	bool pairs; /* key, element, key, element, … */
	const char *open, *close;
};

static void print_item(struct printer *printer, const struct items *items, uint32_t index)
{
	print_expression(printer, items->nodes.items[index]);
	if (!items->pairs)
		return;
	put(printer, ": ");
	print_expression(printer, items->nodes.items[index + 1]);
}

static void print_items_in_line(struct printer *printer, const struct items *items)
{
	for (uint32_t i = 0; i < items->nodes.count; i += items->pairs ? 2 : 1) {
		put(printer, i > 0 ? ", " : "");
		print_item(printer, items, i);
	}
}

static void print_items_in_lines(struct printer *printer, const struct items *items, uint32_t close)
{
	unsigned hang = printer->hang;

	printer->hang = 1;
	printer->indent++;
	printer->fresh = true;
	for (uint32_t i = 0; i < items->nodes.count; i += items->pairs ? 2 : 1) {
		uint32_t start = expression_start(items->nodes.items[i]);

		end_line(printer, start);
		begin_line(printer, start);
		print_item(printer, items, i);
		put(printer, ",");
	}
	end_line(printer, close);
	printer->indent--;
	printer->hang = hang;
	indent_line(printer);
}

/* `open`: where the bracket is in the source */
static void print_items(struct printer *printer, const struct items *items, uint32_t open)
{
	put(printer, items->open);
	if (items->nodes.count > 0 && newline_behind(printer, open))
		print_items_in_lines(printer, items, bracket_close(bracket_around(printer, open + 1), open));
	else
		print_items_in_line(printer, items);
	put(printer, items->close);
}

static void print_list(struct printer *printer, const struct node *node)
{
	print_items(printer, &(struct items){node->items, false, "[", "]"}, node->offset);
}

static void print_map(struct printer *printer, const struct node *node)
{
	print_items(printer, &(struct items){node->items, true, "{", "}"}, node->offset);
}

static bool needs_round(const struct node *base, enum node_kind kind)
{
	return tightness(base) < TIGHT_OPERAND || (kind != NODE_SELECTOR && is_collection_name(base));
}

/* What a selector, index, slice or call stands behind. */
static void print_base(struct printer *printer, const struct node *node)
{
	const struct node *base = base_of(node);

	if (needs_round(base, node->kind))
		put_round(printer, base);
	else
		print_expression(printer, base);
}

static void print_call(struct printer *printer, const struct node *node)
{
	struct nodes arguments = node->call.arguments;
	const struct bracket *bracket;

	print_base(printer, node);
	/* An argument can begin with brackets of its own. */
	bracket = arguments.count ? bracket_behind(printer, node->offset, expression_start(arguments.items[0])) : NULL;
	print_items(printer, &(struct items){arguments, false, "(", ")"}, bracket ? bracket->open : node->offset);
}

static void print_index(struct printer *printer, const struct node *node)
{
	print_base(printer, node);
	put(printer, "[");
	print_expression(printer, node->operation.right);
	put(printer, "]");
}

static void print_slice(struct printer *printer, const struct node *node)
{
	print_base(printer, node);
	put(printer, "[");
	if (node->slice.from)
		print_expression(printer, node->slice.from);
	put(printer, ":");
	if (node->slice.to)
		print_expression(printer, node->slice.to);
	put(printer, "]");
}

static void print_selector(struct printer *printer, const struct node *node)
{
	const struct node *base = base_of(node);
	bool is_number = base->kind == NODE_CONSTANT && value_is_number(base->constant);

	print_base(printer, node);
	put(printer, is_number ? " ." : "."); /* a point right behind a number belongs to it */
	put_word(printer, node->selector.field);
}

/* ---- rules, quantifiers, functions ---- */

static void print_body_in_lines(struct printer *printer, const struct node *body, uint32_t start)
{
	unsigned hang = printer->hang;

	printer->hang = 0;
	printer->indent++;
	printer->fresh = true;
	end_line(printer, start);
	begin_line(printer, start);
	print_expression(printer, body);
	end_line(printer, bracket_close(bracket_around(printer, start), start));
	printer->indent--;
	printer->hang = hang;
	indent_line(printer);
}

static void print_body(struct printer *printer, const struct node *body)
{
	uint32_t start = expression_start(body);

	put(printer, "{");
	if (newline_before(printer, start) || comment_due(printer, start)) {
		print_body_in_lines(printer, body, start);
	} else {
		put(printer, " ");
		print_expression(printer, body);
		put(printer, " ");
	}
	put(printer, "}");
}

static void print_rule(struct printer *printer, const struct node *node)
{
	put(printer, "rule ");
	if (node->rule.when) {
		put(printer, "when ");
		print_head(printer, node->rule.when);
		put(printer, " ");
	}
	print_body(printer, node->rule.body);
}

void print_loop_variables(struct printer *printer, const struct loop *loop)
{
	put(printer, " as ");
	put_word(printer, loop->first);
	if (loop->second.len > 0) {
		put(printer, ", ");
		put_word(printer, loop->second);
	}
	put(printer, " ");
}

/* True if `map` and `filter` before the expression begin a quantifier. */
static bool begins_plainly(const struct node *node)
{
	const struct node *base;

	if (node->kind == NODE_OPERATION)
		return false;
	while ((base = base_of(node)) != NULL)
		node = base;
	return node->kind == NODE_NAME || node->kind == NODE_LIST || node->kind == NODE_MAP ||
		(node->kind == NODE_CONSTANT && value_is(node->constant, VALUE_STRING)) ||
		(node->kind == NODE_QUANTIFIER && node->loop->quantifier >= QUANTIFIER_FILTER);
}

static void print_quantifier(struct printer *printer, const struct node *node)
{
	static const char *const words[] = {"any ", "all ", "filter ", "map "};
	const struct loop *loop = node->loop;

	put(printer, words[loop->quantifier]);
	if (loop->quantifier >= QUANTIFIER_FILTER && !begins_plainly(loop->over))
		put_round(printer, loop->over);
	else
		print_expression(printer, loop->over);
	print_loop_variables(printer, loop);
	print_body(printer, loop->body);
}

void print_function(struct printer *printer, const struct function_tree *function)
{
	put(printer, "(");
	for (uint32_t i = 0; i < function->parameter_count; i++) {
		put(printer, i > 0 ? ", " : "");
		put_word(printer, function->parameters[i]);
	}
	put(printer, ") ");
	print_block(printer, function->block);
}

static void print_function_literal(struct printer *printer, const struct node *node)
{
	put(printer, "func");
	print_function(printer, node->function);
}

/* ---- any ---- */

static void print_name(struct printer *printer, const struct node *node)
{
	put_word(printer, node->name.text);
}

static void print_constant(struct printer *printer, const struct node *node)
{
	put_token(printer, node->offset);
}

/* By enum node_kind: the expressions. */
static void (*const printers[])(struct printer *printer, const struct node *node) = {
	[NODE_CONSTANT] = print_constant,
	[NODE_NAME] = print_name,
	[NODE_LIST] = print_list,
	[NODE_MAP] = print_map,
	[NODE_FUNCTION] = print_function_literal,
	[NODE_RULE] = print_rule,
	[NODE_QUANTIFIER] = print_quantifier,
	[NODE_OPERATION] = print_operation,
	[NODE_SELECTOR] = print_selector,
	[NODE_INDEX] = print_index,
	[NODE_SLICE] = print_slice,
	[NODE_CALL] = print_call,
};

void print_expression(struct printer *printer, const struct node *node)
{
	run_enter(printer->run);
	printers[node->kind](printer, node);
	run_leave(printer->run);
}
