/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TESTS_UNIT_POLICY_TREE_TEXT_H
#define TESTS_UNIT_POLICY_TREE_TEXT_H

/* Trees as text for tests: nodes in round brackets, without positions. `(= x (+ 1 (* 2 3)))` */

#include "policy/core/output.h"
#include "policy/syntax/tree.h"

struct dump {
	struct run *run;
	bool resolved; /* names as x@HOPS.SLOT, chained by "|"; "^" before scopes that are captured */
	struct output out;
};

static void dump_node(struct dump *dump, const struct node *node);

static void dump_text(struct dump *dump, const char *text)
{
	output_text(dump->run, &dump->out, text);
}

static void dump_word(struct dump *dump, struct word word)
{
	output_add(dump->run, &dump->out, word.bytes, word.len);
}

static void dump_place(struct dump *dump, const struct name *name)
{
	static const char *const prefixes[] = {"", "import ", "builtin "};

	dump_text(dump, prefixes[name->kind]);
	if (name->kind == NAME_VARIABLE)
		dump_text(dump, run_text(dump->run, "%u.", name->hops));
	dump_text(dump, run_text(dump->run, "%u", name->slot));
}

static void dump_name(struct dump *dump, const struct name *name)
{
	dump_word(dump, name->text);
	if (!dump->resolved)
		return;
	for (const char *mark = "@"; name; name = name->outer, mark = "|") {
		dump_text(dump, mark);
		dump_place(dump, name);
	}
}

static void dump_captured(struct dump *dump, const struct scope *scope)
{
	if (dump->resolved && scope->captured)
		dump_text(dump, "^");
}

static void dump_nodes(struct dump *dump, struct nodes nodes)
{
	for (uint32_t i = 0; i < nodes.count; i++) {
		dump_text(dump, " ");
		dump_node(dump, nodes.items[i]);
	}
}

static void dump_block(struct dump *dump, struct nodes block)
{
	dump_text(dump, " {");
	dump_nodes(dump, block);
	dump_text(dump, " }");
}

static void dump_constant(struct dump *dump, struct value constant)
{
	struct value text;

	if (value_is(constant, VALUE_UNDEFINED)) {
		dump_text(dump, "undefined");
		return;
	}
	text = value_print(dump->run, constant, VALUE_QUOTED);
	output_add(dump->run, &dump->out, string_bytes(text), string_len(text));
}

/* "(NAME" operand… ")" */
static void dump_operands(struct dump *dump, const char *name, const struct node *left, const struct node *right)
{
	dump_text(dump, "(");
	dump_text(dump, name);
	dump_text(dump, " ");
	dump_node(dump, left);
	if (right) {
		dump_text(dump, " ");
		dump_node(dump, right);
	}
	dump_text(dump, ")");
}

static void dump_function(struct dump *dump, const struct function_tree *function)
{
	dump_captured(dump, &function->scope);
	dump_text(dump, "(func ");
	dump_word(dump, function->name);
	dump_text(dump, "(");
	for (uint32_t i = 0; i < function->parameter_count; i++) {
		dump_text(dump, i ? " " : "");
		dump_word(dump, function->parameters[i]);
	}
	dump_text(dump, ")");
	dump_block(dump, function->block);
	dump_text(dump, ")");
}

static void dump_loop(struct dump *dump, const char *name, const struct loop *loop)
{
	dump_captured(dump, &loop->scope);
	dump_operands(dump, name, loop->over, NULL);
	dump->out.len--;
	dump_text(dump, " as ");
	dump_word(dump, loop->first);
	if (loop->second.len) {
		dump_text(dump, ",");
		dump_word(dump, loop->second);
	}
	if (loop->body)
		dump_nodes(dump, (struct nodes){(struct node **)&loop->body, 1});
	else
		dump_block(dump, loop->block);
	dump_text(dump, ")");
}

static void dump_slice(struct dump *dump, const struct slice *slice)
{
	dump_operands(dump, "slice", slice->of, NULL);
	dump->out.len--;
	dump_text(dump, " ");
	if (slice->from)
		dump_node(dump, slice->from);
	dump_text(dump, ":");
	if (slice->to)
		dump_node(dump, slice->to);
	dump_text(dump, ")");
}

static void dump_assign(struct dump *dump, const struct assignment *assign)
{
	dump_text(dump, "(");
	dump_text(dump, operator_texts[assign->op]);
	dump_text(dump, "= ");
	dump_node(dump, assign->target);
	dump_text(dump, " ");
	dump_node(dump, assign->value);
	dump_text(dump, ")");
}

static void dump_branch(struct dump *dump, const struct branch *branch)
{
	dump_operands(dump, "if", branch->condition, NULL);
	dump->out.len--;
	dump_block(dump, branch->then);
	if (branch->otherwise.count)
		dump_block(dump, branch->otherwise);
	dump_text(dump, ")");
}

static void dump_choice(struct dump *dump, const struct choice *choice)
{
	dump_text(dump, "(case ");
	if (choice->subject)
		dump_node(dump, choice->subject);
	for (uint32_t i = 0; i < choice->count; i++) {
		dump_text(dump, choice->arms[i].values.count ? " when" : " else");
		dump_nodes(dump, choice->arms[i].values);
		dump_block(dump, choice->arms[i].block);
	}
	dump_text(dump, ")");
}

static void dump_rule(struct dump *dump, const struct rule_tree *rule)
{
	dump_operands(dump, "rule", rule->body, rule->when);
}

static void dump_node(struct dump *dump, const struct node *node)
{
	static const char *const quantifiers[] = {"any", "all", "filter", "map"};

	switch ((enum node_kind)node->kind) {
	case NODE_CONSTANT:
		dump_constant(dump, node->constant);
		break;
	case NODE_NAME:
		dump_name(dump, &node->name);
		break;
	case NODE_LIST:
	case NODE_MAP:
		dump_text(dump, node->kind == NODE_LIST ? "(list" : "(map");
		dump_nodes(dump, node->items);
		dump_text(dump, ")");
		break;
	case NODE_FUNCTION:
		dump_function(dump, node->function);
		break;
	case NODE_RULE:
		dump_rule(dump, &node->rule);
		break;
	case NODE_QUANTIFIER:
		dump_loop(dump, quantifiers[node->loop->quantifier], node->loop);
		break;
	case NODE_OPERATION:
		dump_operands(dump, operator_texts[node->op], node->operation.left, node->operation.right);
		break;
	case NODE_SELECTOR:
		dump_operands(dump, ".", node->selector.of, NULL);
		dump->out.len--;
		dump_text(dump, " ");
		dump_word(dump, node->selector.field);
		dump_text(dump, ")");
		break;
	case NODE_INDEX:
		dump_operands(dump, "index", node->operation.left, node->operation.right);
		break;
	case NODE_SLICE:
		dump_slice(dump, &node->slice);
		break;
	case NODE_CALL:
		dump_operands(dump, "call", node->call.function, NULL);
		dump->out.len--;
		dump_nodes(dump, node->call.arguments);
		dump_text(dump, ")");
		break;
	case NODE_EXPRESSION:
		dump_node(dump, node->operation.left);
		break;
	case NODE_ASSIGN:
		dump_assign(dump, node->assign);
		break;
	case NODE_IF:
		dump_branch(dump, node->branch);
		break;
	case NODE_FOR:
		dump_loop(dump, "for", node->loop);
		break;
	case NODE_CASE:
		dump_choice(dump, node->choice);
		break;
	case NODE_RETURN:
		dump_operands(dump, "return", node->operation.left, NULL);
		break;
	case NODE_BREAK:
		dump_text(dump, "break");
		break;
	case NODE_CONTINUE:
		dump_text(dump, "continue");
		break;
	}
}

static void dump_head(struct dump *dump, const struct tree *tree)
{
	for (uint32_t i = 0; i < tree->import_count; i++) {
		dump_text(dump, " (import ");
		dump_word(dump, tree->imports[i].path);
		dump_text(dump, " ");
		dump_word(dump, tree->imports[i].name);
		dump_text(dump, ")");
	}
	for (uint32_t i = 0; i < tree->param_count; i++) {
		dump_text(dump, " (param ");
		dump_word(dump, tree->params[i].name);
		dump_nodes(dump, (struct nodes){&tree->params[i].otherwise, tree->params[i].otherwise != NULL});
		dump_text(dump, ")");
	}
}

/* The whole tree; of the arena. */
static const char *tree_text(struct run *run, const struct tree *tree, bool resolved)
{
	struct dump dump = {.run = run, .resolved = resolved};

	dump_head(&dump, tree);
	dump_nodes(&dump, tree->statements);
	output_add(run, &dump.out, "", 1);
	return dump.out.len > 1 ? dump.out.bytes + 1 : dump.out.bytes;
}

#endif
