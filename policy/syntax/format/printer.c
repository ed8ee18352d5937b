/* SPDX-License-Identifier: MPL-2.0 */
#include "policy/syntax/format/printer.h"

#include "policy/syntax/lexer.h"
#include "policy/syntax/parser.h"

/* ---- comments and brackets of the source ---- */

/* True if the line before the offset has only blanks. */
static bool starts_line(const struct source *source, uint32_t offset)
{
	while (offset > 0 && (source->text[offset - 1] == ' ' || source->text[offset - 1] == '\t'))
		offset--;
	return offset == 0 || source->text[offset - 1] == '\n';
}

static void add_comments(struct printer *printer, struct span gap)
{
	struct span comment;

	while (comment_next(printer->run, printer->source, &gap, &comment)) {
		printer->comments =
			array_room(printer->run, printer->comments, printer->comment_count, sizeof(*printer->comments));
		printer->comments[printer->comment_count++] =
			(struct source_comment){comment, starts_line(printer->source, comment.from)};
	}
}

/* Returns the index of the innermost pair that is open behind the token. */
static uint32_t add_bracket(struct printer *printer, struct token token, uint32_t innermost)
{
	switch (token.kind) {
	case TOKEN_OPEN_ROUND:
	case TOKEN_OPEN_SQUARE:
	case TOKEN_OPEN_CURLY:
		printer->brackets =
			array_room(printer->run, printer->brackets, printer->bracket_count, sizeof(*printer->brackets));
		printer->brackets[printer->bracket_count] = (struct bracket){token.span.from, UINT32_MAX, innermost};
		return printer->bracket_count++;
	case TOKEN_CLOSE_ROUND:
	case TOKEN_CLOSE_SQUARE:
	case TOKEN_CLOSE_CURLY:
		if (innermost == NO_BRACKET)
			return NO_BRACKET;
		printer->brackets[innermost].close = token.span.from;
		return printer->brackets[innermost].outer;
	default:
		return innermost;
	}
}

static void read_source(struct printer *printer)
{
	uint32_t innermost = NO_BRACKET, end = 0;
	struct lexer lexer;
	struct token token;

	lexer_init(&lexer, printer->run, printer->source);
	end = lexer.at;
	do {
		token = lexer_next(&lexer);
		add_comments(printer, (struct span){end, token.span.from});
		innermost = add_bracket(printer, token, innermost);
		end = token.span.to;
	} while (token.kind != TOKEN_END);
}

void printer_init(struct printer *printer, struct run *run, const struct source *source, struct output *output)
{
	*printer = (struct printer){.run = run, .source = source, .output = output, .fresh = true};
	read_source(printer);
}

/* ---- texts ---- */

void put(struct printer *printer, const char *text)
{
	output_text(printer->run, printer->output, text);
}

void put_word(struct printer *printer, struct word word)
{
	output_add(printer->run, printer->output, word.bytes, word.len);
}

static void put_span(struct printer *printer, struct span span)
{
	output_add(printer->run, printer->output, printer->source->text + span.from, span.to - span.from);
}

void put_token(struct printer *printer, uint32_t offset)
{
	struct lexer lexer = {.run = printer->run, .source = printer->source, .at = offset};

	put_span(printer, lexer_next(&lexer).span);
}

/* ---- lines ---- */

void indent_line(struct printer *printer)
{
	for (unsigned i = 0; i < printer->indent; i++)
		put(printer, "\t");
	printer->started = true;
	printer->fresh = false;
}

static bool is_blank(char byte)
{
	return byte == ' ' || byte == '\t' || byte == '\r';
}

static bool has_empty_line_before(const struct printer *printer, uint32_t offset)
{
	const char *text = printer->source->text;
	unsigned newlines = 0;

	for (; offset > 0 && (is_blank(text[offset - 1]) || text[offset - 1] == '\n'); offset--)
		newlines += text[offset - 1] == '\n';
	return newlines > 1;
}

void begin_line(struct printer *printer, uint32_t offset)
{
	if (!printer->fresh && has_empty_line_before(printer, offset))
		put(printer, "\n");
	indent_line(printer);
}

static bool ends_its_line(const struct printer *printer, struct span comment)
{
	return printer->source->text[comment.from] == '#' || printer->source->text[comment.from + 1] == '/';
}

/* Without blanks at its end, a carriage return among them. */
static void put_comment(struct printer *printer, struct span comment)
{
	while (comment.to > comment.from && is_blank(printer->source->text[comment.to - 1]))
		comment.to--;
	put_span(printer, comment);
}

bool comment_due(const struct printer *printer, uint32_t offset)
{
	return printer->next_comment < printer->comment_count &&
		printer->comments[printer->next_comment].span.from < offset;
}

/* Comments behind the tokens of the line, up to one that ends the line. */
static void put_trailing(struct printer *printer, uint32_t upto)
{
	while (comment_due(printer, upto) && !printer->comments[printer->next_comment].own_line) {
		struct span comment = printer->comments[printer->next_comment++].span;

		put(printer, " ");
		put_comment(printer, comment);
		if (ends_its_line(printer, comment))
			return;
	}
}

void end_line(struct printer *printer, uint32_t upto)
{
	if (printer->started) {
		put_trailing(printer, upto);
		put(printer, "\n");
	}
	while (comment_due(printer, upto)) {
		struct span comment = printer->comments[printer->next_comment++].span;

		begin_line(printer, comment.from);
		put_comment(printer, comment);
		put(printer, "\n");
	}
}

/* ---- places of the source ---- */

/* The last pair that opens before the offset, or NO_BRACKET. */
static uint32_t last_before(const struct printer *printer, uint32_t offset)
{
	uint32_t low = 0, high = printer->bracket_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (printer->brackets[middle].open < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 ? low - 1 : NO_BRACKET;
}

const struct bracket *bracket_around(const struct printer *printer, uint32_t offset)
{
	uint32_t index = last_before(printer, offset);

	while (index != NO_BRACKET && printer->brackets[index].close < offset) {
		run_step(printer->run, 1);
		index = printer->brackets[index].outer;
	}
	return index == NO_BRACKET ? NULL : &printer->brackets[index];
}

const struct bracket *bracket_behind(const struct printer *printer, uint32_t start, uint32_t offset)
{
	const struct bracket *bracket = bracket_around(printer, offset);

	while (bracket && bracket->outer != NO_BRACKET && printer->brackets[bracket->outer].open > start) {
		run_step(printer->run, 1);
		bracket = &printer->brackets[bracket->outer];
	}
	return bracket;
}

uint32_t bracket_close(const struct bracket *bracket, uint32_t otherwise)
{
	return bracket ? bracket->close : otherwise;
}

bool newline_behind(const struct printer *printer, uint32_t offset)
{
	return blank_skip(printer->run, printer->source, offset + 1).has_newline;
}

bool newline_before(const struct printer *printer, uint32_t offset)
{
	const char *text = printer->source->text;

	while (offset > 0 && (is_blank(text[offset - 1]) || text[offset - 1] == '('))
		offset--;
	return offset > 0 && text[offset - 1] == '\n';
}
