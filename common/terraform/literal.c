/* SPDX-License-Identifier: MPL-2.0 */
#include "common/terraform/literal.h"

#include <string.h>

/* The number of leading bytes that need no escapes, which are nearly all. */
static size_t plain_len(const char *text, size_t len)
{
	size_t i = 0;

	while (i < len && (unsigned char)text[i] >= ' ' && !strchr("\"\\\x7f$%", text[i]))
		i++;
	return i;
}

static int write_special(struct buf *out, char byte)
{
	static const char bytes[] = "\n\r\t\"\\", names[] = "nrt\"\\";
	const char *special = byte ? strchr(bytes, byte) : NULL;

	if (special)
		return buf_printf(out, "\\%c", names[special - bytes]);
	if (byte == '$' || byte == '%')
		return buf_append(out, &byte, 1);
	return buf_printf(out, "\\u%04x", (unsigned char)byte);
}

static int write_text(struct buf *out, const char *text, size_t len, enum literal kind)
{
	if (buf_text(out, "\"") < 0)
		return -1;
	for (size_t i = 0, plain; i < len; i++) {
		plain = plain_len(text + i, len - i);
		if (buf_append(out, text + i, plain) < 0)
			return -1;
		i += plain;
		if (i == len)
			break;
		if (write_special(out, text[i]) < 0)
			return -1;
		/* "${" begins an interpolation, and "$${" is its escaped form. */
		if (kind == LITERAL_HCL && (text[i] == '$' || text[i] == '%') && i + 1 < len && text[i + 1] == '{' &&
			buf_append(out, &text[i], 1) < 0)
			return -1;
	}
	return buf_text(out, "\"");
}

static int write_object(struct buf *out, const json_t *value, enum literal kind)
{
	const char *between = kind == LITERAL_HCL ? " = " : ": ";
	const char *separator = "", *key;
	json_t *member;

	if (buf_text(out, "{") < 0)
		return -1;
	json_object_foreach((json_t *)value, key, member)
	{
		if (buf_text(out, separator) < 0 || write_text(out, key, strlen(key), kind) < 0 ||
			buf_text(out, between) < 0 || literal_write(out, member, kind) < 0)
			return -1;
		separator = ", ";
	}
	return buf_text(out, "}");
}

static int write_array(struct buf *out, const json_t *value, enum literal kind)
{
	const char *separator = "";
	const json_t *item;
	size_t i;

	if (buf_text(out, "[") < 0)
		return -1;
	json_array_foreach(value, i, item)
	{
		if (buf_text(out, separator) < 0 || literal_write(out, item, kind) < 0)
			return -1;
		separator = ", ";
	}
	return buf_text(out, "]");
}

int literal_write(struct buf *out, const json_t *value, enum literal kind)
{
	switch (json_typeof(value)) {
	case JSON_OBJECT:
		return write_object(out, value, kind);
	case JSON_ARRAY:
		return write_array(out, value, kind);
	case JSON_STRING:
		return write_text(out, json_string_value(value), json_string_length(value), kind);
	case JSON_INTEGER:
		return buf_printf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
	case JSON_REAL:
		return buf_printf(out, "%.17g", json_real_value(value));
	case JSON_TRUE:
		return buf_text(out, "true");
	case JSON_FALSE:
		return buf_text(out, "false");
	default:
		return buf_text(out, "null");
	}
}
