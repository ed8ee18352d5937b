/* SPDX-License-Identifier: MPL-2.0 */
/* The literals of HCL. */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base.h"
#include "worker/policy/sentinel/configuration/hcl_reader.h"

void reader_fail(const struct hcl_reader *reader, size_t offset, const char *format, ...)
{
	struct place place = {.source = reader->source, .offset = (uint32_t)offset};
	char message[512];
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	run_fail_at(reader->run, place, "%s", message);
}

void reader_fail_expression(const struct hcl_reader *reader, size_t offset)
{
	reader_fail(reader, offset, "an expression is not possible in a configuration, only a literal value");
}

/* ---- blanks and names ---- */

static bool skip_line_comment(struct hcl_reader *reader)
{
	if (reader_peek(reader, 0) != '#' && !(reader_peek(reader, 0) == '/' && reader_peek(reader, 1) == '/'))
		return false;
	while (!reader_ended(reader) && reader_peek(reader, 0) != '\n')
		reader->at++;
	return true;
}

static bool skip_comment(struct hcl_reader *reader)
{
	size_t begin = reader->at;

	if (reader_peek(reader, 0) != '/' || reader_peek(reader, 1) != '*')
		return skip_line_comment(reader);
	for (reader->at += 2; reader_peek(reader, 0) != '*' || reader_peek(reader, 1) != '/'; reader->at++)
		if (reader_ended(reader))
			reader_fail(reader, begin, "the comment is not closed");
	reader->at += 2;
	return true;
}

static void skip(struct hcl_reader *reader, const char *blanks)
{
	size_t begin = reader->at;

	do
		while (!reader_ended(reader) && reader_peek(reader, 0) && strchr(blanks, reader_peek(reader, 0)))
			reader->at++;
	while (skip_comment(reader));
	run_step_bytes(reader->run, reader->at - begin);
}

void reader_skip_spaces(struct hcl_reader *reader)
{
	skip(reader, " \t\r");
}

void reader_skip_blanks(struct hcl_reader *reader)
{
	skip(reader, " \t\r\n");
}

bool reader_take(struct hcl_reader *reader, char byte)
{
	if (reader_ended(reader) || reader_peek(reader, 0) != byte)
		return false;
	reader->at++;
	return true;
}

static bool is_letter(char byte)
{
	return isalpha((unsigned char)byte) || byte == '_' || (unsigned char)byte >= 0x80;
}

const char *reader_identifier(struct hcl_reader *reader)
{
	size_t begin = reader->at;

	if (!is_letter(reader_peek(reader, 0)))
		return NULL;
	while (is_letter(reader_peek(reader, 0)) || isdigit((unsigned char)reader_peek(reader, 0)) ||
		reader_peek(reader, 0) == '-')
		reader->at++;
	return run_copy(reader->run, reader->source->text + begin, reader->at - begin);
}

const char *reader_text(const struct hcl_reader *reader, size_t offset, struct value string)
{
	if (memchr(string_bytes(string), '\0', string_len(string)))
		reader_fail(reader, offset, "a name has a zero byte");
	return run_copy(reader->run, string_bytes(string), string_len(string));
}

/* ---- numbers and words ---- */

static size_t skip_digits(struct hcl_reader *reader)
{
	size_t begin = reader->at;

	while (isdigit((unsigned char)reader_peek(reader, 0)))
		reader->at++;
	return reader->at - begin;
}

/* Skips the fraction and the exponent. True if there is one. */
static bool skip_fraction(struct hcl_reader *reader)
{
	size_t begin = reader->at;

	if (reader_take(reader, '.') && skip_digits(reader) == 0)
		reader_fail(reader, begin, "a digit is missing behind the point");
	if (reader_take(reader, 'e') || reader_take(reader, 'E')) {
		if (!reader_take(reader, '-'))
			reader_take(reader, '+');
		if (skip_digits(reader) == 0)
			reader_fail(reader, begin, "the exponent has no digits");
	}
	return reader->at > begin;
}

static struct value read_number(struct hcl_reader *reader)
{
	size_t begin = reader->at;
	const char *text;
	long long number;
	bool fraction;

	reader_take(reader, '-');
	if (skip_digits(reader) == 0)
		reader_fail_expression(reader, begin);
	fraction = skip_fraction(reader);
	text = run_copy(reader->run, reader->source->text + begin, reader->at - begin);
	errno = 0;
	number = strtoll(text, NULL, 10);
	return fraction || errno == ERANGE ? value_float(strtod(text, NULL)) : value_int(number);
}

static struct value read_word(struct hcl_reader *reader)
{
	size_t begin = reader->at;
	const char *word = reader_identifier(reader);

	if (text_equal(word, "true") || text_equal(word, "false"))
		return value_bool(*word == 't');
	if (!text_equal(word, "null"))
		reader_fail_expression(reader, begin);
	return value_null();
}

/* ---- lists and objects ---- */

static struct value read_list(struct hcl_reader *reader)
{
	struct value list = list_new(reader->run, 0);
	size_t begin = reader->at++;
	bool comma = true;

	for (;;) {
		reader_skip_blanks(reader);
		if (reader_take(reader, ']'))
			return list;
		if (reader_ended(reader))
			reader_fail(reader, begin, "the list is not closed");
		if (!comma)
			reader_fail(reader, reader->at, "a comma or ] is missing");
		list_push(reader->run, list, reader_value(reader));
		reader_skip_blanks(reader);
		comma = reader_take(reader, ',');
	}
}

static struct value read_key(struct hcl_reader *reader)
{
	const char *name;

	if (reader_peek(reader, 0) == '"')
		return reader_string(reader);
	if (isdigit((unsigned char)reader_peek(reader, 0))) {
		size_t begin = reader->at;

		skip_digits(reader);
		return string_new(reader->run, reader->source->text + begin, reader->at - begin);
	}
	name = reader_identifier(reader);
	if (!name)
		reader_fail_expression(reader, reader->at);
	return string_text(reader->run, name);
}

static void read_member(struct hcl_reader *reader, struct value object)
{
	struct value key = read_key(reader);

	reader_skip_spaces(reader);
	if (!reader_take(reader, '=') && !reader_take(reader, ':'))
		reader_fail(reader, reader->at, "= or : is missing behind the object's key");
	reader_skip_blanks(reader);
	map_set(reader->run, object, key, reader_value(reader));
	reader_skip_spaces(reader);
	if (reader_take(reader, ',') || reader_peek(reader, 0) == '\n' || reader_peek(reader, 0) == '}' ||
		reader_ended(reader))
		return;
	reader_fail(reader, reader->at, "a comma, a new line or } is missing");
}

static struct value read_object(struct hcl_reader *reader)
{
	struct value object = map_new(reader->run, 0);
	size_t begin = reader->at++;

	for (;;) {
		reader_skip_blanks(reader);
		if (reader_take(reader, '}'))
			return object;
		if (reader_ended(reader))
			reader_fail(reader, begin, "the object is not closed");
		read_member(reader, object);
	}
}

static struct value read_any(struct hcl_reader *reader)
{
	char byte = reader_peek(reader, 0);

	if (byte == '"')
		return reader_string(reader);
	if (byte == '[')
		return read_list(reader);
	if (byte == '{')
		return read_object(reader);
	if (byte == '<' && reader_peek(reader, 1) == '<')
		return reader_heredoc(reader);
	if (byte == '-' || isdigit((unsigned char)byte))
		return read_number(reader);
	if (is_letter(byte))
		return read_word(reader);
	if (reader_ended(reader) || byte == '\n')
		reader_fail(reader, reader->at, "a value is missing");
	reader_fail_expression(reader, reader->at);
}

struct value reader_value(struct hcl_reader *reader)
{
	struct value value;

	run_step(reader->run, 1);
	reader->run->at = (struct place){.source = reader->source, .offset = (uint32_t)reader->at};
	run_enter(reader->run);
	value = read_any(reader);
	run_leave(reader->run);
	reader_skip_spaces(reader);
	if (reader_peek(reader, 0) && strchr("+-*/%?.[(<>=!&|", reader_peek(reader, 0)))
		reader_fail_expression(reader, reader->at);
	return value;
}
