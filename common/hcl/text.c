/* SPDX-License-Identifier: MPL-2.0 */
/* Quoted strings and heredocs. */
#include <string.h>

#include "common/hcl/hcl.h"
#include "common/text.h"

/* At `$${` or `%%{`, which give `${` and `%{`. */
static bool at_doubled_mark(const struct hcl_reader *reader)
{
	const char mark = hcl_peek(reader, 0);

	return (mark == '$' || mark == '%') && hcl_peek(reader, 1) == mark && hcl_peek(reader, 2) == '{';
}

static bool at_template(const struct hcl_reader *reader)
{
	const char mark = hcl_peek(reader, 0);

	return (mark == '$' || mark == '%') && hcl_peek(reader, 1) == '{';
}

/* ---- escapes ---- */

static bool take_digits(struct hcl_reader *reader, unsigned count, uint32_t *ret_code)
{
	static const char digits[] = "0123456789abcdef";
	uint32_t code = 0;

	for (unsigned i = 0; i < count; i++) {
		const char byte = hcl_peek(reader, i);
		const char *digit = byte >= '0' ? strchr(digits, byte | 0x20) : NULL;

		if (!digit)
			return hcl_fail(reader, reader->at, "%u hexadecimal digits are missing", count);
		code = code << 4 | (uint32_t)(digit - digits);
	}
	reader->at += count;
	*ret_code = code;
	return true;
}

/* The bytes of the escape here: 1 to UTF8_MAX. 0 at an error. */
static size_t take_escape(struct hcl_reader *reader, char *out)
{
	static const char letters[] = "nrt\"\\", bytes[] = "\n\r\t\"\\";
	const size_t begin = reader->at;
	const char letter = hcl_peek(reader, 1), *found = letter ? strchr(letters, letter) : NULL;
	uint32_t code = 0;
	size_t len;

	if (found) {
		reader->at += 2;
		*out = bytes[found - letters];
		return 1;
	}
	if (letter != 'u' && letter != 'U')
		return hcl_fail(reader, begin, "the escape is not known");
	reader->at += 2;
	if (!take_digits(reader, letter == 'u' ? 4 : 8, &code))
		return 0;
	len = utf8_encode(code, out);
	return len > 0 ? len : hcl_fail(reader, begin, "the escape is no character of Unicode");
}

/* ---- quoted strings ---- */

/* Moves behind a character, an escape or a template. */
static bool skip_part(struct hcl_reader *reader, bool *template)
{
	char bytes[UTF8_MAX];

	if (hcl_peek(reader, 0) == '\\')
		return take_escape(reader, bytes) > 0;
	if (at_template(reader)) {
		*template = true;
		return hcl_skip_template(reader);
	}
	reader->at += at_doubled_mark(reader) ? 3 : 1;
	return true;
}

bool hcl_string(struct hcl_reader *reader, struct hcl_text *ret_text)
{
	struct hcl_text text = {.kind = HCL_QUOTED, .begin = ++reader->at};

	while (hcl_ended(reader) || hcl_peek(reader, 0) != '"') {
		if (hcl_ended(reader) || hcl_peek(reader, 0) == '\n')
			return hcl_fail(reader, text.begin - 1, "the string is not closed on its line");
		if (!skip_part(reader, &text.template))
			return false;
	}
	text.end = reader->at++;
	*ret_text = text;
	return true;
}

/* ---- heredocs ---- */

/* A line of the text, without its end. */
struct line {
	size_t begin, end, indent, next;
};

static struct line line_at(const struct hcl_reader *reader, size_t begin)
{
	const char *text = reader->text, *newline = memchr(text + begin, '\n', reader->len - begin);
	struct line line = {.begin = begin, .end = newline ? (size_t)(newline - text) : reader->len};

	line.next = newline ? line.end + 1 : line.end;
	if (line.end > begin && text[line.end - 1] == '\r')
		line.end--;
	while (begin + line.indent < line.end &&
		(text[begin + line.indent] == ' ' || text[begin + line.indent] == '\t'))
		line.indent++;
	return line;
}

static bool is_marker(const struct hcl_reader *reader, struct line line, const struct hcl_text *marker)
{
	const size_t len = marker->end - marker->begin;

	return line.end - line.begin - line.indent == len &&
		memcmp(reader->text + line.begin + line.indent, reader->text + marker->begin, len) == 0;
}

/* Whether the line has a template. */
static bool has_template(const struct hcl_reader *reader, struct line line, size_t *ret_at)
{
	struct hcl_reader in_line = {.text = reader->text, .len = line.end, .at = line.begin};

	for (; !hcl_ended(&in_line); in_line.at += at_doubled_mark(&in_line) ? 3 : 1)
		if (at_template(&in_line)) {
			*ret_at = in_line.at;
			return true;
		}
	return false;
}

/* Moves behind the << and the marker's line. */
static bool take_opening(struct hcl_reader *reader, struct hcl_text *ret_marker, bool *ret_indented)
{
	const size_t begin = reader->at;

	reader->at += 2;
	*ret_indented = hcl_take(reader, '-');
	if (!hcl_name(reader, ret_marker))
		return hcl_fail(reader, begin, "<< needs a name and a new line");
	while (hcl_peek(reader, 0) == '\r' || hcl_peek(reader, 0) == ' ')
		reader->at++;
	return hcl_take(reader, '\n') || hcl_fail(reader, begin, "<< needs a name and a new line");
}

bool hcl_heredoc(struct hcl_reader *reader, struct hcl_text *ret_text)
{
	const size_t begin = reader->at;
	struct hcl_text text = {.kind = HCL_HEREDOC, .indent = SIZE_MAX}, marker;
	struct line line;
	bool indented;
	size_t at;

	if (!take_opening(reader, &marker, &indented))
		return false;
	text.begin = reader->at;
	for (line = line_at(reader, reader->at);; line = line_at(reader, line.next)) {
		if (line.begin + line.indent < line.end && line.indent < text.indent)
			text.indent = line.indent; /* the least one, the marker's line included */
		if (is_marker(reader, line, &marker))
			break;
		if (line.next >= reader->len)
			return hcl_fail(reader, begin, "the heredoc has no closing %.*s",
				(int)(marker.end - marker.begin), reader->text + marker.begin);
		if (has_template(reader, line, &at)) {
			text.template = true;
			if (reader->literals)
				return hcl_fail(reader, at, HCL_EXPRESSION);
		}
	}
	text.end = line.begin;
	if (!indented)
		text.indent = 0;
	reader->at = line.end;
	*ret_text = text;
	return true;
}

/* ---- their bytes ---- */

static size_t part_bytes(struct hcl_reader *reader, bool escapes, char *out)
{
	if (escapes && hcl_peek(reader, 0) == '\\')
		return take_escape(reader, out);
	if (at_doubled_mark(reader)) {
		memcpy(out, reader->text + reader->at + 1, 2);
		reader->at += 3;
		return 2;
	}
	*out = reader->text[reader->at++];
	return 1;
}

static size_t lines_bytes(const struct hcl_reader *reader, const struct hcl_text *text, char *out)
{
	struct hcl_reader at = {.text = reader->text, .len = text->end, .at = text->begin};
	size_t len = 0;

	while (at.at < text->end) {
		const struct line line = line_at(&at, at.at);
		struct hcl_reader in_line = {.text = reader->text, .len = line.end, .at = line.begin};

		in_line.at += text->indent < line.indent ? text->indent : line.indent;
		while (!hcl_ended(&in_line))
			len += part_bytes(&in_line, false, out + len);
		out[len++] = '\n';
		at.at = line.next;
	}
	return len;
}

size_t hcl_text_bytes(const struct hcl_reader *reader, const struct hcl_text *text, char *out)
{
	struct hcl_reader at = {.text = reader->text, .len = text->end, .at = text->begin};
	size_t len = 0;

	if (text->kind == HCL_HEREDOC)
		return lines_bytes(reader, text, out);
	while (!hcl_ended(&at))
		len += part_bytes(&at, text->kind == HCL_QUOTED, out + len);
	return len;
}
