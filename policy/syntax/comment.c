/* SPDX-License-Identifier: MPL-2.0 */
#include "policy/syntax/comment.h"

#include <string.h>

static const char byte_order_mark[] = "\xef\xbb\xbf";

static bool starts_with(const struct source *source, uint32_t at, const char *text)
{
	size_t len = strlen(text);

	return source->len - at >= len && memcmp(source->text + at, text, len) == 0;
}

static bool is_file_begin(const struct source *source, uint32_t at)
{
	return at == 0 || (at == sizeof(byte_order_mark) - 1 && starts_with(source, 0, byte_order_mark));
}

static bool is_space(char byte)
{
	return byte == ' ' || byte == '\t' || byte == '\r';
}

static uint32_t line_end(const struct source *source, uint32_t at)
{
	const char *end = memchr(source->text + at, '\n', source->len - at);

	return end ? (uint32_t)(end - source->text) : (uint32_t)source->len;
}

static uint32_t block_end(struct run *run, const struct source *source, uint32_t at)
{
	const char *end = memmem(source->text + at + 2, source->len - at - 2, "*/", 2);

	if (!end)
		run_fail_at(run, (struct place){source, at}, "the comment is not closed");
	return (uint32_t)(end - source->text) + 2;
}

/* The end of the comment that begins at `at`; `at` if none does. */
static uint32_t comment_end(struct run *run, const struct source *source, uint32_t at)
{
	if (starts_with(source, at, "#") || starts_with(source, at, "//"))
		return line_end(source, at);
	if (starts_with(source, at, "/*"))
		return block_end(run, source, at);
	return at;
}

/* ---- blanks ---- */

struct skipping {
	struct blank blank;
	bool line_start;   /* no token stands before on this line */
	unsigned newlines; /* since the last comment */
};

static void skip_newline(struct skipping *skipping)
{
	skipping->blank.end++;
	skipping->blank.has_newline = true;
	skipping->line_start = true;
	skipping->newlines++;
}

static void skip_comment(struct skipping *skipping, const struct source *source, uint32_t end)
{
	struct span *group = &skipping->blank.comment;
	uint32_t from = skipping->blank.end;

	if (!skipping->line_start)
		*group = (struct span){0, 0};
	else if (group->to > 0 && skipping->newlines <= 1)
		group->to = end;
	else
		*group = (struct span){from, end};
	if (memchr(source->text + from, '\n', end - from))
		skipping->blank.has_newline = true;
	skipping->newlines = 0;
	skipping->blank.end = end;
}

/* False if a token follows. */
static bool skip_one(struct run *run, const struct source *source, struct skipping *skipping)
{
	uint32_t at = skipping->blank.end, end;

	if (source->text[at] == '\n') {
		skip_newline(skipping);
		return true;
	}
	if (is_space(source->text[at])) {
		skipping->blank.end++;
		return true;
	}
	end = comment_end(run, source, at);
	if (end == at)
		return false;
	skip_comment(skipping, source, end);
	return true;
}

struct blank blank_skip(struct run *run, const struct source *source, uint32_t from)
{
	struct skipping skipping = {.blank.end = from, .line_start = is_file_begin(source, from)};

	while (skipping.blank.end < source->len && skip_one(run, source, &skipping))
		;
	run_step(run, (skipping.blank.end - from) / 64);
	if (skipping.newlines > 1)
		skipping.blank.comment = (struct span){0, 0};
	return skipping.blank;
}

/* The next comment in the span, with its marks and without its newline; span->from is then behind it. Only for spans
 * between tokens. False if there is none. */
static bool comment_next(struct run *run, const struct source *source, struct span *span, struct span *ret_comment)
{
	for (; span->from < span->to; span->from++) {
		uint32_t end = comment_end(run, source, span->from);

		if (end > span->from) {
			*ret_comment = (struct span){span->from, end};
			span->from = end;
			return true;
		}
	}
	return false;
}

/* True if the span has at most one newline. */
static bool is_adjacent(const struct source *source, uint32_t from, uint32_t to)
{
	unsigned newlines = 0;

	for (uint32_t at = from; at < to; at++)
		newlines += source->text[at] == '\n';
	return newlines <= 1;
}

struct span comment_first(struct run *run, const struct source *source)
{
	uint32_t from = starts_with(source, 0, byte_order_mark) ? sizeof(byte_order_mark) - 1 : 0;
	struct span rest = {from, blank_skip(run, source, from).end}, first = {0, 0}, comment;

	while (comment_next(run, source, &rest, &comment)) {
		if (first.to > 0 && !is_adjacent(source, first.to, comment.from))
			break;
		if (first.to == 0)
			first = comment;
		first.to = comment.to;
	}
	return first;
}

/* ---- texts ---- */

struct text {
	char *bytes;
	uint32_t len;
};

static struct span trimmed(const struct source *source, struct span span)
{
	while (span.from < span.to && is_space(source->text[span.from]))
		span.from++;
	while (span.to > span.from && is_space(source->text[span.to - 1]))
		span.to--;
	return span;
}

/* Skips every `mark` at the beginning. */
static struct span unmarked(const struct source *source, struct span span, char mark)
{
	while (span.from < span.to && source->text[span.from] == mark)
		span.from++;
	return trimmed(source, span);
}

/* An empty line at the beginning is dropped. */
static void add_line(struct text *text, const struct source *source, struct span line)
{
	uint32_t len = line.to - line.from;

	if (text->len == 0 && len == 0)
		return;
	memcpy(text->bytes + text->len, source->text + line.from, len);
	text->len += len;
	text->bytes[text->len++] = '\n';
}

static void add_block(struct text *text, const struct source *source, struct span block)
{
	struct span inside = {block.from + 2, block.to - 2};

	while (inside.from < inside.to) {
		uint32_t end = line_end(source, inside.from);
		struct span line = {inside.from, end < inside.to ? end : inside.to};

		add_line(text, source, unmarked(source, trimmed(source, line), '*'));
		inside.from = line.to + 1;
	}
}

static void add_comment(struct text *text, const struct source *source, struct span comment)
{
	if (starts_with(source, comment.from, "/*"))
		add_block(text, source, comment);
	else
		add_line(text, source, unmarked(source, comment, source->text[comment.from]));
}

struct word comment_text(struct run *run, const struct source *source, struct span comments)
{
	/* Each line loses its mark, which is as long as the newline that it gets. */
	struct text text = {run_alloc(run, comments.to - comments.from + 1, 1), 0};
	struct span comment;

	while (comment_next(run, source, &comments, &comment))
		add_comment(&text, source, comment);
	while (text.len > 0 && text.bytes[text.len - 1] == '\n')
		text.len--;
	return (struct word){text.bytes, text.len};
}
