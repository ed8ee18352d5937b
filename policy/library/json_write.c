/* SPDX-License-Identifier: MPL-2.0 */
#include <math.h>
#include <stdio.h>

#include "common/text.h"
#include "policy/library/json.h"

static bool is_written(struct value value)
{
	return !value_is(value, VALUE_UNDEFINED) && value.type <= VALUE_MAP;
}

static const char *const escapes[128] = {
	['"'] = "\\\"",
	['\\'] = "\\\\",
	['\b'] = "\\b",
	['\f'] = "\\f",
	['\n'] = "\\n",
	['\r'] = "\\r",
	['\t'] = "\\t",
};

static bool is_plain(unsigned char byte)
{
	return byte >= 0x20 && byte < 0x80 && !escapes[byte];
}

/* Writes the character that can't be written as it is, and returns its length. */
static size_t write_special(struct run *run, struct output *output, const char *bytes, size_t len)
{
	const unsigned char byte = (unsigned char)bytes[0];
	char escape[8];
	uint32_t code;
	size_t size = utf8_decode(bytes, len, &code);

	if (size > 1) {
		output_add(run, output, bytes, size);
		return size;
	}
	if (size == 0)
		output_text(run, output, "\xef\xbf\xbd");
	else if (escapes[byte])
		output_text(run, output, escapes[byte]);
	else {
		snprintf(escape, sizeof(escape), "\\u%04x", byte);
		output_text(run, output, escape);
	}
	return 1;
}

static void write_string(struct run *run, struct output *output, struct value string)
{
	const char *bytes = string_bytes(string);
	size_t len = string_len(string), at = 0;

	output_add(run, output, "\"", 1);
	while (at < len) {
		size_t begin = at;

		while (at < len && is_plain((unsigned char)bytes[at]))
			at++;
		output_add(run, output, bytes + begin, at - begin);
		if (at < len)
			at += write_special(run, output, bytes + at, len - at);
	}
	output_add(run, output, "\"", 1);
}

static void write_printed(struct run *run, struct output *output, struct value value)
{
	struct value text = value_print(run, value, VALUE_QUOTED);

	output_add(run, output, string_bytes(text), string_len(text));
}

static void write_key(struct run *run, struct output *output, struct value key)
{
	write_string(run, output, value_print(run, key, VALUE_BARE));
	output_add(run, output, ":", 1);
}

static void write_list(struct run *run, struct output *output, struct value list)
{
	struct iterator at = value_iterate(run, list);
	const char *separator = "";

	output_add(run, output, "[", 1);
	while (iterator_next(run, &at)) {
		if (!is_written(at.element))
			continue;
		output_text(run, output, separator);
		json_write(run, output, at.element);
		separator = ",";
	}
	output_add(run, output, "]", 1);
}

static void write_map(struct run *run, struct output *output, struct value map)
{
	struct iterator at = value_iterate(run, map);
	const char *separator = "";

	output_add(run, output, "{", 1);
	while (iterator_next(run, &at)) {
		if (!is_written(at.element))
			continue;
		output_text(run, output, separator);
		write_key(run, output, at.key);
		json_write(run, output, at.element);
		separator = ",";
	}
	output_add(run, output, "}", 1);
}

static void write_any(struct run *run, struct output *output, struct value value)
{
	if (value_is(value, VALUE_STRING))
		write_string(run, output, value);
	else if (value_is(value, VALUE_LIST))
		write_list(run, output, value);
	else if (value_is(value, VALUE_MAP))
		write_map(run, output, value);
	else if (value_is(value, VALUE_FLOAT) && !isfinite(value.real))
		run_fail(run, "JSON has no number for infinity and NaN");
	else
		write_printed(run, output, value);
}

bool json_write(struct run *run, struct output *output, struct value value)
{
	if (!is_written(value))
		return false;
	run_enter(run);
	write_any(run, output, value);
	run_leave(run);
	return true;
}
