/* SPDX-License-Identifier: MPL-2.0 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "scheduler/http/request.h"

enum { MAX_TEXT = 10000, MAX_TEXTS = 1000 };

static const json_t *attribute(const struct request *req, const char *name)
{
	return json_object_get(json_at(req->body, "data.attributes"), name);
}

/* "auto-apply" must be a boolean: "Auto apply must be true or false". */
static int wrong_type(const char *name, const char *expected, struct err *err)
{
	char pointer[128], words[64];

	snprintf(pointer, sizeof(pointer), "/data/attributes/%s", name);
	text_label(words, sizeof(words), name);
	return err_at(err, pointer, "%s must be %s", words, expected);
}

/* Refuses control characters, and texts so long that they could fill the database. */
static int text_refused(const char *name, const char *text, struct err *err)
{
	if (strlen(text) > MAX_TEXT) {
		char expected[64];

		snprintf(expected, sizeof(expected), "of at most %d characters", MAX_TEXT);
		return wrong_type(name, expected, err);
	}
	for (const unsigned char *at = (const unsigned char *)text; *at; at++)
		if ((*at < ' ' && !strchr("\t\n\r", *at)) || *at == 0x7f)
			return wrong_type(name, "without control characters", err);
	return 0;
}

int body_long_text(const struct request *req, const char *name, const char **ret_value, struct err *err)
{
	const json_t *value = attribute(req, name);

	if (!value)
		return 0;
	if (!json_is_string(value) && !json_is_null(value))
		return wrong_type(name, "a string", err);
	*ret_value = json_string_value(value);
	return 0;
}

int body_text(const struct request *req, const char *name, const char **ret_value, struct err *err)
{
	const char *text = NULL;

	if (!body_has(req, name))
		return 0;
	if (body_long_text(req, name, &text, err) < 0 || text_refused(name, text_or_empty(text), err) < 0)
		return -1;
	*ret_value = text;
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
	if ((!json_is_array(value) && !json_is_null(value)) || json_array_size(value) > MAX_TEXTS)
		return wrong_type(name, "a list of strings", err);
	json_array_foreach(value, i, item)
	{
		if (!json_is_string(item))
			return wrong_type(name, "a list of strings", err);
		if (text_refused(name, json_string_value(item), err) < 0)
			return -1;
	}
	*ret_value = value;
	return 0;
}

bool time_valid(const char *text)
{
	struct tm parts = {.tm_mday = 1};
	const char *rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &parts);
	int day = parts.tm_mday;

	if (!rest || strlen(text) > 40 || parts.tm_year < 70 || parts.tm_year > 1100 || parts.tm_sec > 59)
		return false;
	timegm(&parts); /* turns 30 February into 2 March */
	if (parts.tm_mday != day)
		return false;
	if (*rest == '.')
		rest += 1 + strspn(rest + 1, "0123456789");
	if (strcmp(rest, "Z") == 0)
		return true;
	return strlen(rest) == 6 && strchr("+-", rest[0]) && strspn(rest + 1, "0123456789:") == 5 && rest[3] == ':' &&
		rest[1] < '2' && rest[4] < '6';
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

int body_to_one(const struct request *req, const char *name, const char *type, const char **ret_id, struct err *err)
{
	const json_t *relation = json_object_get(json_at(req->body, "data.relationships"), name);
	const json_t *data = json_object_get(relation, "data");
	char pointer[128];

	*ret_id = json_string_at(data, "id");
	if (!data || json_is_null(data) || (*ret_id && text_equal(json_string_at(data, "type"), type)))
		return 0;
	snprintf(pointer, sizeof(pointer), "/data/relationships/%s", name);
	return err_at(err, pointer, "Data must be {type, id} with the type %s", type);
}

int body_comment(const struct request *req, const char **ret_comment, struct err *err)
{
	const json_t *comment = json_at(req->body, "comment");

	if (comment && !json_is_string(comment) && !json_is_null(comment))
		return err_at(err, "/comment", "Comment must be a string");
	if (strlen(text_or_empty(json_string_value(comment))) > MAX_TEXT)
		return err_at(err, "/comment", "Comment must be of at most %d characters", MAX_TEXT);
	*ret_comment = json_string_value(comment);
	return 0;
}

/* {type, id}, or a list of objects, which may be whole resources. */
static bool linkage_plausible(const json_t *data)
{
	const json_t *item;
	size_t i;

	if (!data || json_is_null(data))
		return true;
	if (json_is_object(data))
		return json_string_at(data, "type") && json_string_at(data, "id");
	json_array_foreach(data, i, item)
	{
		if (!json_is_object(item))
			return false;
	}
	return json_is_array(data);
}

static int relationships_check(json_t *relationships, struct err *err)
{
	const char *name;
	json_t *relation;

	json_object_foreach(relationships, name, relation)
	{
		char pointer[128];

		if (json_is_null(relation) ||
			(json_is_object(relation) && linkage_plausible(json_object_get(relation, "data"))))
			continue;
		snprintf(pointer, sizeof(pointer), "/data/relationships/%.90s", name);
		return err_at(err, pointer, "A relationship must have data of {type, id}, or a list of those");
	}
	return 0;
}

static bool object_or_none(const json_t *value)
{
	return !value || json_is_null(value) || json_is_object(value);
}

int body_check(const struct request *req, const char *type, struct err *err)
{
	const json_t *data = json_at(req->body, "data"), *sent = json_object_get(data, "type");
	json_t *relationships = json_object_get(data, "relationships");

	if (!json_is_object(data))
		return err_set(err, ERR_MALFORMED, "the body must be a JSON:API document with a data object");
	if ((sent && !json_is_null(sent) && !json_is_string(sent)) ||
		(*text_or_empty(json_string_value(sent)) && !text_equal(json_string_value(sent), type)))
		return err_at(err, "/data/type", "Type must be %s", type);
	if (!object_or_none(json_object_get(data, "attributes")))
		return err_at(err, "/data/attributes", "Attributes must be an object");
	if (!object_or_none(relationships))
		return err_at(err, "/data/relationships", "Relationships must be an object");
	return relationships_check(relationships, err);
}
