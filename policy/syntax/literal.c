/* SPDX-License-Identifier: MPL-2.0 */
#include "policy/syntax/literal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base.h"
#include "common/text.h"

static const uint64_t int_max = (uint64_t)INT64_MAX + 1;

/* ---- numbers ---- */

/* 16 and more for a byte that is no digit. */
static unsigned digit_value(char byte)
{
	if (byte >= '0' && byte <= '9')
		return (unsigned)(byte - '0');
	byte = (char)(byte | 0x20);
	return byte >= 'a' && byte <= 'f' ? (unsigned)(byte - 'a') + 10 : 16;
}

uint64_t literal_int(struct run *run, const struct source *source, struct span span)
{
	const char *text = source->text;
	uint32_t len = span.to - span.from, at = span.from;
	uint64_t number = 0;
	unsigned base = 10;

	if (len > 1 && text[at] == '0')
		base = (text[at + 1] | 0x20) == 'x' ? 16 : 8;
	for (at += base == 16 ? 2 : 0; at < span.to; at++) {
		unsigned digit = digit_value(text[at]);

		if (digit >= base)
			run_fail_at(run, (struct place){source, at}, "\"%c\" is no octal digit", text[at]);
		if (number > (int_max - digit) / base)
			run_fail_at(run, (struct place){source, span.from}, "the number does not fit into 64 bits");
		number = number * base + digit;
	}
	return number;
}

double literal_float(struct run *run, const struct source *source, struct span span)
{
	double number = strtod(run_copy(run, source->text + span.from, span.to - span.from), NULL);

	if (isinf(number))
		run_fail_at(run, (struct place){source, span.from}, "the number is too large");
	return number;
}

/* ---- strings ---- */

struct unescaping {
	struct run *run;
	const struct source *source;
	uint32_t at, end; /* end: of the closing quote */
	uint32_t escape;  /* of the last backslash */
	char *bytes;
	uint32_t len;
};

static _Noreturn void fail_escape(const struct unescaping *string, const char *problem)
{
	run_fail_at(string->run, (struct place){string->source, string->escape}, "%s", problem);
}

/* Reads exactly `count` digits of a base. */
static uint32_t escape_number(struct unescaping *string, unsigned base, unsigned count)
{
	uint32_t number = 0;

	for (unsigned i = 0; i < count; i++, string->at++) {
		unsigned digit = string->at < string->end ? digit_value(string->source->text[string->at]) : 16;

		if (digit >= base)
			fail_escape(string, "the escape sequence has too few digits");
		number = number * base + digit;
	}
	return number;
}

static void unescape_byte(struct unescaping *string, unsigned base, unsigned count)
{
	uint32_t number = escape_number(string, base, count);

	if (number > 0xff)
		fail_escape(string, "the escape sequence is larger than a byte");
	string->bytes[string->len++] = (char)number;
}

static void unescape_character(struct unescaping *string, unsigned count)
{
	size_t len = utf8_encode(escape_number(string, 16, count), string->bytes + string->len);

	if (len == 0)
		fail_escape(string, "the escape sequence is no character");
	string->len += (uint32_t)len;
}

static bool unescape_number(struct unescaping *string, char kind)
{
	switch (kind) {
	case 'x':
		unescape_byte(string, 16, 2);
		return true;
	case 'u':
		unescape_character(string, 4);
		return true;
	case 'U':
		unescape_character(string, 8);
		return true;
	default:
		return false;
	}
}

/* At the byte behind a backslash. */
static void unescape(struct unescaping *string)
{
	static const char letters[] = "abfnrtv\\\"", meanings[] = "\a\b\f\n\r\t\v\\\"";
	char kind = string->source->text[string->at];
	const char *letter = kind ? strchr(letters, kind) : NULL;

	if (kind >= '0' && kind <= '7') {
		unescape_byte(string, 8, 3);
		return;
	}
	string->at++;
	if (letter)
		string->bytes[string->len++] = meanings[letter - letters];
	else if (!unescape_number(string, kind))
		fail_escape(string, "the escape sequence is not known");
}

struct word literal_string(struct run *run, const struct source *source, struct span span)
{
	uint32_t len = span.to - span.from - 2;
	struct unescaping string = {.run = run, .source = source, .at = span.from + 1, .end = span.to - 1};

	if (!memchr(source->text + string.at, '\\', len))
		return (struct word){source->text + string.at, len};
	string.bytes = run_alloc(run, len + UTF8_MAX, 1);
	while (string.at < string.end) {
		char byte = source->text[string.at++];

		string.escape = string.at - 1;
		if (byte == '\\')
			unescape(&string);
		else
			string.bytes[string.len++] = byte;
	}
	return (struct word){string.bytes, string.len};
}

struct word literal_raw_string(const struct source *source, struct span span)
{
	return (struct word){source->text + span.from + 1, span.to - span.from - 2};
}
