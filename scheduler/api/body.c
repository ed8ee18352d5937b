/* SPDX-License-Identifier: MPL-2.0 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "scheduler/api/api.h"

static const json_t *attribute(const struct request *req, const char *name)
{
	return json_object_get(json_at(req->body, "data.attributes"), name);
}

/* "auto-apply" must be a boolean: "Auto apply must be true or false". */
static int wrong_type(const char *name, const char *expected, struct err *err)
{
	char pointer[128], words[64];

	snprintf(pointer, sizeof(pointer), "/data/attributes/%s", name);
	text_copy(words, sizeof(words), name);
	for (char *at = words; *at; at++)
		if (*at == '-')
			*at = ' ';
	words[0] = (char)toupper((unsigned char)words[0]);
	return err_at(err, pointer, "%s must be %s", words, expected);
}

int body_text(const struct request *req, const char *name, const char **ret_value, struct err *err)
{
	const json_t *value = attribute(req, name);

	if (!value)
		return 0;
	if (!json_is_string(value) && !json_is_null(value))
		return wrong_type(name, "a string", err);
	*ret_value = json_string_value(value);
	return 0;
}

int body_bool(const struct request *req, const char *name, bool *ret_value, struct err *err)
{
	const json_t *value = attribute(req, name);

	if (!value || json_is_null(value))
		return 0;
	if (!json_is_boolean(value))
		return wrong_type(name, "true or false", err);
	*ret_value = json_is_true(value);
	return 0;
}

int body_int(const struct request *req, const char *name, long long *ret_value, struct err *err)
{
	const json_t *value = attribute(req, name);

	if (!value || json_is_null(value))
		return 0;
	if (!json_is_integer(value))
		return wrong_type(name, "a whole number", err);
	*ret_value = json_integer_value(value);
	return 0;
}

int body_texts(const struct request *req, const char *name, const json_t **ret_value, struct err *err)
{
	const json_t *value = attribute(req, name);
	const json_t *item;
	size_t i;

	if (!value)
		return 0;
	if (!json_is_array(value) && !json_is_null(value))
		return wrong_type(name, "a list of strings", err);
	json_array_foreach(value, i, item)
	{
		if (!json_is_string(item))
			return wrong_type(name, "a list of strings", err);
	}
	*ret_value = value;
	return 0;
}

bool body_has(const struct request *req, const char *name)
{
	return attribute(req, name) != NULL;
}

const char *body_relation(const struct request *req, const char *name)
{
	const json_t *relation = json_object_get(json_at(req->body, "data.relationships"), name);

	return json_string_at(relation, "data.id");
}

int body_comment(const struct request *req, const char **ret_comment, struct err *err)
{
	const json_t *comment = json_at(req->body, "comment");

	if (comment && !json_is_string(comment) && !json_is_null(comment))
		return err_at(err, "/comment", "Comment must be a string");
	*ret_comment = json_string_value(comment);
	return 0;
}

int body_check(const struct request *req, const char *type, struct err *err)
{
	const json_t *data = json_at(req->body, "data");
	const char *sent = json_string_at(data, "type");

	if (!json_is_object(data))
		return err_set(err, ERR_MALFORMED, "the body must be a JSON:API document with a data object");
	if (sent && *sent && strcmp(sent, type) != 0)
		return err_at(err, "/data/type", "Type must be %s", type);
	return 0;
}
