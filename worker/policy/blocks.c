/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/policy/blocks.h"

#include <ctype.h>
#include <string.h>

#include "common/buf.h"
#include "common/err.h"

enum { MAX_NESTED = 64 };

struct reader {
	const char *text, *at, *end;
	int templates; /* open interpolations at the current position */
	struct err *err;
};

static int skip_brackets(struct reader *reader);

static int wrong(const struct reader *reader, const char *what)
{
	size_t line = 1;

	for (const char *at = reader->text; at < reader->at; at++)
		line += *at == '\n';
	return err_set(reader->err, ERR_INVALID, "line %zu: %s", line, what);
}

static bool has(const struct reader *reader, const char *word)
{
	size_t len = strlen(word);

	return (size_t)(reader->end - reader->at) >= len && memcmp(reader->at, word, len) == 0;
}

static void skip_line(struct reader *reader)
{
	while (reader->at < reader->end && *reader->at != '\n')
		reader->at++;
}

static int skip_comment(struct reader *reader)
{
	const char *close;

	if (!has(reader, "/*")) {
		skip_line(reader);
		return 0;
	}
	close = memmem(reader->at + 2, (size_t)(reader->end - reader->at - 2), "*/", 2);
	if (!close)
		return wrong(reader, "a comment does not end");
	reader->at = close + 2;
	return 0;
}

static bool at_comment(const struct reader *reader)
{
	return has(reader, "#") || has(reader, "//") || has(reader, "/*");
}

/* Skips spaces and comments, and line ends too if `lines` is true. */
static int skip_space(struct reader *reader, bool lines)
{
	while (reader->at < reader->end) {
		if (at_comment(reader)) {
			if (skip_comment(reader) < 0)
				return -1;
		} else if (isspace((unsigned char)*reader->at) && (lines || *reader->at != '\n')) {
			reader->at++;
		} else {
			break;
		}
	}
	return 0;
}

/* ---- texts ---- */

static unsigned hex_value(const char *at, int digits)
{
	char copy[9] = "";

	memcpy(copy, at, (size_t)digits);
	return (unsigned)strtoul(copy, NULL, 16);
}

static void add_rune(struct buf *out, unsigned rune)
{
	char bytes[4];
	size_t len = 0;

	if (rune < 0x80) {
		bytes[len++] = (char)rune;
	} else if (rune < 0x800) {
		bytes[len++] = (char)(0xc0 | rune >> 6);
	} else if (rune < 0x10000) {
		bytes[len++] = (char)(0xe0 | rune >> 12);
		bytes[len++] = (char)(0x80 | (rune >> 6 & 0x3f));
	} else {
		bytes[len++] = (char)(0xf0 | (rune >> 18 & 7));
		bytes[len++] = (char)(0x80 | (rune >> 12 & 0x3f));
		bytes[len++] = (char)(0x80 | (rune >> 6 & 0x3f));
	}
	if (rune >= 0x80)
		bytes[len++] = (char)(0x80 | (rune & 0x3f));
	buf_append(out, bytes, len);
}

static int read_escape(struct reader *reader, struct buf *out)
{
	static const char names[] = "nrt\"\\", bytes[] = "\n\r\t\"\\";
	const char *name = reader->at + 1 < reader->end ? strchr(names, reader->at[1]) : NULL;
	int digits = has(reader, "\\u") ? 4 : 8;

	if (name && *name) {
		buf_append(out, &bytes[name - names], 1);
		reader->at += 2;
		return 0;
	}
	if ((!has(reader, "\\u") && !has(reader, "\\U")) || reader->end - reader->at < 2 + digits)
		return wrong(reader, "a text has an escape that is none");
	add_rune(out, hex_value(reader->at + 2, digits));
	reader->at += 2 + digits;
	return 0;
}

/* Skips "${...}" or "%{...}", which may hold quoted texts with templates of their own. */
static int skip_template(struct reader *reader)
{
	int status;

	if (++reader->templates > MAX_NESTED)
		return wrong(reader, "templates are nested too deeply");
	reader->at++;
	status = skip_brackets(reader);
	reader->templates--;
	return status;
}

/* Reads a quoted text. Leaves its templates out; *ret_plain is false if there are any. */
static int read_text(struct reader *reader, struct buf *out, bool *ret_plain)
{
	*ret_plain = true;
	for (reader->at++; reader->at < reader->end && *reader->at != '"' && *reader->at != '\n';) {
		if (*reader->at == '\\') {
			if (read_escape(reader, out) < 0)
				return -1;
			continue;
		}
		if (has(reader, "$${") || has(reader, "%%{")) {
			reader->at += 2;
			buf_append(out, reader->at - 1, 1);
		} else if (has(reader, "${") || has(reader, "%{")) {
			*ret_plain = false;
			if (skip_template(reader) < 0)
				return -1;
			continue;
		}
		buf_append(out, reader->at++, 1);
	}
	if (reader->at >= reader->end || *reader->at != '"')
		return wrong(reader, "a text does not end");
	reader->at++;
	return 0;
}

/* Skips <<WORD or <<-WORD, up to the line that consists of WORD. */
static int skip_heredoc(struct reader *reader)
{
	const char *word;
	size_t len;

	reader->at += has(reader, "<<-") ? 3 : 2;
	word = reader->at;
	while (reader->at < reader->end && (isalnum((unsigned char)*reader->at) || *reader->at == '_'))
		reader->at++;
	len = (size_t)(reader->at - word);
	for (skip_line(reader); reader->at < reader->end; skip_line(reader)) {
		const char *line;

		for (reader->at++; reader->at < reader->end && (*reader->at == ' ' || *reader->at == '\t');)
			reader->at++;
		line = reader->at;
		if (len > 0 && (size_t)(reader->end - line) >= len && memcmp(line, word, len) == 0 &&
			(line + len == reader->end || line[len] == '\n' || line[len] == '\r')) {
			reader->at += len;
			return 0;
		}
	}
	return wrong(reader, "a heredoc does not end");
}

/* ---- skipped parts ---- */

static int skip_one(struct reader *reader)
{
	struct buf ignored = BUF_INIT(0);
	bool plain;

	if (at_comment(reader))
		return skip_comment(reader);
	if (*reader->at == '"')
		return read_text(reader, &ignored, &plain);
	if (has(reader, "<<") && reader->end - reader->at > 2 &&
		(isalpha((unsigned char)reader->at[2]) || reader->at[2] == '-'))
		return skip_heredoc(reader);
	reader->at++;
	return 0;
}

/* Skips from an opening bracket past the one that closes it. */
static int skip_brackets(struct reader *reader)
{
	int depth = 0;

	while (reader->at < reader->end) {
		char c = *reader->at;

		if (skip_one(reader) < 0)
			return -1;
		if (strchr("{[(", c) && c && ++depth > MAX_NESTED)
			return wrong(reader, "brackets are nested too deeply");
		if (strchr("}])", c) && c && --depth == 0)
			return 0;
	}
	return wrong(reader, "a bracket is not closed");
}

/* Skips the rest of an attribute's value, up to the end of the line. Brackets and texts are skipped as a whole. */
static int skip_value(struct reader *reader)
{
	while (reader->at < reader->end && *reader->at != '\n' && *reader->at != '}') {
		int status = strchr("{[(", *reader->at) ? skip_brackets(reader) : skip_one(reader);

		if (status < 0)
			return -1;
	}
	return 0;
}

/* ---- blocks ---- */

static bool in_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.';
}

static char *read_word(struct reader *reader)
{
	const char *begin = reader->at;

	while (reader->at < reader->end && in_word(*reader->at))
		reader->at++;
	return mem_printf("%.*s", (int)(reader->at - begin), begin);
}

static int read_attribute(struct reader *reader, const char *name, json_t *attributes)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(1 << 20);
	bool plain = false;

	reader->at++; /* = */
	if (skip_space(reader, false) < 0)
		return -1;
	if (reader->at < reader->end && *reader->at == '"' && read_text(reader, &text, &plain) < 0)
		return -1;
	if (attributes)
		json_object_set_new(attributes, name, plain ? json_stringn(buf_str(&text), text.len) : json_null());
	return skip_value(reader);
}

static int read_body(struct reader *reader, json_t *attributes)
{
	reader->at++; /* { */
	while (skip_space(reader, true) == 0) {
		_cleanup_(freep) char *name = NULL;

		if (reader->at >= reader->end)
			return wrong(reader, "a block is not closed");
		if (*reader->at == '}') {
			reader->at++;
			return 0;
		}
		name = read_word(reader);
		if (!*name)
			return wrong(reader, "an attribute or a block was expected");
		if (skip_space(reader, false) < 0)
			return -1;
		if (reader->at < reader->end && *reader->at == '=') {
			if (read_attribute(reader, name, attributes) < 0)
				return -1;
			continue;
		}
		while (reader->at < reader->end && *reader->at != '{' && *reader->at != '\n')
			if (skip_one(reader) < 0)
				return -1;
		if (reader->at >= reader->end || *reader->at != '{')
			return wrong(reader, "an attribute has no value");
		if (skip_brackets(reader) < 0)
			return -1;
	}
	return -1;
}

/* Reads the labels before a block's body; the last one is the block's name. */
static int read_labels(struct reader *reader, struct buf *label)
{
	bool plain;

	while (skip_space(reader, false) == 0) {
		if (reader->at >= reader->end || (*reader->at != '"' && !in_word(*reader->at)))
			return 0;
		buf_reset(label);
		if (*reader->at == '"') {
			if (read_text(reader, label, &plain) < 0)
				return -1;
		} else {
			_cleanup_(freep) char *word = read_word(reader);

			buf_text(label, word);
		}
	}
	return -1;
}

static int read_block(struct reader *reader, json_t *blocks)
{
	_cleanup_(buf_release) struct buf label = BUF_INIT(4096);
	const char *begin = reader->at;
	_cleanup_(freep) char *type = read_word(reader);
	json_auto_t *attributes = json_object();

	if (!*type)
		return wrong(reader, "a block was expected");
	if (read_labels(reader, &label) < 0)
		return -1;
	if (reader->at < reader->end && *reader->at == '=')
		return read_attribute(reader, type, NULL);
	if (reader->at >= reader->end || *reader->at != '{')
		return wrong(reader, "a block has no body");
	if (read_body(reader, attributes) < 0)
		return -1;
	return json_array_append_new(blocks,
		json_pack("{ss ss sO sI sI}", "type", type, "label", buf_str(&label), "attributes", attributes, "begin",
			(json_int_t)(begin - reader->text), "end", (json_int_t)(reader->at - reader->text)));
}

int blocks_read(const char *text, size_t len, json_t **ret_blocks, struct err *err)
{
	struct reader reader = {.text = text, .at = text, .end = text + len, .err = err};
	json_auto_t *blocks = json_array();

	for (;;) {
		if (skip_space(&reader, true) < 0)
			return -1;
		if (reader.at >= reader.end)
			break;
		if (read_block(&reader, blocks) < 0)
			return err->kind == ERR_NONE ? wrong(&reader, "it is not valid UTF-8") : -1;
	}
	*ret_blocks = json_incref(blocks);
	return 0;
}

/* ---- the JSON form ---- */

static void add_labelled(json_t *blocks, const char *type, json_t *by_label)
{
	const char *label;
	json_t *body;

	json_object_foreach(by_label, label, body)
	{
		json_t *last = json_is_array(body) ? json_array_get(body, json_array_size(body) - 1) : body;

		json_array_append_new(blocks,
			json_pack("{ss ss sO}", "type", type, "label", label, "attributes", last ? last : body));
	}
}

int blocks_read_json(const char *text, size_t len, json_t **ret_blocks, struct err *err)
{
	json_auto_t *root = NULL;
	json_t *blocks, *value, *item;
	const char *type;
	size_t i;

	if (json_parse(text, len, &root, err) < 0)
		return -1;
	if (!json_is_object(root))
		return err_set(err, ERR_INVALID, "the file holds no JSON object");
	blocks = json_array();
	json_object_foreach(root, type, value)
	{
		add_labelled(blocks, type, value);
		json_array_foreach(value, i, item) add_labelled(blocks, type, item);
	}
	*ret_blocks = blocks;
	return 0;
}
