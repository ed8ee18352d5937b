/* SPDX-License-Identifier: MPL-2.0 */
#include "policy/imports/http/answer.h"

#include <string.h>

/* Each word of the name begins with a capital letter: "content-TYPE" is Content-Type. */
static struct value header_name(struct run *run, const char *name, size_t len)
{
	char *canonical = run_copy(run, name, len);
	bool begins = true;

	for (size_t i = 0; i < len; i++) {
		char c = canonical[i];

		if (begins && c >= 'a' && c <= 'z')
			canonical[i] = (char)(c - 'a' + 'A');
		else if (!begins && c >= 'A' && c <= 'Z')
			canonical[i] = (char)(c - 'A' + 'a');
		begins = c == '-';
	}
	return string_borrow(run, canonical, len);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Leaves out lines that are no header, such as the continuation of one. */
static void add_header(struct run *run, struct value headers, const char *line, size_t len)
{
	const char *colon = memchr(line, ':', len);
	struct value name, value, before;
	size_t begin;

	if (!colon || colon == line || is_blank(*line))
		return;
	name = header_name(run, line, (size_t)(colon - line));
	begin = (size_t)(colon - line) + 1;
	while (begin < len && is_blank(line[begin]))
		begin++;
	value = string_new(run, line + begin, len - begin);
	if (map_get(run, headers, name, &before))
		value = string_concat(run, string_concat(run, before, string_text(run, ", ")), value);
	map_set(run, headers, name, value);
}

static struct value headers_value(struct run *run, const struct buf *lines)
{
	struct value headers = map_new(run, 16);
	const char *at = buf_str(lines), *end = at + lines->len;

	run_step_bytes(run, lines->len);
	while (at < end) {
		const char *line_end = memchr(at, '\n', (size_t)(end - at));

		run_step(run, 1);
		if (!line_end)
			line_end = end;
		add_header(run, headers, at, (size_t)(line_end - at));
		at = line_end + 1;
	}
	return headers;
}

struct value answer_value(struct run *run, const struct http_answer *answer)
{
	struct value map = map_new(run, 4);

	run_step_bytes(run, answer->body.len);
	map_set_text(run, map, "status_code", value_int(answer->status));
	map_set_text(run, map, "headers", headers_value(run, &answer->headers));
	map_set_text(run, map, "body", string_new(run, buf_str(&answer->body), answer->body.len));
	return map;
}
