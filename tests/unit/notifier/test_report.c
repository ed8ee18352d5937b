/* SPDX-License-Identifier: MPL-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include "common/err.h"
#include "notifier/callback/report.h"
#include "notifier/callback/report_rules.h"
#include "proto/limits.h"

static char *repeated(const char *text, size_t times)
{
	size_t len = strlen(text);
	char *all = mem_new(times * len + 1, 1);

	for (size_t i = 0; i < times; i++)
		memcpy(all + i * len, text, len);
	return all;
}

/* A complete document to be modified: status, message, url and one outcome. */
static json_t *document(void)
{
	return json_pack("{s{ss s{ss ss ss} s{s{s[{ss s{ss ss ss ss s{s[{ss ss}]}}}]}}}}", "data", "type",
		"task-results", "attributes", "status", "passed", "message", "4 passed", "url", "https://example.com/1",
		"relationships", "outcomes", "data", "type", "task-result-outcomes", "attributes", "outcome-id", "A-1",
		"description", "ok", "body", "# fine", "url", "https://example.com/2", "tags", "Cost Centre", "label",
		"IT", "level", "info");
}

/* The object at the dotted path; numbers are indexes of arrays. */
static json_t *at(json_t *value, const char *path)
{
	while (*path) {
		size_t len = strcspn(path, ".");
		char name[64];

		text_copy(name, len + 1, path);
		value = json_is_array(value) ? json_array_get(value, strtoul(name, NULL, 10))
					     : json_object_get(value, name);
		assert_non_null(value);
		path += len + (path[len] == '.');
	}
	return value;
}

static int parse(const json_t *value, json_t **ret_report, struct err *err)
{
	_cleanup_(freep) char *text = json_text(value);

	return report_parse(text, strlen(text), ret_report, err);
}

/* Replaces that member (NULL: removes it). The document must then be valid, or invalid at that pointer. */
static void check_with(const char *path, const char *name, json_t *member, const char *pointer)
{
	json_auto_t *value = document(), *report = NULL;
	struct err err = ERR_INIT;

	if (member)
		json_object_set_new(at(value, path), name, member);
	else
		json_object_del(at(value, path), name);
	if (!pointer) {
		if (parse(value, &report, &err) < 0)
			fail_msg("%s.%s: %s at %s", path, name, err.message, err.pointer);
		return;
	}
	assert_int_equal(parse(value, &report, &err), -1);
	assert_int_equal(err.kind, ERR_INVALID);
	assert_string_equal(err.pointer, pointer);
}

/* Tests a text with exactly that many characters, and with one more. */
static void check_limit(
	const char *path, const char *name, const char *begin, size_t max, const char *character, const char *pointer)
{
	for (size_t over = 0; over < 2; over++) {
		_cleanup_(freep) char *rest = repeated(character, max - strlen(begin) + over);
		_cleanup_(freep) char *text = mem_printf("%s%s", begin, rest);

		check_with(path, name, json_string(text), over ? pointer : NULL);
	}
}

#define ATTRIBUTES "data.attributes"
#define OUTCOME    "data.relationships.outcomes.data.0.attributes"
#define POINTER    "/data/relationships/outcomes/data/0/attributes"

static void a_complete_document_is_parsed(void **state)
{
	json_auto_t *value = document(), *report = NULL;
	struct err err = ERR_INIT;
	json_t *outcome;

	(void)state;
	assert_int_equal(parse(value, &report, &err), 0);
	assert_string_equal(json_string_at(report, "status"), "passed");
	assert_string_equal(json_string_at(report, "message"), "4 passed");
	assert_string_equal(json_string_at(report, "url"), "https://example.com/1");
	outcome = at(report, "outcomes.0");
	assert_string_equal(json_string_at(outcome, "outcome-id"), "A-1");
	assert_string_equal(json_string_at(outcome, "body"), "# fine");
	assert_string_equal(json_string_value(at(outcome, "tags.Cost Centre.0.label")), "IT");
	assert_string_equal(json_string_value(at(outcome, "tags.Cost Centre.0.level")), "info");
}

static void optional_members_can_be_missing(void **state)
{
	(void)state;
	check_with(ATTRIBUTES, "message", NULL, NULL);
	check_with(ATTRIBUTES, "message", json_null(), NULL);
	check_with(ATTRIBUTES, "url", NULL, NULL);
	check_with(ATTRIBUTES, "url", json_string(""), NULL);
	check_with("data", "relationships", NULL, NULL);
	check_with("data", "relationships", json_null(), NULL);
	check_with("data.relationships", "outcomes", json_null(), NULL);
	check_with("data.relationships.outcomes", "data", json_null(), NULL);
	check_with("data.relationships.outcomes.data.0", "type", NULL, NULL);
	check_with("data", "type", json_string("task_results"), NULL);
	check_with(OUTCOME, "body", NULL, NULL);
	check_with(OUTCOME, "url", json_null(), NULL);
	check_with(OUTCOME, "tags", NULL, NULL);
	check_with(OUTCOME ".tags.Cost Centre.0", "level", NULL, NULL);
	check_with(ATTRIBUTES, "status", json_string("running"), NULL);
	check_with(ATTRIBUTES, "status", json_string("failed"), NULL);
}

static void outcomes_have_an_alternative_name(void **state)
{
	json_auto_t *value = document(), *report = NULL;
	json_t *relations = at(value, "data.relationships");
	struct err err = ERR_INIT;

	(void)state;
	json_object_set(relations, "task-result-outcomes", json_object_get(relations, "outcomes"));
	json_object_del(relations, "outcomes");
	assert_int_equal(parse(value, &report, &err), 0);
	assert_int_equal(json_array_size(json_at(report, "outcomes")), 1);
}

static void errors_of_invalid_members_have_a_pointer(void **state)
{
	(void)state;
	check_with("", "data", json_array(), "/data");
	check_with("data", "type", json_string("runs"), "/data/type");
	check_with("data", "type", NULL, "/data/type");
	check_with("data", "attributes", json_string("x"), "/data/attributes");
	check_with(ATTRIBUTES, "status", json_string("errored"), "/data/attributes/status");
	check_with(ATTRIBUTES, "status", json_integer(1), "/data/attributes/status");
	check_with(ATTRIBUTES, "status", NULL, "/data/attributes/status");
	check_with(ATTRIBUTES, "message", json_integer(1), "/data/attributes/message");
	check_with(ATTRIBUTES, "url", json_string("javascript:alert(1)"), "/data/attributes/url");
	check_with("data", "relationships", json_array(), "/data/relationships");
	check_with("data.relationships.outcomes", "data", json_object(), "/data/relationships/outcomes/data");
	check_with("data.relationships.outcomes.data.0", "type", json_string("x"),
		"/data/relationships/outcomes/data/0/type");
	check_with("data.relationships.outcomes.data.0", "attributes", NULL, POINTER);
	check_with(OUTCOME, "outcome-id", NULL, POINTER "/outcome-id");
	check_with(OUTCOME, "outcome-id", json_string(""), POINTER "/outcome-id");
	check_with(OUTCOME, "description", NULL, POINTER "/description");
	check_with(OUTCOME, "body", json_array(), POINTER "/body");
	check_with(OUTCOME, "url", json_string("ftp://x"), POINTER "/url");
	check_with(OUTCOME, "tags", json_array(), POINTER "/tags");
	check_with(OUTCOME ".tags", "a/b~c", json_string("x"), POINTER "/tags/a~1b~0c");
	check_with(OUTCOME ".tags.Cost Centre.0", "label", NULL, POINTER "/tags/Cost Centre/0/label");
	check_with(OUTCOME ".tags.Cost Centre.0", "level", json_string("fatal"), POINTER "/tags/Cost Centre/0/level");
}

static void every_text_has_a_limit(void **state)
{
	(void)state;
	check_limit(ATTRIBUTES, "message", "", REPORT_MESSAGE, "\xc3\xa9", "/data/attributes/message");
	check_limit(ATTRIBUTES, "url", "https://", REPORT_URL, "u", "/data/attributes/url");
	check_limit(OUTCOME, "outcome-id", "", REPORT_OUTCOME_ID, "\xe2\x82\xac", POINTER "/outcome-id");
	check_limit(OUTCOME, "description", "", REPORT_DESCRIPTION, "d", POINTER "/description");
	check_limit(OUTCOME, "url", "http://", REPORT_URL, "u", POINTER "/url");
	check_limit(OUTCOME, "body", "", REPORT_BODY, "b", POINTER "/body");
	check_limit(OUTCOME ".tags.Cost Centre.0", "label", "", REPORT_LABEL, "l", POINTER "/tags/Cost Centre/0/label");
}

static json_t *array_of(json_t *item, size_t count)
{
	json_t *array = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append(array, item);
	json_decref(item);
	return array;
}

static json_t *tags_of(size_t count)
{
	json_t *tags = json_object();
	char key[32];

	for (size_t i = 0; i < count; i++) {
		snprintf(key, sizeof(key), "key %zu", i);
		json_object_set_new(tags, key, json_array());
	}
	return tags;
}

static json_t *minimal_outcome(void)
{
	return json_pack("{s{ss ss}}", "attributes", "outcome-id", "x", "description", "y");
}

static void every_list_has_a_limit(void **state)
{
	_cleanup_(freep) char *key = repeated("k", REPORT_TAG_KEY + 1);
	_cleanup_(freep) char *pointer = mem_printf(POINTER "/tags/%s", key);

	(void)state;
	check_with("data.relationships.outcomes", "data", array_of(minimal_outcome(), MAX_TASK_OUTCOMES), NULL);
	check_with("data.relationships.outcomes", "data", array_of(minimal_outcome(), MAX_TASK_OUTCOMES + 1),
		"/data/relationships/outcomes/data");
	check_with(OUTCOME, "tags", tags_of(REPORT_TAGS), NULL);
	check_with(OUTCOME, "tags", tags_of(REPORT_TAGS + 1), POINTER "/tags");
	check_with(OUTCOME ".tags", "x", array_of(json_pack("{ss}", "label", "l"), REPORT_LABELS), NULL);
	check_with(
		OUTCOME ".tags", "x", array_of(json_pack("{ss}", "label", "l"), REPORT_LABELS + 1), POINTER "/tags/x");
	check_with(OUTCOME ".tags", key, json_array(), pointer);
	check_with(OUTCOME ".tags", key + 1, json_array(), NULL);
}

static void invalid_json_is_refused(void **state)
{
	static const char *const bad[] = {
		"", "{", "[]", "null", "{\"data\":{},\"data\":{}}", "{\"data\":\"\\u0000\"}", "\xff\xfe"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		json_t *report = NULL;
		struct err err = ERR_INIT;

		assert_int_equal(report_parse(bad[i], strlen(bad[i]), &report, &err), -1);
		assert_int_equal(err.kind, ERR_INVALID);
		assert_null(report);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_complete_document_is_parsed),
		cmocka_unit_test(optional_members_can_be_missing),
		cmocka_unit_test(outcomes_have_an_alternative_name),
		cmocka_unit_test(errors_of_invalid_members_have_a_pointer),
		cmocka_unit_test(every_text_has_a_limit),
		cmocka_unit_test(every_list_has_a_limit),
		cmocka_unit_test(invalid_json_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
