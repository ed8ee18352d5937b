/* SPDX-License-Identifier: MPL-2.0 */
/* What counts as drift, and which results are the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/err.h"
#include "scheduler/runs/assessments/findings.h"
#include "scheduler/runs/plans/plan_summary.h"

static struct findings findings_in(const char *plan)
{
	struct plan_changes_draft draft = PLAN_CHANGES_DRAFT_INIT;
	json_auto_t *secrets = json_array(), *summary = NULL;
	struct err err = ERR_INIT;
	struct findings findings;

	assert_int_equal(plan_summarize((struct json_span){plan, strlen(plan)}, secrets, &draft, &err), 0);
	assert_int_equal(json_parse(buf_str(&draft.summary), draft.summary.len, &summary, &err), 0);
	findings = findings_of(summary);
	plan_changes_draft_release(&draft);
	return findings;
}

#define CHANGE(address, actions, before, after)                                                                        \
	"{\"address\":\"" address "\",\"change\":{\"actions\":[" actions "],\"before\":" before ",\"after\":" after "}}"
#define PLAN(changes, drift, more) "{\"resource_changes\":[" changes "],\"resource_drift\":[" drift "]" more "}"

static const struct {
	const char *what, *plan;
	long long drifted;
} cases[] = {
	{"a resource that is gone is created again",
		PLAN(CHANGE("a.x", "\"create\"", "null", "{\"s\":1}"), CHANGE("a.x", "\"delete\"", "{\"s\":1}", "null"),
			""),
		1},
	{"an attribute is set back",
		PLAN(CHANGE("a.x", "\"update\"", "{\"s\":2}", "{\"s\":1}"),
			CHANGE("a.x", "\"update\"", "{\"s\":1}", "{\"s\":2}"), ""),
		1},
	{"an attribute that ignore_changes hides",
		PLAN(CHANGE("a.x", "\"no-op\"", "{\"s\":2}", "{\"s\":2}"),
			CHANGE("a.x", "\"update\"", "{\"s\":1}", "{\"s\":2}"), ""),
		0},
	{"an attribute that another change of the resource does not touch",
		PLAN(CHANGE("a.x", "\"update\"", "{\"s\":2,\"t\":1}", "{\"s\":2,\"t\":2}"),
			CHANGE("a.x", "\"update\"", "{\"s\":1,\"t\":1}", "{\"s\":2,\"t\":1}"), ""),
		0},
	{"another resource changes because of it",
		PLAN(CHANGE("a.x", "\"no-op\"", "{\"s\":2}", "{\"s\":2}"),
			CHANGE("a.x", "\"update\"", "{\"s\":1}", "{\"s\":2}"),
			",\"relevant_attributes\":[{\"resource\":\"a.x\",\"attribute\":[\"s\"]}]"),
		1},
	{"another resource depends on another attribute of it",
		PLAN(CHANGE("a.x", "\"no-op\"", "{\"s\":2}", "{\"s\":2}"),
			CHANGE("a.x", "\"update\"", "{\"s\":1}", "{\"s\":2}"),
			",\"relevant_attributes\":[{\"resource\":\"a.x\",\"attribute\":[\"id\"]}]"),
		0},
	{"only an output shows it",
		PLAN("", CHANGE("a.x", "\"update\"", "{\"s\":1}", "{\"s\":2}"),
			",\"output_changes\":{\"o\":{\"actions\":[\"update\"],\"before\":1,\"after\":2}}"),
		0},
	{"a change of the configuration without drift",
		PLAN(CHANGE("a.x", "\"update\"", "{\"s\":2}", "{\"s\":1}"), "", ""), 0},
	{"a data source that is read again",
		PLAN(CHANGE("data.a.x", "\"read\"", "null", "{\"s\":1}"),
			CHANGE("data.a.x", "\"update\"", "{\"s\":1}", "{\"s\":2}"), ""),
		0},
};

static void test_only_what_invalidates_the_configuration_is_drift(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct findings findings = findings_in(cases[i].plan);

		if (findings.drifted != cases[i].drifted)
			fail_msg("%s: %lld drifted", cases[i].what, findings.drifted);
		assert_int_equal(findings.drift_digest[0] != '\0', cases[i].drifted > 0);
	}
}

static void test_the_digest_names_what_drifted(void **state)
{
	struct findings one = findings_in(cases[1].plan), same = findings_in(cases[1].plan);
	struct findings other = findings_in(PLAN(CHANGE("a.y", "\"update\"", "{\"s\":2}", "{\"s\":1}"),
		CHANGE("a.y", "\"update\"", "{\"s\":1}", "{\"s\":2}"), ""));

	(void)state;
	assert_string_equal(one.drift_digest, same.drift_digest);
	assert_string_not_equal(one.drift_digest, other.drift_digest);
}

static void test_checks_are_counted_by_status(void **state)
{
	static const char plan[] = "{\"checks\":[{\"address\":{\"to_display\":\"check.a\"},\"status\":\"pass\"},"
				   "{\"address\":{\"to_display\":\"check.b\"},\"status\":\"fail\"},"
				   "{\"address\":{\"to_display\":\"check.c\"},\"status\":\"error\"},"
				   "{\"address\":{\"to_display\":\"check.d\"},\"status\":\"unknown\"}]}";
	static const char unknown[] =
		"{\"checks\":[{\"address\":{\"to_display\":\"check.d\"},\"status\":\"unknown\"}]}";
	struct findings findings = findings_in(plan);

	(void)state;
	assert_int_equal(findings.checks_passed, 1);
	assert_int_equal(findings.checks_failed, 1);
	assert_int_equal(findings.checks_errored, 1);
	assert_int_equal(findings.checks_unknown, 1);
	assert_true(findings.checks_digest[0]);
	assert_false(findings_in(unknown).checks_digest[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_only_what_invalidates_the_configuration_is_drift),
		cmocka_unit_test(test_the_digest_names_what_drifted),
		cmocka_unit_test(test_checks_are_counted_by_status),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
