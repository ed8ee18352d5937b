/* SPDX-License-Identifier: MPL-2.0 */
#include "policy/syntax/format/format.h"

#include <string.h>

#include "common/base.h"
#include "policy/syntax/character.h"
#include "policy/syntax/format/printer.h"

static void print_statement(struct printer *printer, const struct node *node);

/* ---- blocks ---- */

static void print_statements(struct printer *printer, struct nodes statements)
{
	for (uint32_t i = 0; i < statements.count; i++) {
		end_line(printer, statements.items[i]->offset);
		begin_line(printer, statements.items[i]->offset);
		print_statement(printer, statements.items[i]);
	}
}

void print_block(struct printer *printer, struct nodes block)
{
	uint32_t start = block.count ? block.items[0]->offset : 0;

	put(printer, "{");
	if (block.count > 0) {
		printer->indent++;
		printer->fresh = true;
		print_statements(printer, block);
		end_line(printer, bracket_close(bracket_around(printer, start), start));
		printer->indent--;
		indent_line(printer);
	}
	put(printer, "}");
}

/* ---- if, for, case ---- */

static void print_if(struct printer *printer, const struct node *node)
{
	struct nodes otherwise = node->branch->otherwise;

	put(printer, "if ");
	print_head(printer, node->branch->condition);
	put(printer, " ");
	print_block(printer, node->branch->then);
	if (otherwise.count == 0)
		return;
	put(printer, " else ");
	if (otherwise.count == 1 && otherwise.items[0]->kind == NODE_IF)
		print_statement(printer, otherwise.items[0]);
	else
		print_block(printer, otherwise);
}

static void print_for(struct printer *printer, const struct node *node)
{
	put(printer, "for ");
	print_expression(printer, node->loop->over);
	print_loop_variables(printer, node->loop);
	print_block(printer, node->loop->block);
}

static void print_arm_head(struct printer *printer, struct nodes values)
{
	if (values.count > 0)
		end_line(printer, expression_start(values.items[0]));
	else
		end_line(printer, 0);
	indent_line(printer);
	put(printer, values.count > 0 ? "when " : "else");
	for (uint32_t i = 0; i < values.count; i++) {
		put(printer, i > 0 ? ", " : "");
		print_expression(printer, values.items[i]);
	}
	put(printer, ":");
}

static void print_arm(struct printer *printer, const struct choice_arm *arm)
{
	print_arm_head(printer, arm->values);
	printer->indent++;
	printer->fresh = true;
	print_statements(printer, arm->block);
	printer->indent--;
}

/* Where a case closes in the source; 0 if it is empty. */
static uint32_t case_close(const struct printer *printer, const struct choice *choice)
{
	for (uint32_t i = 0; i < choice->count; i++) {
		const struct choice_arm *arm = &choice->arms[i];

		if (arm->values.count > 0)
			return bracket_close(bracket_around(printer, expression_start(arm->values.items[0])), 0);
		if (arm->block.count > 0)
			return bracket_close(bracket_around(printer, arm->block.items[0]->offset), 0);
	}
	return 0;
}

/* "{" behind `case` would begin the arms. */
static void print_subject(struct printer *printer, const struct node *subject)
{
	if (!begins_with_curly(subject)) {
		print_head(printer, subject);
		return;
	}
	put(printer, "(");
	print_expression(printer, subject);
	put(printer, ")");
}

static void print_case(struct printer *printer, const struct node *node)
{
	const struct choice *choice = node->choice;

	put(printer, "case ");
	if (choice->subject) {
		print_subject(printer, choice->subject);
		put(printer, " ");
	}
	put(printer, "{");
	for (uint32_t i = 0; i < choice->count; i++)
		print_arm(printer, &choice->arms[i]);
	end_line(printer, case_close(printer, choice));
	indent_line(printer);
	put(printer, "}");
}

/* ---- simple statements ---- */

static void print_assign(struct printer *printer, const struct node *node)
{
	const struct assignment *assign = node->assign;

	if (assign->value->kind == NODE_FUNCTION && assign->value->function->name.len > 0) {
		put(printer, "func ");
		put_word(printer, assign->value->function->name);
		print_function(printer, assign->value->function);
		return;
	}
	print_expression(printer, assign->target);
	put(printer, " ");
	put(printer, operator_texts[assign->op]);
	put(printer, "= ");
	print_expression(printer, assign->value);
}

static void print_return(struct printer *printer, const struct node *node)
{
	put(printer, "return ");
	print_expression(printer, node->operation.left);
}

static void print_word(struct printer *printer, const struct node *node)
{
	put_token(printer, node->offset);
}

static void print_simple(struct printer *printer, const struct node *node)
{
	print_expression(printer, node->operation.left);
}

/* By enum node_kind: the statements. */
static void (*const printers[])(struct printer *printer, const struct node *node) = {
	[NODE_EXPRESSION] = print_simple,
	[NODE_ASSIGN] = print_assign,
	[NODE_IF] = print_if,
	[NODE_FOR] = print_for,
	[NODE_CASE] = print_case,
	[NODE_RETURN] = print_return,
	[NODE_BREAK] = print_word,
	[NODE_CONTINUE] = print_word,
};

static void print_statement(struct printer *printer, const struct node *node)
{
	unsigned hang = printer->hang;

	run_enter(printer->run);
	printer->hang = 1;
	printers[node->kind](printer, node);
	printer->hang = hang;
	run_leave(printer->run);
}

/* ---- the head of a file ---- */

/* True if the name is what the import has without `as`. */
static bool is_last_segment(const struct import_tree *import)
{
	uint32_t before = import->path.len - import->name.len;

	if (import->name.len > import->path.len ||
		memcmp(import->path.bytes + before, import->name.bytes, import->name.len) != 0)
		return false;
	return before == 0 || import->path.bytes[before - 1] == '/';
}

static void print_import(struct printer *printer, const struct import_tree *import)
{
	put(printer, "import ");
	put_token(printer, import->offset);
	if (is_last_segment(import))
		return;
	put(printer, " as ");
	put_word(printer, import->name);
}

static void print_param(struct printer *printer, const struct param_tree *param)
{
	put(printer, "param ");
	put_word(printer, param->name);
	if (!param->otherwise)
		return;
	put(printer, " default ");
	print_expression(printer, param->otherwise);
}

/* Where the line with the keyword before the offset begins. */
static uint32_t keyword_start(const struct printer *printer, uint32_t offset)
{
	const char *text = printer->source->text;

	while (offset > 0 && (text[offset - 1] == ' ' || text[offset - 1] == '\t'))
		offset--;
	while (offset > 0 && text[offset - 1] >= 'a' && text[offset - 1] <= 'z')
		offset--;
	return offset;
}

static void begin_head(struct printer *printer, uint32_t offset)
{
	uint32_t start = keyword_start(printer, offset);

	end_line(printer, offset);
	begin_line(printer, start);
}

/* Imports and parameters in the order of the source. */
static void print_head_lines(struct printer *printer, const struct tree *tree)
{
	uint32_t import = 0, param = 0;

	while (import < tree->import_count || param < tree->param_count) {
		bool is_import = param == tree->param_count ||
			(import < tree->import_count && tree->imports[import].offset < tree->params[param].offset);

		if (is_import) {
			begin_head(printer, tree->imports[import].offset);
			print_import(printer, &tree->imports[import++]);
		} else {
			begin_head(printer, tree->params[param].offset);
			print_param(printer, &tree->params[param++]);
		}
	}
}

void format_tree(struct run *run, const struct tree *tree, struct output *output)
{
	struct printer printer;

	printer_init(&printer, run, tree->source, output);
	print_head_lines(&printer, tree);
	print_statements(&printer, tree->statements);
	end_line(&printer, UINT32_MAX);
}
