/* SPDX-License-Identifier: MPL-2.0 */
#include <stdio.h>
#include <string.h>

#include "common/json/json.h"

/* Replaces jansson's writer, which spends most of its time on looking for cycles in arrays and objects. */

struct text {
	char *data;
	size_t len, cap;
};

static void text_room(struct text *text, size_t more)
{
	if (text->len + more <= text->cap)
		return;
	text->cap = text->cap * 2 + more;
	text->data = mem_resize(text->data, text->cap, 1);
}

static void text_put(struct text *text, const char *bytes, size_t len)
{
	text_room(text, len);
	memcpy(text->data + text->len, bytes, len);
	text->len += len;
}

static void write_escape(struct text *text, unsigned char c)
{
	static const char named[] = "\"\"\\\\\bb\ff\nn\rr\tt";
	const char *name = named;
	char escape[8];

	while (*name && (unsigned char)*name != c)
		name += 2;
	text_put(text, escape,
		(size_t)snprintf(escape, sizeof(escape), *name ? "\\%c" : "\\u%04X", *name ? name[1] : c));
}

static bool is_plain(char byte)
{
	return (unsigned char)byte >= ' ' && byte != '"' && byte != '\\';
}

static void write_string(struct text *text, const char *bytes, size_t len)
{
	size_t from = 0, i = 0;

	text_room(text, len + 2);
	text_put(text, "\"", 1);
	while (i < len) {
		while (i < len && is_plain(bytes[i]))
			i++;
		text_put(text, bytes + from, i - from);
		if (i < len)
			write_escape(text, (unsigned char)bytes[i++]);
		from = i;
	}
	text_put(text, "\"", 1);
}

static void write_integer(struct text *text, long long value)
{
	char digits[24];

	text_put(text, digits, (size_t)snprintf(digits, sizeof(digits), "%lld", value));
}

static void write_real(struct text *text, const json_t *value)
{
	char number[64];

	text_put(text, number, json_dumpb(value, number, sizeof(number), JSON_ENCODE_ANY));
}

static void write_value(struct text *text, const json_t *value);

static void write_array(struct text *text, const json_t *array)
{
	const json_t *item;
	size_t i;

	text_put(text, "[", 1);
	json_array_foreach(array, i, item)
	{
		if (i)
			text_put(text, ",", 1);
		write_value(text, item);
	}
	text_put(text, "]", 1);
}

static void write_object(struct text *text, const json_t *object)
{
	const char *before = "{", *name;
	json_t *member;

	if (!json_object_size(object))
		text_put(text, "{", 1);
	json_object_foreach((json_t *)object, name, member)
	{
		text_put(text, before, 1);
		before = ",";
		write_string(text, name, strlen(name));
		text_put(text, ":", 1);
		write_value(text, member);
	}
	text_put(text, "}", 1);
}

static void write_value(struct text *text, const json_t *value)
{
	switch (value ? json_typeof(value) : JSON_NULL) {
	case JSON_OBJECT:
		write_object(text, value);
		break;
	case JSON_ARRAY:
		write_array(text, value);
		break;
	case JSON_STRING:
		write_string(text, json_string_value(value), json_string_length(value));
		break;
	case JSON_INTEGER:
		write_integer(text, json_integer_value(value));
		break;
	case JSON_REAL:
		write_real(text, value);
		break;
	case JSON_TRUE:
		text_put(text, "true", 4);
		break;
	case JSON_FALSE:
		text_put(text, "false", 5);
		break;
	case JSON_NULL:
		text_put(text, "null", 4);
		break;
	}
}

char *json_text_len(const json_t *value, size_t *ret_len)
{
	struct text text = {NULL, 0, 0};

	text_room(&text, 256);
	write_value(&text, value);
	text_put(&text, "", 1);
	*ret_len = text.len - 1;
	return text.data;
}

char *json_text(const json_t *value)
{
	size_t len;

	return json_text_len(value, &len);
}
