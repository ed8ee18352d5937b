/* SPDX-License-Identifier: MPL-2.0 */
/* Filters and paths of SCIM: which texts are read, what they match, and their alternatives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/buf.h"
#include "common/text.h"
#include "scheduler/scim/filter.h"

static struct scim_filter filter;

static bool parses(const char *text)
{
	struct err err = ERR_INIT;
	bool read = scim_filter_parse(text, &filter, &err) == 0;

	assert_true(read || (err.kind == ERR_MALFORMED && strcmp(err.title, "invalidFilter") == 0));
	return read;
}

/* ---- matching ---- */

static const struct {
	const char *filter, *element;
	bool matches;
} matches[] = {
	{"value eq \"a\"", "{\"value\":\"A\"}", true},
	{"VALUE EQ \"a\"", "{\"value\":\"b\"}", false},
	{"value eq \"a\"", "\"a\"", true},
	{"type eq \"a\"", "\"a\"", false},
	{"externalId eq \"a\"", "{\"externalId\":\"A\"}", false},
	{"value ne \"a\"", "{\"value\":\"b\"}", true},
	{"value ne \"a\"", "{}", true},
	{"value co \"BC\"", "{\"value\":\"abcd\"}", true},
	{"value sw \"AB\"", "{\"value\":\"abcd\"}", true},
	{"value sw \"bc\"", "{\"value\":\"abcd\"}", false},
	{"value ew \"CD\"", "{\"value\":\"abcd\"}", true},
	{"value ew \"abcde\"", "{\"value\":\"abcd\"}", false},
	{"value gt \"a\"", "{\"value\":\"b\"}", true},
	{"value ge \"b\"", "{\"value\":\"b\"}", true},
	{"value lt \"b\"", "{\"value\":\"b\"}", false},
	{"value le \"b\"", "{\"value\":\"b\"}", true},
	{"value pr", "{\"value\":\"\"}", false},
	{"value pr", "{\"value\":false}", true},
	{"value pr", "{\"value\":[]}", false},
	{"value eq true", "{\"value\":true}", true},
	{"value eq true", "{\"value\":\"true\"}", false},
	{"value eq null", "{\"value\":null}", true},
	{"value eq 1.5", "{\"value\":1.5}", true},
	{"name.givenName eq \"j\"", "{\"name\":{\"givenName\":\"J\"}}", true},
	{"value pr and type pr", "{\"value\":\"a\"}", false},
	{"value pr or type pr", "{\"value\":\"a\"}", true},
	{"value pr or type pr and display pr", "{\"value\":\"a\"}", true}, /* `and` binds stronger */
	{"(value pr or type pr) and display pr", "{\"value\":\"a\"}", false},
	{"not (value pr)", "{\"value\":\"a\"}", false},
	{"not(type pr) and value pr", "{\"value\":\"a\"}", true},
	{"  value   eq   \"a b ) ] \\\" \\u00e4\"  ", "{\"value\":\"a b ) ] \\\" \\u00e4\"}", true},
};

static void filters_match(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(matches); i++) {
		json_t *element = json_loads(matches[i].element, JSON_DECODE_ANY, NULL);

		assert_true(parses(matches[i].filter));
		if (scim_filter_matches(&filter, element) != matches[i].matches)
			fail_msg("%s, %s", matches[i].filter, matches[i].element);
		scim_filter_release(&filter);
		json_decref(element);
	}
}

/* ---- texts that are no filters ---- */

static const char *const wrong[] = {"", " ", "value", "value eq", "value eq ", "value is \"a\"", "value eq a",
	"value eq \"a", "value eq \"a\\\"", "value eq \"a\"b", "value eq {}", "value eq []", "value eq \"a\" and",
	"and value pr", "value pr or", "not value pr", "not (value pr", "(value pr", "value pr)", "()", "value[",
	"value[]", "value[type pr", "value[type[a pr]]", "a.b[c pr]", "a.b.c pr", "a. pr", ".a pr", "urn: pr",
	"value prx", "value eqx \"a\"", "\"a\" eq value", "value eq \"\\x\"", "value eq \"a\" value eq \"b\""};

static void other_texts_are_refused(void **state)
{
	char name[200] = "";

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		if (parses(wrong[i]))
			fail_msg("%s", wrong[i]);
		scim_filter_release(&filter);
	}
	memset(name, 'a', SCIM_NAME_SIZE);
	text_copy(name + SCIM_NAME_SIZE, sizeof(name) - SCIM_NAME_SIZE, " pr");
	assert_false(parses(name));
	assert_true(parses(name + 1));
	scim_filter_release(&filter);
}

/* ---- bounds ---- */

static void depth_and_size_are_bounded(void **state)
{
	char text[SCIM_MAX_FILTER + 2];
	struct scim_alternatives *alternatives = mem_new(1, sizeof(*alternatives));
	struct err err = ERR_INIT;
	struct buf long_filter = BUF_INIT(SCIM_MAX_FILTER);

	(void)state;
	for (int depth = 1; depth < 40; depth++) {
		memset(text, '(', (size_t)depth);
		text_copy(text + depth, sizeof(text) - (size_t)depth, "a pr");
		memset(text + depth + 4, ')', (size_t)depth);
		text[2 * depth + 4] = '\0';
		assert_int_equal(parses(text), depth < SCIM_MAX_DEPTH);
		scim_filter_release(&filter);
	}
	memset(text, ' ', SCIM_MAX_FILTER + 1);
	text[SCIM_MAX_FILTER + 1] = '\0';
	assert_false(parses(text));
	buf_text(&long_filter, "a pr");
	for (int i = 0; i < 31; i++)
		buf_text(&long_filter, " or a pr");
	assert_true(parses(buf_str(&long_filter)));
	assert_int_equal(scim_filter_alternatives(&filter, alternatives, &err), 0);
	assert_int_equal(alternatives->alternatives, 32);
	scim_filter_release(&filter);
	buf_text(&long_filter, " or a pr");
	assert_false(parses(buf_str(&long_filter)));
	scim_filter_release(&filter);
	/* Few nodes can have many alternatives. */
	assert_true(
		parses("(a pr or b pr) and (a pr or b pr) and (a pr or b pr) and (a pr or b pr) and (a pr or b pr)"));
	assert_int_equal(scim_filter_alternatives(&filter, alternatives, &err), -1);
	assert_string_equal(err.title, "invalidFilter");
	scim_filter_release(&filter);
	buf_release(&long_filter);
	free(alternatives);
}

/* ---- alternatives ---- */

static const struct {
	const char *filter, *alternatives;
} spreads[] = {
	{"a pr", "a"},
	{"a pr and b pr", "a b"},
	{"a pr or b pr", "a|b"},
	{"a pr and (b pr or c pr)", "a b|a c"},
	{"(a pr or b pr) and (c pr or d pr)", "a c|a d|b c|b d"},
	{"not (a pr and b pr)", "!a|!b"},
	{"not (a pr or not (b pr))", "!a b"},
	{"not (not (a pr))", "a"},
	{"e[value eq \"x\"] and a pr", "e.value a"},
	{"not (e[value eq \"x\"] or (a pr and b pr))", "!e.value !a|!e.value !b"},
};

static void alternatives_are_those_of_the_filter(void **state)
{
	struct scim_alternatives *found = mem_new(1, sizeof(*found));
	struct err err = ERR_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(spreads); i++) {
		struct buf text = BUF_INIT(1000);
		size_t last = 0;

		assert_true(parses(spreads[i].filter));
		assert_int_equal(scim_filter_alternatives(&filter, found, &err), 0);
		for (size_t c = 0; c < found->count; c++) {
			const struct scim_condition *condition = &found->conditions[c];

			buf_printf(&text, "%s%s%s%s%s",
				!c                                       ? ""
					: condition->alternative == last ? " "
									 : "|",
				condition->negated ? "!" : "", condition->of ? condition->of->name : "",
				condition->of ? "." : "", condition->node->attribute.name);
			last = condition->alternative;
		}
		assert_string_equal(buf_str(&text), spreads[i].alternatives);
		scim_filter_release(&filter);
		buf_release(&text);
	}
	assert_true(parses("e[value eq \"x\" and type eq \"y\"]"));
	assert_int_equal(scim_filter_alternatives(&filter, found, &err), -1);
	scim_filter_release(&filter);
	free(found);
}

/* ---- paths ---- */

static const struct {
	const char *path, *urn, *name, *sub;
	bool has_filter;
} paths[] = {
	{"userName", "", "userName", "", false},
	{"name.givenName", "", "name", "givenName", false},
	{"emails[type eq \"work\"]", "", "emails", "", true},
	{"emails[type eq \"work\" and primary eq true].value", "", "emails", "value", true},
	{"urn:ietf:params:scim:schemas:core:2.0:User:name.givenName", "", "name", "givenName", false},
	{"urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:manager.value",
		"urn:ietf:params:scim:schemas:extension:enterprise:2.0:User", "manager", "value", false},
	{"$ref", "", "$ref", "", false},
};

static const char *const no_paths[] = {"", "a b", "a[", "a[]", "a[b pr", "a[b pr].", "a[b pr]c", "a.b[c pr]", "a..b",
	"a[b pr].c.d", "urn:x:", "a[b[c pr]]", "a]"};

static void paths_are_read(void **state)
{
	struct scim_path *path = mem_new(1, sizeof(*path));

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
		struct err err = ERR_INIT;

		assert_int_equal(scim_path_parse(paths[i].path, path, &err), 0);
		assert_string_equal(path->attribute.urn, paths[i].urn);
		assert_string_equal(path->attribute.name, paths[i].name);
		assert_string_equal(path->attribute.sub, paths[i].sub);
		assert_int_equal(path->has_filter, paths[i].has_filter);
		scim_filter_release(&path->filter);
	}
	for (size_t i = 0; i < ARRAY_LEN(no_paths); i++) {
		struct err err = ERR_INIT;

		if (scim_path_parse(no_paths[i], path, &err) == 0)
			fail_msg("%s", no_paths[i]);
		assert_string_equal(err.title, "invalidPath");
		scim_filter_release(&path->filter);
	}
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(filters_match),
		cmocka_unit_test(other_texts_are_refused),
		cmocka_unit_test(depth_and_size_are_bounded),
		cmocka_unit_test(alternatives_are_those_of_the_filter),
		cmocka_unit_test(paths_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
