/* SPDX-License-Identifier: MPL-2.0 */
#include "common/http/answer.h"

#include <ctype.h>
#include <string.h>

#include "common/buf.h"

/* The length of the printable UTF-8 character at `bytes`, or 0 if there is none. */
static size_t character(const char *bytes, size_t left)
{
	uint32_t code;
	size_t len = utf8_decode(bytes, left, &code);
	bool is_space = len == 1 && (code == '\n' || code == '\t' || code == '\r');

	/* U+0080 to U+009F are control characters, too. */
	return is_space || (len > 0 && code >= ' ' && (code < 0x7f || code >= 0xa0)) ? len : 0;
}

char *answer_clean(const char *bytes, size_t len, const char *secret)
{
	struct buf text = BUF_INIT(ANSWER_SHOWN * 3 + 64);
	size_t secret_len = secret ? strlen(secret) : 0;
	const char *end = bytes + ANSWER_SHOWN;

	while (len > 0 && bytes < end) {
		size_t own = character(bytes, len), used = own ? own : 1;

		if (secret_len && len >= secret_len && memcmp(bytes, secret, secret_len) == 0) {
			used = secret_len;
			buf_text(&text, "***");
		} else {
			buf_append(&text, own ? bytes : "?", used);
		}
		bytes += used;
		len -= used;
	}
	return buf_take(&text);
}

/* Splits "Retry-After: 5\r\n" into name and value. False if the line is not a header. */
static bool header_split(const char *line, size_t len, struct buf *ret_name, struct buf *ret_value)
{
	const char *colon = memchr(line, ':', len);
	const char *value = colon ? colon + 1 : NULL, *end = line + len;

	if (!colon || colon == line)
		return false;
	for (const char *c = line; c < colon; c++)
		buf_printf(ret_name, "%c", tolower((unsigned char)*c));
	while (value < end && strchr(" \t", *value))
		value++;
	while (end > value && strchr(" \t\r\n", end[-1]))
		end--;
	buf_append(ret_value, value, (size_t)(end - value));
	return true;
}

void answer_header_add(json_t *headers, const char *line, size_t len)
{
	_cleanup_(buf_release) struct buf name = BUF_INIT(len + 1), value = BUF_INIT(len + 1);
	_cleanup_(freep) char *shown_name = NULL, *shown = NULL;
	json_t *values;

	if (len > 5 && memcmp(line, "HTTP/", 5) == 0) {
		json_object_clear(headers); /* drops the headers of an interim answer */
		return;
	}
	if (len > MAX_HEADER || json_object_size(headers) >= MAX_HEADERS || !header_split(line, len, &name, &value))
		return;
	shown_name = answer_clean(buf_str(&name), name.len, NULL);
	shown = answer_clean(buf_str(&value), value.len, NULL);
	values = json_object_get(headers, shown_name);
	if (!values) {
		values = json_array();
		json_object_set_new(headers, shown_name, values);
	}
	if (json_array_size(values) < MAX_HEADERS)
		json_array_append_new(values, json_string(shown));
}
