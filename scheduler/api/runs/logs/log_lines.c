/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/runs/logs/log_lines.h"

#include <string.h>

#include "common/json/json.h"

static bool line_is_object(const char *line, size_t len)
{
	json_auto_t *value = len && line[0] == '{' ? json_loadb(line, len, 0, NULL) : NULL;

	return json_is_object(value);
}

/* The length of the character at `at`, or 0 for a byte that does not begin one. */
static size_t character_length(const char *at, size_t left)
{
	for (size_t len = 1; len <= 4 && len <= left; len++) {
		json_auto_t *text = json_stringn(at, len);

		if (text)
			return len;
	}
	return 0;
}

static json_t *line_text(const char *line, size_t len)
{
	_cleanup_(buf_release) struct buf clean = BUF_INIT(3 * len + 1);
	json_t *whole = json_stringn(line, len);

	if (whole)
		return whole;
	for (size_t at = 0; at < len;) {
		size_t one = character_length(line + at, len - at);

		buf_append(&clean, one ? line + at : "\xef\xbf\xbd", one ? one : 3);
		at += one ? one : 1;
	}
	return json_stringn(buf_str(&clean), clean.len);
}

static void line_add(const char *line, size_t len, struct buf *out)
{
	_cleanup_(freep) char *text = NULL;
	json_t *object;

	if (line_is_object(line, len)) {
		buf_append(out, line, len);
		buf_text(out, "\n");
		return;
	}
	object = json_object();
	json_object_set_new(object, "@message", line_text(line, len));
	text = json_text_len(object, &len);
	json_decref(object);
	buf_append(out, text, len);
	buf_text(out, "\n");
}

void log_lines_json(const char *bytes, size_t len, struct buf *out)
{
	while (len) {
		const char *end = memchr(bytes, '\n', len);
		size_t line = end ? (size_t)(end - bytes) : len, next = end ? line + 1 : len;

		if (line && bytes[line - 1] == '\r')
			line--;
		if (line)
			line_add(bytes, line, out);
		bytes += next;
		len -= next;
	}
}
