/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/policy/sentinel_config.h"

#include <string.h>

#include "common/terraform/literal.h"
#include "common/terraform/mocks.h"

static bool has_parameter(const struct policy_set *set, const char *key)
{
	const json_t *parameter;
	size_t i;

	json_array_foreach(set->parameters, i, parameter)
	{
		if (text_equal(json_string_at(parameter, "key"), key))
			return true;
	}
	return false;
}

static bool left_out(const struct policy_set *set, const json_t *block)
{
	const char *type = json_string_at(block, "type");

	return text_equal(type, "mock") || text_equal(type, "test") ||
		(text_equal(type, "param") && has_parameter(set, json_string_at(block, "label")));
}

static int write_own(const struct policy_set *set, struct buf *out)
{
	const json_t *block;
	size_t i;

	json_array_foreach(set->blocks, i, block)
	{
		size_t begin = (size_t)json_int_at(block, "begin", 0), end = (size_t)json_int_at(block, "end", 0);

		if (left_out(set, block))
			continue;
		if (buf_append(out, set->text + begin, end - begin) < 0 || buf_text(out, "\n\n") < 0)
			return -1;
	}
	return 0;
}

static int write_text(struct buf *out, const char *text)
{
	json_auto_t *value = json_string(text);

	return literal_write(out, value, LITERAL_HCL);
}

static int write_mocks(const char *mock_folder, struct buf *out)
{
	for (size_t i = 0; i < mock_count; i++) {
		_cleanup_(freep) char *source = mem_printf("%s/%s", mock_folder, mocks[i].file);

		if (buf_printf(out, "mock \"%s\" {\n  module {\n    source = ", mocks[i].import) < 0 ||
			write_text(out, source) < 0 || buf_text(out, "\n  }\n}\n\n") < 0)
			return -1;
	}
	return 0;
}

/* A parameter's value: a JSON number, array or object; a quoted text; otherwise the text as it is. */
static json_t *value_read(const char *text)
{
	json_t *value = json_loads(text, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);

	if (value && !json_is_boolean(value) && !json_is_null(value))
		return value;
	json_decref(value);
	return json_string(text);
}

static json_t *value_read_own(const char *text)
{
	return text_equal(text, "true") || text_equal(text, "false") ? json_boolean(*text == 't') : value_read(text);
}

static int write_parameters(const struct policy_set *set, json_t *(*read)(const char *text), struct buf *out)
{
	const json_t *parameter;
	size_t i;

	json_array_foreach(set->parameters, i, parameter)
	{
		json_auto_t *value = read(text_or_empty(json_string_at(parameter, "value")));

		if (buf_text(out, "param ") < 0 ||
			write_text(out, text_or_empty(json_string_at(parameter, "key"))) < 0 ||
			buf_text(out, " {\n  value = ") < 0 || literal_write(out, value, LITERAL_HCL) < 0 ||
			buf_text(out, "\n}\n\n") < 0)
			return -1;
	}
	return 0;
}

int sentinel_config(const struct policy_set *set, const char *mock_folder, struct buf *out)
{
	if (set->text && write_own(set, out) < 0)
		return -1;
	return write_mocks(mock_folder, out) < 0 ? -1 : write_parameters(set, value_read, out);
}

static void blank(char *text, size_t begin, size_t end)
{
	for (size_t i = begin; i < end; i++)
		if (text[i] != '\n' && text[i] != '\r')
			text[i] = ' ';
}

static char *without_left_out(const struct policy_set *set)
{
	char *text = mem_text(set->text);
	const json_t *block;
	size_t i;

	json_array_foreach(set->blocks, i, block)
	{
		if (left_out(set, block))
			blank(text, (size_t)json_int_at(block, "begin", 0), (size_t)json_int_at(block, "end", 0));
	}
	return text;
}

int sentinel_config_own(const struct policy_set *set, struct buf *out)
{
	_cleanup_(freep) char *text = set->text ? without_left_out(set) : NULL;

	if (text && (buf_text(out, text) < 0 || buf_text(out, "\n") < 0))
		return -1;
	return write_parameters(set, value_read_own, out);
}
