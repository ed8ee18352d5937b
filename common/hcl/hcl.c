/* SPDX-License-Identifier: MPL-2.0 */
/* Items, blanks and names, and what is skipped. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/hcl/hcl.h"

enum { MAX_SHOWN = 100 }; /* bytes of a name in messages */

static const char mark[] = "\xef\xbb\xbf"; /* the byte order mark */

static bool at_mark(const struct hcl_reader *reader)
{
	return reader->len - reader->at >= strlen(mark) && memcmp(reader->text + reader->at, mark, strlen(mark)) == 0;
}

struct hcl_reader hcl_reader(const char *text, size_t len)
{
	struct hcl_reader reader = {.text = text, .len = len};

	if (at_mark(&reader))
		reader.at = strlen(mark);
	return reader;
}

bool hcl_fail(struct hcl_reader *reader, size_t offset, const char *format, ...)
{
	va_list args;

	if (hcl_failed(reader))
		return false;
	reader->error.offset = offset;
	va_start(args, format);
	vsnprintf(reader->error.message, sizeof(reader->error.message), format, args);
	va_end(args);
	return false;
}

/* ---- blanks and names ---- */

static bool at_line_comment(const struct hcl_reader *reader)
{
	return hcl_peek(reader, 0) == '#' || (hcl_peek(reader, 0) == '/' && hcl_peek(reader, 1) == '/');
}

static bool at_comment(const struct hcl_reader *reader)
{
	return at_line_comment(reader) || (hcl_peek(reader, 0) == '/' && hcl_peek(reader, 1) == '*');
}

static bool skip_comment(struct hcl_reader *reader)
{
	const char *from = reader->text + reader->at, *end = reader->text + reader->len, *close;

	if (at_line_comment(reader)) {
		close = memchr(from, '\n', (size_t)(end - from));
		reader->at = close ? (size_t)(close - reader->text) : reader->len;
		return true;
	}
	close = memmem(from + 2, (size_t)(end - from - 2), "*/", 2);
	if (!close)
		return hcl_fail(reader, reader->at, "the comment is not closed");
	reader->at = (size_t)(close - reader->text) + 2;
	return true;
}

static bool skip(struct hcl_reader *reader, const char *blanks)
{
	for (;;) {
		while (hcl_peek(reader, 0) && strchr(blanks, hcl_peek(reader, 0)))
			reader->at++;
		if (!at_comment(reader))
			return true;
		if (!skip_comment(reader))
			return false;
	}
}

bool hcl_skip_spaces(struct hcl_reader *reader)
{
	return skip(reader, " \t\r");
}

bool hcl_skip_blanks(struct hcl_reader *reader)
{
	return skip(reader, " \t\r\n");
}

size_t hcl_error_line(const struct hcl_reader *reader)
{
	size_t line = 1;

	for (size_t at = 0; at < reader->error.offset && at < reader->len; at++)
		line += reader->text[at] == '\n';
	return line;
}

bool hcl_text_is(const struct hcl_reader *reader, const struct hcl_text *text, const char *word)
{
	const size_t len = text->end - text->begin;

	return len == strlen(word) && memcmp(reader->text + text->begin, word, len) == 0;
}

bool hcl_is_letter(char byte)
{
	return isalpha((unsigned char)byte) || byte == '_' || (unsigned char)byte >= 0x80;
}

bool hcl_name(struct hcl_reader *reader, struct hcl_text *ret_name)
{
	const size_t begin = reader->at;

	if (!hcl_is_letter(hcl_peek(reader, 0)) || at_mark(reader))
		return false;
	while (hcl_is_letter(hcl_peek(reader, 0)) || isdigit((unsigned char)hcl_peek(reader, 0)) ||
		hcl_peek(reader, 0) == '-')
		reader->at++;
	*ret_name = (struct hcl_text){.kind = HCL_NAME, .begin = begin, .end = reader->at};
	return true;
}

/* ---- what is skipped ---- */

static bool skip_token(struct hcl_reader *reader)
{
	struct hcl_text ignored;

	if (at_comment(reader))
		return skip_comment(reader);
	if (hcl_peek(reader, 0) == '"')
		return hcl_string(reader, &ignored);
	if (hcl_peek(reader, 0) == '<' && hcl_peek(reader, 1) == '<' &&
		(hcl_is_letter(hcl_peek(reader, 2)) || hcl_peek(reader, 2) == '-'))
		return hcl_heredoc(reader, &ignored);
	reader->at++;
	return true;
}

static bool is_one_of(char byte, const char *bytes)
{
	return byte && strchr(bytes, byte);
}

/* From an opening bracket to behind the one that closes it. */
static bool skip_brackets(struct hcl_reader *reader)
{
	const size_t begin = reader->at;
	const unsigned around = reader->depth;

	do {
		const char byte = hcl_peek(reader, 0);

		if (hcl_ended(reader))
			return hcl_fail(reader, begin, "the bracket is not closed");
		if (is_one_of(byte, "{[(") && ++reader->depth > HCL_DEPTH)
			return hcl_fail(reader, reader->at, "brackets are nested more than %d deep", HCL_DEPTH);
		if (!skip_token(reader))
			return false;
		if (is_one_of(byte, "}])"))
			reader->depth--;
	} while (reader->depth > around);
	return true;
}

bool hcl_skip_template(struct hcl_reader *reader)
{
	if (reader->literals)
		return hcl_fail(reader, reader->at, HCL_EXPRESSION);
	reader->at++;
	return skip_brackets(reader);
}

bool hcl_skip_block(struct hcl_reader *reader)
{
	reader->at--;
	return skip_brackets(reader);
}

bool hcl_at_end(const struct hcl_reader *reader)
{
	return hcl_ended(reader) || is_one_of(hcl_peek(reader, 0), "\n},");
}

bool hcl_skip_value(struct hcl_reader *reader)
{
	const size_t begin = reader->at;

	while (!hcl_at_end(reader)) {
		const bool bracket = is_one_of(hcl_peek(reader, 0), "{[(");

		if (bracket ? !skip_brackets(reader) : !skip_token(reader))
			return false;
	}
	return reader->at > begin || hcl_fail(reader, begin, "a value is missing");
}

/* ---- items ---- */

/* A name, with quotes or without. False without an error if there is none. */
static bool read_word(struct hcl_reader *reader, struct hcl_text *ret_word)
{
	const size_t begin = reader->at;

	if (!(hcl_peek(reader, 0) == '"' ? hcl_string(reader, ret_word) : hcl_name(reader, ret_word)))
		return false;
	return ret_word->template ? hcl_fail(reader, begin, HCL_EXPRESSION) : hcl_skip_spaces(reader);
}

static bool fail_named(
	struct hcl_reader *reader, size_t offset, const struct hcl_item *item, const char *before, const char *after)
{
	const size_t len = item->name.end - item->name.begin;

	return hcl_fail(reader, offset, "%s\"%.*s\"%s", before, (int)(len < MAX_SHOWN ? len : MAX_SHOWN),
		reader->text + item->name.begin, after);
}

static bool read_labels(struct hcl_reader *reader, struct hcl_item *item)
{
	while (!hcl_take(reader, '{')) {
		const size_t begin = reader->at;
		struct hcl_text label;

		if (!read_word(reader, &label))
			return fail_named(reader, begin, item, "= or a block is missing behind ", "");
		if (item->label_count == HCL_LABELS)
			return fail_named(reader, begin, item, "the block ", " has too many labels");
		item->labels[item->label_count++] = label;
	}
	return true;
}

bool hcl_next(struct hcl_reader *reader, const struct hcl_item *of, struct hcl_item *ret_item)
{
	struct hcl_item item = {.block = true};

	if (!hcl_skip_blanks(reader) || (of && hcl_take(reader, '}')))
		return false;
	if (hcl_ended(reader))
		return of ? fail_named(reader, of->begin, of, "the block ", " is not closed") : false;
	item.begin = reader->at;
	if (!read_word(reader, &item.name))
		return hcl_fail(reader, item.begin, "the name of a block or attribute is missing");
	if (hcl_take(reader, '=') || hcl_take(reader, ':'))
		item.block = false;
	if (item.block ? !read_labels(reader, &item) : !hcl_skip_spaces(reader))
		return false;
	*ret_item = item;
	return true;
}

bool hcl_end(struct hcl_reader *reader, const struct hcl_item *item)
{
	if (!hcl_skip_spaces(reader))
		return false;
	if (!hcl_at_end(reader))
		return fail_named(reader, reader->at, item, "a new line is missing behind ", "");
	hcl_take(reader, ',');
	return true;
}
