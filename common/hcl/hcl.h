/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_HCL_HCL_H
#define COMMON_HCL_HCL_H

/*
 * Reads HCL (*.tf, policies.hcl, sentinel.hcl) item by item:
 *
 *	struct hcl_reader reader = hcl_reader(text, len);
 *	struct hcl_item item;
 *
 *	while (hcl_next(&reader, NULL, &item))
 *		if (!(item.block ? hcl_skip_block(&reader) : hcl_skip_value(&reader)) || !hcl_end(&reader, &item))
 *			break;
 *	if (hcl_failed(&reader)) ...
 *
 * The text is hostile. The reader allocates nothing, and brackets that it skips are nested at most HCL_DEPTH deep. A
 * caller that reads nested blocks or values itself limits their depth. Functions return false at an error, of which
 * the first is kept.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HCL_LABELS = 2, HCL_DEPTH = 64 };

#define HCL_EXPRESSION "an expression is not possible in a configuration, only a literal value"

struct hcl_error {
	size_t offset;
	char message[256]; /* lower case, no full stop */
};

struct hcl_reader {
	const char *text; /* not terminated */
	size_t len, at;
	bool literals;  /* set by the caller: an expression is an error */
	unsigned depth; /* of the brackets that are being skipped */
	struct hcl_error error;
};

/* A name without quotes, a quoted string or a heredoc. */
struct hcl_text {
	enum { HCL_NAME, HCL_QUOTED, HCL_HEREDOC } kind;
	size_t begin, end; /* of what is between its marks */
	size_t indent;     /* HCL_HEREDOC: the spaces to remove from each line */
	bool template;     /* it has an expression: not with reader.literals */
};

/* An attribute or a block. */
struct hcl_item {
	size_t begin;
	struct hcl_text name;
	bool block;
	struct hcl_text labels[HCL_LABELS];
	unsigned label_count;
};

/* At the text's beginning, behind a byte order mark. */
struct hcl_reader hcl_reader(const char *text, size_t len);
/* Sets the error unless there is one. Returns false. */
bool hcl_fail(struct hcl_reader *reader, size_t offset, const char *format, ...) __attribute__((format(printf, 3, 4)));
static inline bool hcl_failed(const struct hcl_reader *reader)
{
	return reader->error.message[0] != '\0';
}
/* The line of the error, from 1. */
size_t hcl_error_line(const struct hcl_reader *reader);

/* ---- items ---- */

/* Moves to the value of the body's next attribute, or behind the { of its next block. False at an error or the body's
 * end: behind the } of the block `of`, or at the text's end if it is NULL. */
bool hcl_next(struct hcl_reader *reader, const struct hcl_item *of, struct hcl_item *ret_item);
/* Moves behind what separates the item from the next one. */
bool hcl_end(struct hcl_reader *reader, const struct hcl_item *item);
/* At what separates an item from the next one. */
bool hcl_at_end(const struct hcl_reader *reader);
/* Moves behind the value of an attribute, which may be an expression. */
bool hcl_skip_value(struct hcl_reader *reader);
/* Moves behind the } of the block behind whose { the position is. */
bool hcl_skip_block(struct hcl_reader *reader);

/* ---- tokens ---- */

/* The byte at that distance, or 0 behind the end. */
static inline char hcl_peek(const struct hcl_reader *reader, size_t ahead)
{
	return reader->at + ahead < reader->len ? reader->text[reader->at + ahead] : '\0';
}
static inline bool hcl_ended(const struct hcl_reader *reader)
{
	return reader->at >= reader->len;
}
static inline bool hcl_take(struct hcl_reader *reader, char byte)
{
	if (hcl_ended(reader) || hcl_peek(reader, 0) != byte)
		return false;
	reader->at++;
	return true;
}
/* Skips spaces, and comments that end on the same line. */
bool hcl_skip_spaces(struct hcl_reader *reader);
/* Skips spaces, line ends and comments. */
bool hcl_skip_blanks(struct hcl_reader *reader);
/* Moves behind the } of the template that begins here. */
bool hcl_skip_template(struct hcl_reader *reader);
/* Whether a name begins with the byte. */
bool hcl_is_letter(char byte);
/* The name here. False without an error if there is none. */
bool hcl_name(struct hcl_reader *reader, struct hcl_text *ret_name);
/* The quoted string that begins here. */
bool hcl_string(struct hcl_reader *reader, struct hcl_text *ret_text);
/* The heredoc that begins here, up to its closing marker. */
bool hcl_heredoc(struct hcl_reader *reader, struct hcl_text *ret_text);
/* Writes the bytes that the text stands for. `out` has room for end - begin bytes. Returns how many there are. */
size_t hcl_text_bytes(const struct hcl_reader *reader, const struct hcl_text *text, char *out);
/* Whether the text is the word, byte by byte. */
bool hcl_text_is(const struct hcl_reader *reader, const struct hcl_text *text, const char *word);

#endif
