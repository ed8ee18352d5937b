/* SPDX-License-Identifier: MPL-2.0 */
#include "notifier/callback/outcomes.h"

#include <stdio.h>
#include <string.h>

#include "common/err.h"
#include "notifier/callback/report_rules.h"
#include "proto/limits.h"

enum { POINTER_SIZE = 128 };

static const char *const types[] = {"task-result-outcomes", "task_result_outcomes"};
static const char *const levels[] = {"none", "info", "warning", "error"};

static const struct text_rule texts[] = {
	{.name = "outcome-id", .characters = REPORT_OUTCOME_ID, .required = true},
	{.name = "description", .characters = REPORT_DESCRIPTION, .required = true},
	{.name = "body", .bytes = REPORT_BODY},
	{.name = "url", .characters = REPORT_URL, .url = true},
};

/* Writes `parent`/`key`, with the escapes of JSON pointers. */
static void pointer_key(const char *parent, const char *key, char ret_pointer[POINTER_SIZE])
{
	size_t len = (size_t)snprintf(ret_pointer, POINTER_SIZE, "%s/", parent);

	for (; *key && len + 3 < POINTER_SIZE; key++) {
		if (*key == '~' || *key == '/') {
			ret_pointer[len++] = '~';
			ret_pointer[len++] = *key == '~' ? '0' : '1';
		} else {
			ret_pointer[len++] = *key;
		}
	}
	ret_pointer[len < POINTER_SIZE ? len : POINTER_SIZE - 1] = '\0';
}

static void pointer_index(const char *parent, size_t index, char ret_pointer[POINTER_SIZE])
{
	char number[24];

	snprintf(number, sizeof(number), "%zu", index);
	pointer_key(parent, number, ret_pointer);
}

static int label_read(const json_t *label, const char *pointer, json_t *labels, struct err *err)
{
	static const struct text_rule rule = {.name = "label", .characters = REPORT_LABEL, .required = true};
	const json_t *level = json_object_get(label, "level");
	json_auto_t *read = json_object();
	char at[POINTER_SIZE];

	if (!json_is_object(label))
		return err_at(err, pointer, "a label must be an object");
	if (text_member(label, pointer, &rule, read, err) < 0)
		return -1;
	pointer_key(pointer, "level", at);
	if (level && !json_is_null(level) && !one_of(json_string_value(level), levels, ARRAY_LEN(levels)))
		return err_at(err, at, "level must be none, info, warning or error");
	json_object_set_new(read, "level", json_string(json_is_string(level) ? json_string_value(level) : "none"));
	json_array_append(labels, read);
	return 0;
}

static int tag_read(const char *key, const json_t *value, const char *parent, json_t *tags, struct err *err)
{
	json_auto_t *labels = json_array();
	char pointer[POINTER_SIZE], at[POINTER_SIZE];
	const json_t *label;
	size_t i;

	pointer_key(parent, key, pointer);
	if (!*key || strlen(key) > REPORT_TAG_KEY)
		return err_at(err, pointer, "a tag's key must have 1 to %d bytes", REPORT_TAG_KEY);
	if (!json_is_array(value))
		return err_at(err, pointer, "a tag must be an array of labels");
	if (json_array_size(value) > REPORT_LABELS)
		return err_at(err, pointer, "too many labels: the most is %d", REPORT_LABELS);
	json_array_foreach(value, i, label)
	{
		pointer_index(pointer, i, at);
		if (label_read(label, at, labels, err) < 0)
			return -1;
	}
	json_object_set(tags, key, labels);
	return 0;
}

static int tags_read(const json_t *attributes, const char *parent, json_t *outcome, struct err *err)
{
	json_t *given = json_object_get(attributes, "tags"), *value;
	json_auto_t *tags = json_object();
	char pointer[POINTER_SIZE];
	const char *key;

	pointer_key(parent, "tags", pointer);
	if (given && !json_is_null(given) && !json_is_object(given))
		return err_at(err, pointer, "tags must be an object");
	if (json_object_size(given) > REPORT_TAGS)
		return err_at(err, pointer, "too many tags: the most is %d", REPORT_TAGS);
	json_object_foreach(given, key, value)
	{
		if (tag_read(key, value, pointer, tags, err) < 0)
			return -1;
	}
	json_object_set(outcome, "tags", tags);
	return 0;
}

static int outcome_read(const json_t *item, const char *pointer, json_t *outcomes, struct err *err)
{
	const json_t *attributes = json_object_get(item, "attributes"), *type = json_object_get(item, "type");
	json_auto_t *outcome = json_object();
	char at[POINTER_SIZE];

	pointer_key(pointer, "type", at);
	if (type && !one_of(json_string_value(type), types, ARRAY_LEN(types)))
		return err_at(err, at, "type must be task-result-outcomes");
	pointer_key(pointer, "attributes", at);
	if (!json_is_object(attributes))
		return err_at(err, at, "attributes must be an object");
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		if (text_member(attributes, at, &texts[i], outcome, err) < 0)
			return -1;
	if (tags_read(attributes, at, outcome, err) < 0)
		return -1;
	json_array_append(outcomes, outcome);
	return 0;
}

int outcomes_read(const json_t *data, const char *relation, json_t **ret_outcomes, struct err *err)
{
	json_auto_t *outcomes = json_array();
	char pointer[POINTER_SIZE], at[POINTER_SIZE];
	const json_t *item;
	size_t i;

	snprintf(pointer, sizeof(pointer), "/data/relationships/%s/data", relation);
	if (!data || json_is_null(data))
		return 0;
	if (!json_is_array(data))
		return err_at(err, pointer, "the outcomes must be an array");
	if (json_array_size(data) > MAX_TASK_OUTCOMES)
		return err_at(err, pointer, "too many outcomes: the most is %d", MAX_TASK_OUTCOMES);
	json_array_foreach(data, i, item)
	{
		pointer_index(pointer, i, at);
		if (outcome_read(item, at, outcomes, err) < 0)
			return -1;
	}
	*ret_outcomes = json_incref(outcomes);
	return 0;
}
