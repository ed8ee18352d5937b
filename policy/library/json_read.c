/* SPDX-License-Identifier: MPL-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "policy/library/json.h"

struct reader {
	struct run *run;
	const char *text, *at, *end;
	const char *error; /* NULL: none */
	bool of_source;    /* the text is that of run->at, whose offset follows the reader */
};

static bool refuse(struct reader *reader, const char *message)
{
	if (!reader->error)
		reader->error = message;
	return false;
}

/* The next byte, or 0 at the end. */
static char peek(const struct reader *reader)
{
	return reader->at < reader->end ? *reader->at : '\0';
}

static bool is_space(char byte)
{
	return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
}

static void skip_space(struct reader *reader)
{
	while (reader->at < reader->end && is_space(*reader->at))
		reader->at++;
}

static bool take(struct reader *reader, char byte)
{
	if (reader->at == reader->end || *reader->at != byte)
		return false;
	reader->at++;
	return true;
}

static bool is_digit(char byte)
{
	return byte >= '0' && byte <= '9';
}

/* ---- strings ---- */

static bool read_hex(struct reader *reader, uint32_t *ret_code)
{
	uint32_t code = 0;

	if (reader->end - reader->at < 4)
		return refuse(reader, "an escape is cut");
	for (int i = 0; i < 4; i++) {
		char byte = *reader->at;

		if (is_digit(byte))
			code = 16 * code + (uint32_t)(byte - '0');
		else if ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'f')
			code = 16 * code + (uint32_t)((byte | 0x20) - 'a' + 10);
		else
			return refuse(reader, "an escape needs four hexadecimal digits");
		reader->at++;
	}
	*ret_code = code;
	return true;
}

static bool is_high(uint32_t code)
{
	return code >= 0xd800 && code <= 0xdbff;
}

/* The second half of a pair, if it follows. */
static void read_low(struct reader *reader, uint32_t *code)
{
	const char *before = reader->at;
	uint32_t low;

	if (take(reader, '\\') && take(reader, 'u') && read_hex(reader, &low) && low >= 0xdc00 && low <= 0xdfff) {
		*code = 0x10000 + ((*code - 0xd800) << 10) + (low - 0xdc00);
		return;
	}
	reader->at = before;
}

static bool read_unicode(struct reader *reader, struct output *output)
{
	char bytes[UTF8_MAX];
	uint32_t code;
	size_t len;

	if (!read_hex(reader, &code))
		return false;
	if (is_high(code))
		read_low(reader, &code);
	len = utf8_encode(code, bytes);
	if (len == 0)
		len = utf8_encode(0xfffd, bytes);
	output_add(reader->run, output, bytes, len);
	return true;
}

static bool read_escape(struct reader *reader, struct output *output)
{
	static const char escapes[256] = {['"'] = '"',
		['\\'] = '\\',
		['/'] = '/',
		['b'] = '\b',
		['f'] = '\f',
		['n'] = '\n',
		['r'] = '\r',
		['t'] = '\t'};
	const char escape = peek(reader);

	if (escape == 'u') {
		reader->at++;
		return read_unicode(reader, output);
	}
	if (escapes[(unsigned char)escape] == '\0')
		return refuse(reader, "an escape is not known");
	reader->at++;
	output_add(reader->run, output, &escapes[(unsigned char)escape], 1);
	return true;
}

static size_t plain_len(const struct reader *reader)
{
	const char *at = reader->at;

	while (at < reader->end && *at != '"' && *at != '\\' && (unsigned char)*at >= 0x20)
		at++;
	return (size_t)(at - reader->at);
}

static bool read_escaped(struct reader *reader, struct output *output, struct value *ret_string)
{
	while (!take(reader, '"')) {
		size_t len = plain_len(reader);

		output_add(reader->run, output, reader->at, len);
		reader->at += len;
		if (reader->at == reader->end)
			return refuse(reader, "a string is not closed");
		if ((unsigned char)*reader->at < 0x20)
			return refuse(reader, "a control character stands in a string");
		if (take(reader, '\\') && !read_escape(reader, output))
			return false;
	}
	*ret_string = string_borrow(reader->run, output->bytes, output->len);
	return true;
}

/* After the opening quote. */
static bool read_string(struct reader *reader, struct value *ret_string)
{
	struct output output = {0};
	size_t len = plain_len(reader);

	run_step_bytes(reader->run, len);
	if (reader->at + len < reader->end && reader->at[len] == '"') {
		if (len > MAX_STRING)
			run_fail_limit(reader->run, "a string's length, 256 MiB,", NULL);
		*ret_string = string_borrow(reader->run, reader->at, len);
		reader->at += len + 1;
		return true;
	}
	return read_escaped(reader, &output, ret_string);
}

/* ---- numbers ---- */

static bool skip_digits(struct reader *reader)
{
	const char *begin = reader->at;

	while (is_digit(peek(reader)))
		reader->at++;
	return reader->at > begin || refuse(reader, "a digit is missing");
}

/* Moves behind the number; *ret_whole: it has neither a fraction nor an exponent. */
static bool skip_number(struct reader *reader, bool *ret_whole)
{
	const char *begin;

	*ret_whole = true;
	take(reader, '-');
	begin = reader->at;
	if (!skip_digits(reader))
		return false;
	if (*begin == '0' && reader->at - begin > 1)
		return refuse(reader, "a number begins with 0");
	if (take(reader, '.')) {
		*ret_whole = false;
		if (!skip_digits(reader))
			return false;
	}
	if (take(reader, 'e') || take(reader, 'E')) {
		*ret_whole = false;
		if (!take(reader, '+'))
			take(reader, '-');
		return skip_digits(reader);
	}
	return true;
}

/* A terminated copy: strtod must not read on. */
static bool number_value(struct reader *reader, const char *begin, bool whole, struct value *ret_value)
{
	char *text = run_copy(reader->run, begin, (size_t)(reader->at - begin));
	long long number;
	double real;

	errno = 0;
	number = strtoll(text, NULL, 10);
	if (whole && errno == 0) {
		*ret_value = value_int(number);
		return true;
	}
	errno = 0;
	real = strtod(text, NULL);
	if (errno == ERANGE && (real > 1 || real < -1))
		return refuse(reader, "a number is too large");
	*ret_value = value_float(real);
	return true;
}

static bool read_number(struct reader *reader, struct value *ret_value)
{
	const char *begin = reader->at;
	bool whole;

	if (!skip_number(reader, &whole))
		return false;
	run_step_bytes(reader->run, (size_t)(reader->at - begin));
	return number_value(reader, begin, whole, ret_value);
}

/* ---- values ---- */

static bool read_value(struct reader *reader, struct value *ret_value);

static bool read_list(struct reader *reader, struct value *ret_value)
{
	struct value list = list_new(reader->run, 0), element = value_null();

	*ret_value = list;
	skip_space(reader);
	if (take(reader, ']'))
		return true;
	do {
		if (!read_value(reader, &element))
			return false;
		list_push(reader->run, list, element);
		skip_space(reader);
	} while (take(reader, ','));
	return take(reader, ']') || refuse(reader, "a comma or ] is missing");
}

static bool read_member(struct reader *reader, struct value map)
{
	struct value name = value_null(), element = value_null();

	skip_space(reader);
	if (!take(reader, '"'))
		return refuse(reader, "a member's name is missing");
	if (!read_string(reader, &name))
		return false;
	skip_space(reader);
	if (!take(reader, ':'))
		return refuse(reader, "a colon is missing");
	if (!read_value(reader, &element))
		return false;
	map_set(reader->run, map, name, element);
	skip_space(reader);
	return true;
}

static bool read_map(struct reader *reader, struct value *ret_value)
{
	struct value map = map_new(reader->run, 0);

	*ret_value = map;
	skip_space(reader);
	if (take(reader, '}'))
		return true;
	do {
		if (!read_member(reader, map))
			return false;
	} while (take(reader, ','));
	return take(reader, '}') || refuse(reader, "a comma or } is missing");
}

static bool read_word(struct reader *reader, const char *word, struct value value, struct value *ret_value)
{
	size_t len = strlen(word);

	if ((size_t)(reader->end - reader->at) < len || memcmp(reader->at, word, len) != 0)
		return refuse(reader, "a value is missing");
	reader->at += len;
	*ret_value = value;
	return true;
}

static bool read_any(struct reader *reader, struct value *ret_value)
{
	switch (peek(reader)) {
	case '{':
		reader->at++;
		return read_map(reader, ret_value);
	case '[':
		reader->at++;
		return read_list(reader, ret_value);
	case '"':
		reader->at++;
		return read_string(reader, ret_value);
	case 't':
		return read_word(reader, "true", value_bool(true), ret_value);
	case 'f':
		return read_word(reader, "false", value_bool(false), ret_value);
	case 'n':
		return read_word(reader, "null", value_null(), ret_value);
	default:
		if (peek(reader) != '-' && !is_digit(peek(reader)))
			return refuse(reader, "a value is missing");
		return read_number(reader, ret_value);
	}
}

static bool read_value(struct reader *reader, struct value *ret_value)
{
	bool read;

	skip_space(reader);
	if (reader->of_source)
		reader->run->at.offset = (uint32_t)(reader->at - reader->text);
	run_step(reader->run, 1);
	run_enter(reader->run);
	read = read_any(reader, ret_value);
	run_leave(reader->run);
	return read;
}

bool json_read(struct run *run, const char *text, size_t len, struct value *ret_value, struct json_error *ret_error)
{
	struct reader reader = {
		.run = run,
		.text = text,
		.at = text,
		.end = text + len,
		.of_source = run->at.source && run->at.source->text == text,
	};
	struct value value;

	run_step_bytes(run, len);
	if (read_value(&reader, &value)) {
		skip_space(&reader);
		if (reader.at == reader.end) {
			*ret_value = value;
			return true;
		}
		refuse(&reader, "something follows the value");
	}
	*ret_error = (struct json_error){.message = reader.error, .offset = (size_t)(reader.at - text)};
	return false;
}

bool json_read_file(
	struct run *run, const char *text, size_t len, struct value *ret_value, struct json_error *ret_error)
{
	static const char mark[] = "\xef\xbb\xbf";
	size_t skipped = len >= sizeof(mark) - 1 && memcmp(text, mark, sizeof(mark) - 1) == 0 ? sizeof(mark) - 1 : 0;

	if (json_read(run, text + skipped, len - skipped, ret_value, ret_error))
		return true;
	ret_error->offset += skipped;
	return false;
}
