/* SPDX-License-Identifier: MPL-2.0 */
#include "policy/syntax/lexer.h"

#include <string.h>

#include "common/base.h"
#include "common/text.h"
#include "policy/syntax/character.h"
#include "policy/syntax/comment.h"

enum token_class { CLASS_PSEUDO, CLASS_KEYWORD, CLASS_SIGN };

#define PSEUDO(name, text)             {text, sizeof(text) - 1, CLASS_PSEUDO, false},
#define KEYWORD(name, text, ends_line) {text, sizeof(text) - 1, CLASS_KEYWORD, ends_line},
#define SIGN(name, text, ends_line)    {text, sizeof(text) - 1, CLASS_SIGN, ends_line},
static const struct token_row {
	const char *text;
	uint8_t len;
	enum token_class class;
	bool ends_line;
} rows[] = {
#include "policy/syntax/tokens.def"
};
#undef PSEUDO
#undef KEYWORD
#undef SIGN

static _Noreturn void fail_from(const struct lexer *lexer, uint32_t offset, const char *problem)
{
	run_fail_at(lexer->run, (struct place){lexer->source, offset}, "%s", problem);
}

static char byte_at(const struct lexer *lexer, uint32_t at)
{
	return at < lexer->source->len ? lexer->source->text[at] : '\0';
}

static bool is_digit_byte(char byte)
{
	return byte >= '0' && byte <= '9';
}

void lexer_init(struct lexer *lexer, struct run *run, const struct source *source)
{
	static const char mark[] = "\xef\xbb\xbf";

	*lexer = (struct lexer){.run = run, .source = source, .lines = true};
	if (source->len > MAX_SOURCE)
		run_fail_at(run, (struct place){source, 0}, "the file is longer than %d bytes", MAX_SOURCE);
	if (source->len >= sizeof(mark) - 1 && memcmp(source->text, mark, sizeof(mark) - 1) == 0)
		lexer->at = sizeof(mark) - 1;
}

/* ---- the scanners: each starts at lexer->at and returns the end of its token ---- */

static uint32_t string_end(const struct lexer *lexer)
{
	uint32_t at = lexer->at + 1;

	for (; at < lexer->source->len && byte_at(lexer, at) != '\n'; at++) {
		if (byte_at(lexer, at) == '"')
			return at + 1;
		if (byte_at(lexer, at) == '\\' && at + 1 < lexer->source->len && byte_at(lexer, at + 1) != '\n')
			at++;
	}
	fail_from(lexer, lexer->at, "the string is not closed on its line");
}

static uint32_t raw_string_end(const struct lexer *lexer)
{
	const char *text = lexer->source->text;
	const char *end = memchr(text + lexer->at + 1, '`', lexer->source->len - lexer->at - 1);

	if (!end)
		fail_from(lexer, lexer->at, "the raw string is not closed");
	return (uint32_t)(end - text) + 1;
}

static uint32_t digits_end(const struct lexer *lexer, uint32_t at)
{
	while (is_digit_byte(byte_at(lexer, at)))
		at++;
	return at;
}

static bool is_hex_byte(char byte)
{
	return is_digit_byte(byte) || (byte >= 'a' && byte <= 'f') || (byte >= 'A' && byte <= 'F');
}

/* The end of the exponent at `at`, or `at` if there is none. */
static uint32_t exponent_end(const struct lexer *lexer, uint32_t at)
{
	uint32_t digits = at + 1;

	if (byte_at(lexer, at) != 'e' && byte_at(lexer, at) != 'E')
		return at;
	if (byte_at(lexer, digits) == '+' || byte_at(lexer, digits) == '-')
		digits++;
	return is_digit_byte(byte_at(lexer, digits)) ? digits_end(lexer, digits) : at;
}

static uint32_t hex_end(const struct lexer *lexer)
{
	uint32_t at = lexer->at + 2;

	while (is_hex_byte(byte_at(lexer, at)))
		at++;
	if (at == lexer->at + 2)
		fail_from(lexer, lexer->at, "the number has no digits after 0x");
	return at;
}

static uint32_t number_end(const struct lexer *lexer, enum token_kind *ret_kind)
{
	uint32_t whole, at;

	*ret_kind = TOKEN_INT;
	if (byte_at(lexer, lexer->at) == '0' && (byte_at(lexer, lexer->at + 1) | 0x20) == 'x')
		return hex_end(lexer);
	whole = at = digits_end(lexer, lexer->at);
	if (byte_at(lexer, at) == '.')
		at = digits_end(lexer, at + 1);
	at = exponent_end(lexer, at);
	if (at > whole)
		*ret_kind = TOKEN_FLOAT;
	return at;
}

static bool starts_number(const struct lexer *lexer)
{
	uint32_t at = lexer->at;

	if (byte_at(lexer, at) == '.' && lexer->last_kind != TOKEN_IDENTIFIER)
		at++;
	return is_digit_byte(byte_at(lexer, at));
}

static enum token_kind find_kind(const struct lexer *lexer, enum token_class class, uint32_t len)
{
	const char *text = lexer->source->text + lexer->at;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct token_row *row = &rows[i];
		bool fits = class == CLASS_SIGN ? row->len <= len : row->len == len;

		if (fits && row->text[0] == text[0] && row->class == class && memcmp(row->text, text, row->len) == 0)
			return (enum token_kind)i;
	}
	return TOKEN_END;
}

static _Noreturn void fail_character(const struct lexer *lexer)
{
	const char *bytes = lexer->source->text + lexer->at;
	uint32_t code;
	size_t len = utf8_decode(bytes, lexer->source->len - lexer->at, &code);
	struct place place = {lexer->source, lexer->at};

	if (len == 0)
		run_fail_at(lexer->run, place, "the byte %02x is not UTF-8", (unsigned)(uint8_t)*bytes);
	if (code < ' ' || code == 0x7f)
		run_fail_at(lexer->run, place, "the character U+%04X is not allowed here", (unsigned)code);
	run_fail_at(lexer->run, place, "the character \"%.*s\" is not allowed here", (int)len, bytes);
}

static uint32_t word_end(const struct lexer *lexer, uint32_t len, enum token_kind *ret_kind)
{
	*ret_kind = lexer->last_kind == TOKEN_DOT ? TOKEN_END : find_kind(lexer, CLASS_KEYWORD, len);
	if (*ret_kind == TOKEN_END)
		*ret_kind = TOKEN_IDENTIFIER;
	return lexer->at + len;
}

static uint32_t sign_end(const struct lexer *lexer, enum token_kind *ret_kind)
{
	*ret_kind = find_kind(lexer, CLASS_SIGN, (uint32_t)(lexer->source->len - lexer->at));
	if (*ret_kind == TOKEN_END)
		fail_character(lexer);
	return lexer->at + rows[*ret_kind].len;
}

static uint32_t token_end(const struct lexer *lexer, enum token_kind *ret_kind)
{
	const char *bytes = lexer->source->text + lexer->at;
	size_t word = identifier_len(bytes, lexer->source->len - lexer->at);

	if (word > 0)
		return word_end(lexer, (uint32_t)word, ret_kind);
	if (starts_number(lexer)) {
		uint32_t end = number_end(lexer, ret_kind);

		if (identifier_len(lexer->source->text + end, lexer->source->len - end) > 0)
			fail_from(lexer, lexer->at, "the number is followed by a letter");
		return end;
	}
	if (*bytes == '"' || *bytes == '`') {
		*ret_kind = *bytes == '"' ? TOKEN_STRING : TOKEN_RAW_STRING;
		return *bytes == '"' ? string_end(lexer) : raw_string_end(lexer);
	}
	return sign_end(lexer, ret_kind);
}

/* ---- tokens ---- */

static bool kind_ends_line(enum token_kind kind)
{
	return (kind >= TOKEN_IDENTIFIER && kind <= TOKEN_RAW_STRING) || rows[kind].ends_line;
}

/* True if the token behind the blank is one that continues the line before. */
static bool continues(const struct lexer *lexer, uint32_t at)
{
	return byte_at(lexer, at) == '.' && !is_digit_byte(byte_at(lexer, at + 1));
}

/* True if the statement ends before the blank that ends at blank->end. */
static bool statement_ends(const struct lexer *lexer, const struct blank *blank)
{
	if (!lexer->ends_line || !lexer->lines)
		return false;
	if (blank->end >= lexer->source->len)
		return true;
	return blank->has_newline && !continues(lexer, blank->end);
}

static struct token made(struct lexer *lexer, enum token_kind kind, struct span span)
{
	lexer->last_kind = kind;
	lexer->ends_line = kind_ends_line(kind);
	return (struct token){.kind = kind, .span = span};
}

struct token lexer_next(struct lexer *lexer)
{
	struct blank blank = blank_skip(lexer->run, lexer->source, lexer->at);
	enum token_kind kind;
	struct token token;
	uint32_t end;

	if (statement_ends(lexer, &blank))
		return made(lexer, TOKEN_NEWLINE, (struct span){lexer->at, lexer->at});
	lexer->at = blank.end;
	if (lexer->at >= lexer->source->len)
		return made(lexer, TOKEN_END, (struct span){lexer->at, lexer->at});
	end = token_end(lexer, &kind);
	run_step(lexer->run, 1 + (end - lexer->at) / 64);
	token = made(lexer, kind, (struct span){lexer->at, end});
	token.comment = blank.comment;
	lexer->at = end;
	return token;
}

const char *token_kind_text(struct run *run, enum token_kind kind)
{
	return rows[kind].class == CLASS_PSEUDO ? rows[kind].text : run_text(run, "\"%s\"", rows[kind].text);
}

const char *token_text(struct run *run, const struct source *source, struct token token)
{
	enum { SHOWN = 40 };
	uint32_t len = token.span.to - token.span.from;
	const char *text = source->text + token.span.from;

	if (token.kind == TOKEN_END || token.kind == TOKEN_NEWLINE)
		return rows[token.kind].text;
	if (token.kind == TOKEN_STRING || token.kind == TOKEN_RAW_STRING)
		return "a string";
	return run_text(run, "\"%.*s\"", len < SHOWN ? (int)len : SHOWN, text);
}
