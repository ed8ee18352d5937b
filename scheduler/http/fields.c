/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/http/fields.h"

#include <stdio.h>
#include <string.h>

static int read_text(const struct request *req, const char *name, json_t **ret_value, struct err *err)
{
	const char *text = NULL;

	if (body_text(req, name, &text, err) < 0)
		return -1;
	*ret_value = json_string_or_null(text);
	return 0;
}

static int read_bool(const struct request *req, const char *name, json_t **ret_value, struct err *err)
{
	bool yes = true, no = false;

	/* Read twice with different defaults: they stay different if the value is null. */
	if (body_bool(req, name, &yes, err) < 0 || body_bool(req, name, &no, err) < 0)
		return -1;
	if (yes == no)
		*ret_value = json_boolean(yes);
	return 0;
}

static int read_int(const struct request *req, const char *name, json_t **ret_value, struct err *err)
{
	long long number = INT64_MIN;

	if (body_int(req, name, &number, err) < 0)
		return -1;
	if (number != INT64_MIN)
		*ret_value = json_integer(number);
	return 0;
}

static int read_texts(const struct request *req, const char *name, json_t **ret_value, struct err *err)
{
	const json_t *list = NULL;

	if (body_texts(req, name, &list, err) < 0)
		return -1;
	*ret_value = json_deep_copy(list);
	return 0;
}

static int (*const readers[])(const struct request *req, const char *name, json_t **ret_value, struct err *err) = {
	[FIELD_TEXT] = read_text,
	[FIELD_BOOL] = read_bool,
	[FIELD_INT] = read_int,
	[FIELD_TEXTS] = read_texts,
};

int fields_read(const struct request *req, const struct field *table, size_t count, json_t *object, struct err *err)
{
	for (size_t i = 0; i < count; i++) {
		json_t *value = NULL;

		if (!body_has(req, table[i].name))
			continue;
		if (readers[table[i].type](req, table[i].name, &value, err) < 0)
			return -1;
		if (value)
			json_object_set_new(object, table[i].name, value);
	}
	return 0;
}

void fields_show(const struct field *table, size_t count, const json_t *object, json_t *attributes)
{
	for (size_t i = 0; i < count; i++) {
		json_t *value = json_object_get(object, table[i].name);

		json_object_set_new_nocheck(
			attributes, table[i].name, value ? json_incref(value) : json_of(table[i].fallback));
	}
}

int length_check(const char *what, const char *pointer, const char *text, size_t max, struct err *err)
{
	if (strlen(text_or_empty(text)) <= max)
		return 0;
	return err_at(err, pointer, "%s is too long (maximum is %zu characters)", what, max);
}

int title_check(const char *what, const char *pointer, const char *text, size_t max, struct err *err)
{
	if (!text || !text[strspn(text, " ")])
		return err_at(err, pointer, "%s can't be blank", what);
	for (const unsigned char *at = (const unsigned char *)text; *at; at++)
		if (*at < ' ' || *at == 0x7f)
			return err_at(err, pointer, "%s may not contain control characters", what);
	return length_check(what, pointer, text, max, err);
}

int fields_refuse(const struct field_refusal *table, size_t count, const json_t *object, struct err *err)
{
	for (size_t i = 0; i < count; i++) {
		const json_t *value = json_object_get(object, table[i].name);
		json_auto_t *taken = json_loads(table[i].taken, JSON_DECODE_ANY, NULL);
		char pointer[96];

		if (!value || json_is_null(value) || json_equal(value, taken))
			continue;
		snprintf(pointer, sizeof(pointer), "/data/attributes/%s", table[i].name);
		return err_at(err, pointer, "%s", table[i].why);
	}
	return 0;
}
