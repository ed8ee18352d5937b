/* SPDX-License-Identifier: MPL-2.0 */
/* The summary and the redacted changes of plans, also of hostile ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "common/err.h"
#include "scheduler/api/runs/changes/change_search.h"
#include "scheduler/runs/plans/plan_summary.h"
#include "scheduler/runs/plans/secret_texts.h"

struct summarized {
	struct plan_changes_draft draft;
	json_t *summary;
};

static int summarize(const char *text, size_t len, const char *secrets, struct summarized *ret)
{
	json_auto_t *list = json_of(secrets);
	struct err err = ERR_INIT;

	*ret = (struct summarized){.draft = PLAN_CHANGES_DRAFT_INIT};
	if (plan_summarize((struct json_span){text, len}, list, &ret->draft, &err) < 0) {
		assert_int_equal(err.kind, ERR_INVALID);
		plan_changes_draft_release(&ret->draft);
		return -1;
	}
	assert_int_equal(json_parse(buf_str(&ret->draft.summary), ret->draft.summary.len, &ret->summary, &err), 0);
	return 0;
}

static struct summarized summarized(const char *text, const char *secrets)
{
	struct summarized of;

	assert_int_equal(summarize(text, strlen(text), secrets, &of), 0);
	return of;
}

static void release(struct summarized *of)
{
	plan_changes_draft_release(&of->draft);
	json_decref(of->summary);
}

/* A new reference. */
static json_t *change(const struct summarized *of, long long index)
{
	long long from = plan_changes_end(&of->draft.ends, index - 1), to = plan_changes_end(&of->draft.ends, index);
	json_t *value = json_loadb(buf_str(&of->draft.changes) + from, (size_t)(to - from), 0, NULL);

	assert_non_null(value);
	return value;
}

static void assert_json(const json_t *value, const char *expected)
{
	json_auto_t *wanted = json_of(expected);

	if (value ? !json_equal(value, wanted) : !json_is_null(wanted)) {
		_cleanup_(freep) char *text = value ? json_text(value) : mem_text("absent");

		fail_msg("%s is not %s", text, expected);
	}
}

static const json_t *row(const struct summarized *of, const char *list, size_t at)
{
	const json_t *found = json_array_get(json_object_get(of->summary, list), at);

	assert_non_null(found);
	return found;
}

static void assert_no_text(const struct summarized *of, const char *text)
{
	assert_null(strstr(buf_str(&of->draft.summary), text));
	assert_null(strstr(buf_str(&of->draft.changes), text));
}

#define CHANGE(members) "{\"resource_changes\":[{\"address\":\"a.b\",\"type\":\"a\",\"change\":{" members "}}]}"

static void rows_have_the_class_badges_and_changed_attributes(void **state)
{
	struct summarized of = summarized(
		"{\"resource_changes\":["
		"{\"address\":\"a.same\",\"change\":{\"actions\":[\"no-op\"],\"before\":{\"x\":1},\"after\":{\"x\":1}}}"
		","
		"{\"address\":\"a.new\",\"previous_address\":\"a.old\",\"type\":\"a\",\"change\":{\"actions\":[\"no-"
		"op\"],"
		"\"before\":{\"x\":1},\"after\":{\"x\":1}}},"
		"{\"address\":\"a.in\",\"change\":{\"actions\":[\"no-op\"],\"importing\":{\"id\":\"i-1\"}}},"
		"{\"address\":\"m.r\",\"module_address\":\"module.m\",\"action_reason\":\"replace_because_cannot_"
		"update\","
		"\"change\":{\"actions\":[\"delete\",\"create\"],\"before\":{\"x\":1,\"y\":2,\"gone\":3},"
		"\"after\":{\"x\":2,\"y\":2},\"after_unknown\":{\"id\":true},\"replace_paths\":[[\"x\"],[\"l\",0]]}},"
		"{\"address\":\"a.odd\",\"change\":{\"actions\":[\"melt\"],\"before\":null,\"after\":{\"x\":1,\"n\":"
		"null}}}],"
		"\"resource_drift\":[{\"address\":\"a.d\",\"change\":{\"actions\":[\"update\"],\"before\":{\"x\":1},"
		"\"after\":{\"x\":2}}}],\"relevant_attributes\":[{\"resource\":\"a.d\",\"attribute\":[\"x\"]}],"
		"\"deferred_changes\":[{\"reason\":\"instance_count_unknown\",\"resource_change\":{\"address\":\"a.l[*]"
		"\","
		"\"change\":{\"actions\":[\"create\"]}}}],"
		"\"output_changes\":{\"o\":{\"actions\":[\"update\"],\"before\":1,\"after\":2},"
		"\"same\":{\"actions\":[\"no-op\"]}},"
		"\"checks\":[{\"address\":{\"kind\":\"check\",\"to_display\":\"check.c\"},\"status\":\"fail\","
		"\"instances\":[{\"problems\":[{\"message\":\"too old\"}]}]},{\"status\":\"pass\"}]}",
		"[]");
	json_auto_t *replaced = change(&of, 2);

	(void)state;
	assert_json(json_object_get(of.summary, "counts"),
		"{\"no-op\":3,\"move\":1,\"import\":1,\"delete,create\":1,\"melt\":1}");
	assert_json(row(&of, "resource-changes", 0),
		"{\"index\":0,\"action\":\"no-op\",\"address\":\"a.new\",\"previous-address\":\"a.old\",\"type\":\"a\","
		"\"badges\":[\"move\"],\"changed\":[],\"changed-count\":0}");
	assert_json(json_object_get(row(&of, "resource-changes", 1), "badges"), "[\"import\"]");
	assert_json(row(&of, "resource-changes", 2),
		"{\"index\":2,\"action\":\"delete,create\",\"address\":\"m.r\",\"module\":\"module.m\","
		"\"reason\":\"replace_because_cannot_update\",\"changed\":[\"x\",\"gone\",\"id\"],\"changed-count\":"
		"3}");
	assert_json(row(&of, "resource-changes", 3),
		"{\"index\":3,\"action\":\"melt\",\"address\":\"a.odd\",\"changed-count\":1}");
	assert_json(json_object_get(replaced, "replace-paths"), "[[\"x\"],[\"l\",0]]");
	assert_json(json_object_get(replaced, "unknown"), "{\"id\":true}");
	assert_json(json_object_get(row(&of, "drift", 0), "relevant"), "true");
	assert_json(json_object_get(row(&of, "deferred", 0), "deferred-reason"), "\"instance_count_unknown\"");
	assert_json(json_object_get(of.summary, "outputs"),
		"[{\"index\":6,\"action\":\"update\",\"address\":\"o\",\"changed-count\":0}]");
	assert_json(json_object_get(of.summary, "checks"),
		"[{\"address\":\"check.c\",\"kind\":\"check\",\"status\":\"fail\",\"problems\":[\"too old\"]}]");
	assert_json(json_object_get(of.summary, "checks-by-status"), "{\"fail\":1,\"pass\":1}");
	release(&of);
}

static void sensitive_values_are_blanked_on_both_sides(void **state)
{
	static const struct {
		const char *change, *shown;
	} cases[] = {
		/* The mask covers objects, list items and map values. The third mask marks the changed values. */
		{"\"before\":{\"p\":\"hush1\",\"q\":\"hush\"},\"after\":{\"p\":\"hush2\",\"q\":\"hush\"},"
		 "\"before_sensitive\":{\"p\":true,\"q\":true},\"after_sensitive\":{\"p\":true,\"q\":true}",
			"[{\"p\":null,\"q\":null},{\"p\":null,\"q\":null},{\"p\":true,\"q\":true},{\"p\":true}]"},
		{"\"before\":{\"l\":[1,\"hush\"]},\"after\":{\"l\":[1,\"hush2\",3]},\"before_sensitive\":{\"l\":[false,"
		 "true]},"
		 "\"after_sensitive\":{\"l\":[false,true]}",
			"[{\"l\":[1,null]},{\"l\":[1,null,3]},{\"l\":[false,true]},{\"l\":[false,true]}]"},
		{"\"before\":{\"m\":{\"a\":\"hush\"}},\"after\":{\"m\":{\"a\":\"hush\",\"b\":1}},"
		 "\"before_sensitive\":{\"m\":{\"a\":true}},\"after_sensitive\":{\"m\":{\"a\":true}}",
			"[{\"m\":{\"a\":null}},{\"m\":{\"a\":null,\"b\":1}},{\"m\":{\"a\":true}},null]"},
		/* marked on one side only */
		{"\"before\":{\"p\":\"hush\"},\"after\":{\"p\":\"hush\"},\"before_sensitive\":{},"
		 "\"after_sensitive\":{\"p\":true}",
			"[{\"p\":null},{\"p\":null},{\"p\":true},null]"},
		/* the whole, of a creation that is not known yet */
		{"\"before\":null,\"after\":{\"p\":\"hush\"},\"before_sensitive\":false,\"after_sensitive\":true,"
		 "\"after_unknown\":{\"id\":true}",
			"[null,null,true,true]"},
		/* masks that do not fit their values */
		{"\"before\":{\"p\":\"hush\"},\"after\":{\"p\":\"hush\"},\"before_sensitive\":{\"p\":{\"x\":true}}",
			"[{\"p\":null},{\"p\":null},{\"p\":true},null]"},
		{"\"before\":{\"p\":{\"a\":\"hush\"}},\"after\":{\"p\":{\"a\":\"hush\"}},\"after_sensitive\":{\"p\":["
		 "true]}",
			"[{\"p\":null},{\"p\":null},{\"p\":true},null]"},
		{"\"before\":{\"p\":\"hush\"},\"after\":{\"p\":\"hush\"},\"after_sensitive\":\"yes\"",
			"[null,null,true,null]"},
		/* another type on the other side */
		{"\"before\":{\"p\":{\"a\":\"hush\"}},\"after\":{\"p\":[\"hush\"]},\"before_sensitive\":{\"p\":{\"a\":"
		 "true}}",
			"[{\"p\":null},{\"p\":null},{\"p\":true},{\"p\":true}]"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_cleanup_(freep) char *plan = mem_printf(CHANGE("\"actions\":[\"update\"],%s"), cases[i].change);
		struct summarized of = summarized(plan, "[]");
		json_auto_t *one = change(&of, 0);
		json_auto_t *shown =
			json_pack("[O? O? O? O?]", json_object_get(one, "before"), json_object_get(one, "after"),
				json_object_get(one, "sensitive"), json_object_get(one, "changed"));

		assert_no_text(&of, "hush");
		assert_json(shown, cases[i].shown);
		release(&of);
	}
}

static void texts_with_a_secret_are_blanked(void **state)
{
	struct summarized of = summarized(
		"{\"resource_changes\":[{\"address\":\"a.b[\\\"hunter22\\\"]\",\"index\":\"hunter22\",\"name\":\"b\","
		"\"module_address\":\"module.m[\\\"hunter22\\\"]\",\"change\":{\"actions\":[\"update\"],"
		"\"before\":{\"url\":\"https://"
		"u:hunter22@h\",\"n\":12345678,\"r\":1234.5,\"hunter22\":1,\"k\":{\"x-hunter22\":1}},"
		"\"after\":{\"url\":\"https://h\",\"n\":12345678,\"r\":1234.5,\"short\":\"abc\"},"
		"\"replace_paths\":[[\"url\",\"hunter22\"],[\"hunter22\"]]}}],"
		"\"checks\":[{\"status\":\"fail\",\"instances\":[{\"problems\":[{\"message\":\"is hunter22\"}]}]}]}",
		"[\"hunter22\",\"abc\",\"12345678\",\"1234.5\",7,null,\"hunter23\"]");
	json_auto_t *one = change(&of, 0);

	(void)state;
	assert_no_text(&of, "hunter22");
	assert_no_text(&of, "12345678");
	assert_no_text(&of, "1234.5");
	assert_json(json_object_get(json_object_get(one, "after"), "short"), "\"abc\"");
	assert_json(json_object_get(json_object_get(one, "sensitive"), "url"), "true");
	assert_json(json_object_get(json_object_get(one, "changed"), "url"), "true");
	assert_json(json_object_get(one, "replace-paths"), "[[\"url\"],[\"(sensitive value)\"]]");
	release(&of);
}

static void copies_of_a_blanked_string_are_blanked(void **state)
{
	struct summarized of = summarized(
		"{\"resource_changes\":[{\"address\":\"a.copy\",\"change\":{\"actions\":[\"update\"],"
		"\"before\":{\"p\":\"first-hush\",\"q\":\"id-1\"},\"after\":{\"q\":\"id-1\"},"
		"\"after_unknown\":{\"p\":true}}},"
		"{\"address\":\"a.b\",\"change\":{\"actions\":[\"update\"],\"before\":{\"p\":\"first-hush\"},"
		"\"after\":{\"p\":{\"deep\":[\"next-hush\"]}},\"after_sensitive\":{\"p\":true}}}],"
		"\"output_changes\":{\"o\":{\"actions\":[\"create\"],\"after\":\"next-hush\"}}}",
		"[]");
	json_auto_t *copy = change(&of, 0);

	(void)state;
	assert_no_text(&of, "hush");
	assert_json(json_object_get(copy, "before"), "{\"p\":null,\"q\":\"id-1\"}");
	assert_json(json_object_get(copy, "changed"), "{\"p\":true}");
	release(&of);
}

static void many_secrets_with_equal_beginnings_take_bounded_time(void **state)
{
	enum { SECRETS = 4000, LENGTH = 2000, TEXT = 1 << 20 };
	json_auto_t *secrets = json_array();
	_cleanup_(freep) char *secret = mem_new(LENGTH + 1, 1), *text = mem_new(TEXT + 1, 1);
	struct secret_texts *set;
	clock_t began = clock();

	(void)state;
	memset(secret, 'a', LENGTH - 1);
	memset(text, 'a', TEXT);
	secret[LENGTH - 1] = 'b';
	for (int i = 0; i < SECRETS; i++)
		json_array_append_new(secrets, json_string(secret));
	set = secret_texts_new(secrets);
	assert_true(secret_texts_in(set, text, TEXT));
	assert_true((clock() - began) / CLOCKS_PER_SEC < 60);
	secret_texts_free(set);
}

static void a_search_finds_values_and_nothing_that_is_blanked(void **state)
{
	struct summarized of = summarized(
		"{\"resource_changes\":["
		"{\"address\":\"a.one\",\"change\":{\"actions\":[\"update\"],\"before\":{\"p\":\"needle\",\"q\":\"x\"},"
		"\"after\":{\"p\":\"needle2\",\"q\":\"x\"},\"after_sensitive\":{\"p\":true}}},"
		"{\"address\":\"a.needle\",\"change\":{\"actions\":[\"update\"],\"before\":{\"needle\":1},"
		"\"after\":{\"needle\":2}}},"
		"{\"address\":\"a.two\",\"change\":{\"actions\":[\"update\"],\"before\":{\"p\":[\"a \\\"NEEDLE\\\" "
		"\\u00e9\"]},"
		"\"after\":{\"p\":[4711]}}}],"
		"\"output_changes\":{\"o\":{\"actions\":[\"create\"],\"before\":null,\"after\":\"the Needle\"}}}",
		"[]");
	static const struct {
		const char *text, *changes;
		size_t outputs;
	} cases[] = {{"needle", "[2]", 1}, {"\"needle\" \xc3\xa9", "[2]", 0}, {"4711", "[2]", 0}, {"null", "[]", 0},
		{"x", "[0]", 0}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		json_auto_t *found = changes_filter(json_incref(of.summary), &of.draft, cases[i].text);
		json_auto_t *indexes = json_array();
		json_t *one;
		size_t k;

		json_array_foreach(json_object_get(found, "resource-changes"), k, one)
			json_array_append(indexes, json_object_get(one, "index"));
		assert_json(indexes, cases[i].changes);
		assert_int_equal(json_array_size(json_object_get(found, "outputs")), cases[i].outputs);
		assert_non_null(json_object_get(found, "counts"));
	}
	release(&of);
}

static void hostile_documents_are_refused_or_shown_in_part(void **state)
{
	static const char *const refused[] = {"", "[]", "7", "{", "{\"resource_changes\":[",
		"{\"resource_changes\":[{}", "{\"resource_changes\":[}]}", "{\"a\" 1}", "{\"a\":\"",
		"{\"resource_changes\":[1 2]}"};
	static const char *const accepted[] = {"{}", "{\"resource_changes\":7}", "{\"resource_changes\":{\"a\":1}}",
		"{\"resource_changes\":[7,null,[],\"x\"]}", CHANGE("\"actions\":7"), CHANGE("\"actions\":[7,{}]"),
		CHANGE("\"actions\":[],\"before\":[1],\"after\":{\"a\":1}"),
		CHANGE("\"actions\":[\"update\"],\"before\":{\"a\":[{}]},\"after\":{\"a\":{\"a\":[]}},"
		       "\"after_unknown\":[true],\"replace_paths\":[7,[null,-1,{}]]"),
		"{\"resource_drift\":[{\"change\":[]}],\"deferred_changes\":[7],\"output_changes\":[],\"checks\":[7,{}]"
		","
		"\"relevant_attributes\":[7,{\"resource\":7}]}",
		"{\"output_changes\":{\"a\\u0000b\":{},\"\\ud800\":7}}"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
		struct summarized of;

		assert_int_equal(summarize(refused[i], strlen(refused[i]), "[]", &of), -1);
	}
	for (size_t i = 0; i < ARRAY_LEN(accepted); i++) {
		struct summarized of = summarized(accepted[i], "[\"secret\"]");

		release(&of);
	}
}

static void a_change_that_cannot_be_parsed_keeps_its_row(void **state)
{
	struct buf plan = BUF_INIT(64 << 20);
	struct summarized of;
	json_t *first;

	(void)state;
	buf_text(&plan,
		"{\"resource_changes\":[{\"address\":\"a.deep\",\"change\":{\"actions\":[\"update\"],\"before\":");
	for (int i = 0; i < 100000; i++)
		buf_text(&plan, "{\"a\":[");
	for (int i = 0; i < 100000; i++)
		buf_text(&plan, "]}");
	buf_text(&plan, "}},{\"change\":{\"before\":{\"p\":\"");
	for (int i = 0; i < MAX_CHANGE_PARSED / 16; i++)
		buf_text(&plan, "xxxxxxxxxxxxxxxx");
	buf_text(&plan,
		"\"},\"actions\":[\"delete\"]},\"address\":\"a.huge\"},"
		"{\"address\":\"a.zero\",\"change\":{\"actions\":[\"create\"],\"after\":{\"p\":\"\\u0000\"}}}]}");
	assert_int_equal(summarize(buf_str(&plan), plan.len, "[]", &of), 0);
	assert_json(json_object_get(of.summary, "resource-changes"),
		"[{\"index\":0,\"action\":\"update\",\"address\":\"a.deep\",\"unreadable\":true,\"changed-count\":0},"
		"{\"index\":1,\"action\":\"delete\",\"address\":\"a.huge\",\"unreadable\":true,\"changed-count\":0},"
		"{\"index\":2,\"action\":\"create\",\"address\":\"a.zero\",\"unreadable\":true,\"changed-count\":0}]");
	first = change(&of, 1);
	assert_null(json_object_get(first, "before"));
	json_decref(first);
	release(&of);
	buf_release(&plan);
}

static void more_changes_than_the_limit_are_counted(void **state)
{
	enum { COUNT = MAX_CHANGES_COUNT + 10 };
	struct buf plan = BUF_INIT(64 << 20);
	struct summarized of;

	(void)state;
	buf_text(&plan, "{\"resource_changes\":[");
	for (int i = 0; i < COUNT; i++)
		buf_printf(&plan, "%s{\"address\":\"a.b[%d]\",\"change\":{\"actions\":[\"delete\"]}}", i ? "," : "", i);
	buf_text(&plan, "]}");
	assert_int_equal(summarize(buf_str(&plan), plan.len, "[]", &of), 0);
	assert_int_equal(json_int_at(of.summary, "counts.delete", 0), COUNT);
	assert_int_equal(json_array_size(json_object_get(of.summary, "resource-changes")), MAX_CHANGES_COUNT);
	assert_true(json_is_true(json_object_get(of.summary, "truncated")));
	release(&of);
	buf_release(&plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_have_the_class_badges_and_changed_attributes),
		cmocka_unit_test(sensitive_values_are_blanked_on_both_sides),
		cmocka_unit_test(texts_with_a_secret_are_blanked),
		cmocka_unit_test(copies_of_a_blanked_string_are_blanked),
		cmocka_unit_test(many_secrets_with_equal_beginnings_take_bounded_time),
		cmocka_unit_test(a_search_finds_values_and_nothing_that_is_blanked),
		cmocka_unit_test(hostile_documents_are_refused_or_shown_in_part),
		cmocka_unit_test(a_change_that_cannot_be_parsed_keeps_its_row),
		cmocka_unit_test(more_changes_than_the_limit_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
