/* SPDX-License-Identifier: MPL-2.0 */
/* Strings and heredocs of HCL. */
#include <string.h>

#include "worker/policy/sentinel/configuration/hcl_reader.h"
#include "worker/policy/sentinel/core/output.h"
#include "worker/policy/sentinel/core/utf8.h"

static struct value taken(struct hcl_reader *reader, const struct output *output)
{
	return string_borrow(reader->run, output->len > 0 ? output->bytes : "", output->len);
}

/* Takes the template's mark if there is one: `$${` and `%%{` give `${` and `%{`, which fail by themselves. */
static bool take_mark(struct hcl_reader *reader, struct output *output)
{
	char mark = reader_peek(reader, 0);

	if (mark != '$' && mark != '%')
		return false;
	if (reader_peek(reader, 1) == '{')
		reader_fail_expression(reader, reader->at);
	if (reader_peek(reader, 1) != mark || reader_peek(reader, 2) != '{')
		return false;
	output_add(reader->run, output, reader->source->text + reader->at + 1, 2);
	reader->at += 3;
	return true;
}

/* ---- quoted strings ---- */

static uint32_t hex_digits(struct hcl_reader *reader, size_t count)
{
	static const char digits[] = "0123456789abcdef";
	uint32_t code = 0;

	for (size_t i = 0; i < count; i++) {
		char byte = reader_peek(reader, i);
		const char *digit = byte ? strchr(digits, byte | 0x20) : NULL;

		if (!digit || byte < '0')
			reader_fail(reader, reader->at, "%zu hexadecimal digits are missing", count);
		code = code << 4 | (uint32_t)(digit - digits);
	}
	reader->at += count;
	return code;
}

static void take_code(struct hcl_reader *reader, struct output *output, size_t digits)
{
	size_t offset = reader->at - 2;
	char bytes[UTF8_MAX];
	size_t len = utf8_encode(hex_digits(reader, digits), bytes);

	if (len == 0)
		reader_fail(reader, offset, "the escape is no character of Unicode");
	output_add(reader->run, output, bytes, len);
}

static void take_escape(struct hcl_reader *reader, struct output *output)
{
	static const char letters[] = "nrt\"\\", bytes[] = "\n\r\t\"\\";
	char letter = reader_peek(reader, 1);
	const char *found = letter ? strchr(letters, letter) : NULL;

	if (letter == 'u' || letter == 'U') {
		reader->at += 2;
		take_code(reader, output, letter == 'u' ? 4 : 8);
		return;
	}
	if (!found)
		reader_fail(reader, reader->at, "the escape is not known");
	output_add(reader->run, output, &bytes[found - letters], 1);
	reader->at += 2;
}

struct value reader_string(struct hcl_reader *reader)
{
	struct output output = {0};
	size_t begin = reader->at++;

	while (!reader_take(reader, '"')) {
		char byte = reader_peek(reader, 0);

		if (reader_ended(reader) || byte == '\n')
			reader_fail(reader, begin, "the string is not closed on its line");
		if (byte == '\\')
			take_escape(reader, &output);
		else if (!take_mark(reader, &output))
			output_add(reader->run, &output, reader->source->text + reader->at++, 1);
	}
	return taken(reader, &output);
}

/* ---- heredocs ---- */

/* A line of the source, without its end. */
struct line {
	size_t begin, end, indent, next;
};

static struct line line_at(const struct hcl_reader *reader, size_t begin)
{
	const struct source *source = reader->source;
	const char *newline = memchr(source->text + begin, '\n', source->len - begin);
	struct line line = {.begin = begin, .end = newline ? (size_t)(newline - source->text) : source->len};

	line.next = newline ? line.end + 1 : line.end;
	if (line.end > begin && source->text[line.end - 1] == '\r')
		line.end--;
	while (begin + line.indent < line.end &&
		(source->text[begin + line.indent] == ' ' || source->text[begin + line.indent] == '\t'))
		line.indent++;
	return line;
}

static bool is_marker(const struct hcl_reader *reader, struct line line, const char *marker)
{
	size_t len = strlen(marker);

	return line.end - line.begin - line.indent == len &&
		memcmp(reader->source->text + line.begin + line.indent, marker, len) == 0;
}

/* The least indentation of the heredoc's lines, the closing marker's included. */
static size_t least_indent(const struct hcl_reader *reader, const char *marker)
{
	size_t least = SIZE_MAX;
	struct line line = line_at(reader, reader->at);

	for (;; line = line_at(reader, line.next)) {
		if (line.begin + line.indent < line.end && line.indent < least)
			least = line.indent;
		if (is_marker(reader, line, marker) || line.next >= reader->source->len)
			return least;
	}
}

static void take_line(struct hcl_reader *reader, struct output *output, struct line line, size_t indent)
{
	reader->at = line.begin + (indent < line.indent ? indent : line.indent);
	while (reader->at < line.end)
		if (!take_mark(reader, output))
			output_add(reader->run, output, reader->source->text + reader->at++, 1);
	output_add(reader->run, output, "\n", 1);
	reader->at = line.next;
}

struct value reader_heredoc(struct hcl_reader *reader)
{
	size_t begin = reader->at, indent;
	struct output output = {0};
	const char *marker;
	struct line line;
	bool indented;

	reader->at += 2;
	indented = reader_take(reader, '-');
	marker = reader_identifier(reader);
	while (reader_peek(reader, 0) == '\r' || reader_peek(reader, 0) == ' ')
		reader->at++;
	if (!marker || !reader_take(reader, '\n'))
		reader_fail(reader, begin, "<< needs a name and a new line");
	indent = indented ? least_indent(reader, marker) : 0;
	for (line = line_at(reader, reader->at); !is_marker(reader, line, marker); line = line_at(reader, reader->at)) {
		if (reader_ended(reader))
			reader_fail(reader, begin, "the heredoc has no closing %s", marker);
		take_line(reader, &output, line, indent);
	}
	reader->at = line.end;
	return taken(reader, &output);
}
