/* SPDX-License-Identifier: MPL-2.0 */
/* The literals of HCL. */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base.h"
#include "policy/configuration/hcl_reader.h"

struct literal_reader reader_begin(struct run *run, const struct source *source)
{
	struct literal_reader reader = {.run = run, .source = source, .hcl = hcl_reader(source->text, source->len)};

	reader.hcl.literals = true;
	return reader;
}

void reader_check(struct literal_reader *reader)
{
	const struct hcl_error *error = &reader->hcl.error;

	if (hcl_failed(&reader->hcl))
		run_fail_at(reader->run, (struct place){.source = reader->source, .offset = (uint32_t)error->offset},
			"%s", error->message);
	run_step_bytes(reader->run, reader->hcl.at - reader->counted);
	reader->counted = reader->hcl.at;
}

void reader_fail(struct literal_reader *reader, size_t offset, const char *format, ...)
{
	char message[sizeof(reader->hcl.error.message)];
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	run_fail_at(reader->run, (struct place){.source = reader->source, .offset = (uint32_t)offset}, "%s", message);
}

void reader_fail_expression(struct literal_reader *reader, size_t offset)
{
	reader_fail(reader, offset, HCL_EXPRESSION);
}

/* ---- blanks and texts ---- */

void reader_skip_blanks(struct literal_reader *reader)
{
	hcl_skip_blanks(&reader->hcl);
	reader_check(reader);
}

static void skip_spaces(struct literal_reader *reader)
{
	hcl_skip_spaces(&reader->hcl);
	reader_check(reader);
}

static char peek(const struct literal_reader *reader)
{
	return hcl_peek(&reader->hcl, 0);
}

static bool take(struct literal_reader *reader, char byte)
{
	return hcl_take(&reader->hcl, byte);
}

struct value reader_text(const struct literal_reader *reader, const struct hcl_text *text)
{
	char *bytes = run_alloc(reader->run, text->end - text->begin + 1, 1);

	return string_borrow(reader->run, bytes, hcl_text_bytes(&reader->hcl, text, bytes));
}

const char *reader_name(struct literal_reader *reader, const struct hcl_text *text)
{
	struct value string = reader_text(reader, text);

	if (memchr(string_bytes(string), '\0', string_len(string)))
		reader_fail(reader, text->begin - (text->kind == HCL_QUOTED), "a name has a zero byte");
	return run_copy(reader->run, string_bytes(string), string_len(string));
}

static struct value read_text(
	struct literal_reader *reader, bool (*read)(struct hcl_reader *reader, struct hcl_text *ret_text))
{
	struct hcl_text text;

	read(&reader->hcl, &text);
	reader_check(reader);
	return reader_text(reader, &text);
}

/* ---- numbers and words ---- */

static size_t skip_digits(struct literal_reader *reader)
{
	size_t begin = reader->hcl.at;

	while (isdigit((unsigned char)peek(reader)))
		reader->hcl.at++;
	return reader->hcl.at - begin;
}

/* Skips the fraction and the exponent. True if there is one. */
static bool skip_fraction(struct literal_reader *reader)
{
	size_t begin = reader->hcl.at;

	if (take(reader, '.') && skip_digits(reader) == 0)
		reader_fail(reader, begin, "a digit is missing behind the point");
	if (take(reader, 'e') || take(reader, 'E')) {
		if (!take(reader, '-'))
			take(reader, '+');
		if (skip_digits(reader) == 0)
			reader_fail(reader, begin, "the exponent has no digits");
	}
	return reader->hcl.at > begin;
}

static struct value read_number(struct literal_reader *reader)
{
	size_t begin = reader->hcl.at;
	const char *text;
	long long number;
	bool fraction;

	take(reader, '-');
	if (skip_digits(reader) == 0)
		reader_fail_expression(reader, begin);
	fraction = skip_fraction(reader);
	text = run_copy(reader->run, reader->source->text + begin, reader->hcl.at - begin);
	errno = 0;
	number = strtoll(text, NULL, 10);
	return fraction || errno == ERANGE ? value_float(strtod(text, NULL)) : value_int(number);
}

static struct value read_word(struct literal_reader *reader)
{
	size_t begin = reader->hcl.at;
	struct hcl_text name;
	const char *word = hcl_name(&reader->hcl, &name) ? reader_name(reader, &name) : "";

	if (text_equal(word, "true") || text_equal(word, "false"))
		return value_bool(*word == 't');
	if (!text_equal(word, "null"))
		reader_fail_expression(reader, begin);
	return value_null();
}

/* ---- lists and objects ---- */

static struct value read_list(struct literal_reader *reader)
{
	struct value list = list_new(reader->run, 0);
	size_t begin = reader->hcl.at++;
	bool comma = true;

	for (;;) {
		reader_skip_blanks(reader);
		if (take(reader, ']'))
			return list;
		if (hcl_ended(&reader->hcl))
			reader_fail(reader, begin, "the list is not closed");
		if (!comma)
			reader_fail(reader, reader->hcl.at, "a comma or ] is missing");
		list_push(reader->run, list, reader_value(reader));
		reader_skip_blanks(reader);
		comma = take(reader, ',');
	}
}

static struct value read_key(struct literal_reader *reader)
{
	struct hcl_text name;

	if (peek(reader) == '"')
		return read_text(reader, hcl_string);
	if (isdigit((unsigned char)peek(reader))) {
		size_t begin = reader->hcl.at;

		skip_digits(reader);
		return string_new(reader->run, reader->source->text + begin, reader->hcl.at - begin);
	}
	if (!hcl_name(&reader->hcl, &name))
		reader_fail_expression(reader, reader->hcl.at);
	return reader_text(reader, &name);
}

static void read_member(struct literal_reader *reader, struct value object)
{
	struct value key = read_key(reader);

	skip_spaces(reader);
	if (!take(reader, '=') && !take(reader, ':'))
		reader_fail(reader, reader->hcl.at, "= or : is missing behind the object's key");
	reader_skip_blanks(reader);
	map_set(reader->run, object, key, reader_value(reader));
	skip_spaces(reader);
	if (take(reader, ',') || peek(reader) == '\n' || peek(reader) == '}' || hcl_ended(&reader->hcl))
		return;
	reader_fail(reader, reader->hcl.at, "a comma, a new line or } is missing");
}

static struct value read_object(struct literal_reader *reader)
{
	struct value object = map_new(reader->run, 0);
	size_t begin = reader->hcl.at++;

	for (;;) {
		reader_skip_blanks(reader);
		if (take(reader, '}'))
			return object;
		if (hcl_ended(&reader->hcl))
			reader_fail(reader, begin, "the object is not closed");
		read_member(reader, object);
	}
}

static struct value read_any(struct literal_reader *reader)
{
	char byte = peek(reader);

	if (byte == '"')
		return read_text(reader, hcl_string);
	if (byte == '[')
		return read_list(reader);
	if (byte == '{')
		return read_object(reader);
	if (byte == '<' && hcl_peek(&reader->hcl, 1) == '<')
		return read_text(reader, hcl_heredoc);
	if (byte == '-' || isdigit((unsigned char)byte))
		return read_number(reader);
	if (hcl_is_letter(byte))
		return read_word(reader);
	if (hcl_ended(&reader->hcl) || byte == '\n')
		reader_fail(reader, reader->hcl.at, "a value is missing");
	reader_fail_expression(reader, reader->hcl.at);
}

struct value reader_value(struct literal_reader *reader)
{
	struct value value;

	run_step(reader->run, 1);
	reader->run->at = (struct place){.source = reader->source, .offset = (uint32_t)reader->hcl.at};
	run_enter(reader->run);
	value = read_any(reader);
	run_leave(reader->run);
	skip_spaces(reader);
	if (peek(reader) && strchr("+-*/%?.[(<>=!&|", peek(reader)))
		reader_fail_expression(reader, reader->hcl.at);
	return value;
}
