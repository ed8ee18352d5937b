/* SPDX-License-Identifier: MPL-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include "scheduler/store/vcs/calls/comment_text.h"
#include "scheduler/store/vcs/calls/report_state.h"

#define CHECKED (STAGE_BIT(STAGE_POST_PLAN) | STAGE_BIT(STAGE_OPA))

static void the_state_of_a_run(void **state)
{
	static const struct {
		struct report_run run;
		enum report_state all, plan, apply;
	} cases[] = {
		{{RUN_PENDING, STAGE_NONE, 0, false, false}, REPORT_PENDING, REPORT_PENDING, REPORT_PENDING},
		{{RUN_PLANNING, STAGE_PLAN, 0, false, false}, REPORT_PENDING, REPORT_PENDING, REPORT_PENDING},
		{{RUN_PLANNED, STAGE_PLAN, 0, false, false}, REPORT_SUCCESS, REPORT_SUCCESS, REPORT_PENDING},
		{{RUN_PLANNED, STAGE_PLAN, CHECKED, false, false}, REPORT_PENDING, REPORT_SUCCESS, REPORT_PENDING},
		{{RUN_POST_PLAN_RUNNING, STAGE_POST_PLAN, CHECKED, false, false}, REPORT_PENDING, REPORT_SUCCESS,
			REPORT_PENDING},
		{{RUN_POLICY_CHECKED, STAGE_OPA, CHECKED, false, false}, REPORT_SUCCESS, REPORT_SUCCESS,
			REPORT_PENDING},
		{{RUN_POLICY_OVERRIDE, STAGE_OPA, CHECKED, false, false}, REPORT_FAILURE, REPORT_SUCCESS,
			REPORT_PENDING},
		{{RUN_POLICY_SOFT_FAILED, STAGE_OPA, CHECKED, false, false}, REPORT_FAILURE, REPORT_SUCCESS,
			REPORT_FAILURE},
		{{RUN_ERRORED, STAGE_PLAN, 0, false, false}, REPORT_FAILURE, REPORT_FAILURE, REPORT_FAILURE},
		{{RUN_ERRORED, STAGE_PLAN, 0, true, false}, REPORT_ERROR, REPORT_ERROR, REPORT_ERROR},
		{{RUN_ERRORED, STAGE_APPLY, 0, false, false}, REPORT_SUCCESS, REPORT_SUCCESS, REPORT_FAILURE},
		{{RUN_CANCELED, STAGE_NONE, 0, false, false}, REPORT_FAILURE, REPORT_FAILURE, REPORT_FAILURE},
		{{RUN_DISCARDED, STAGE_PLAN, 0, false, false}, REPORT_SUCCESS, REPORT_SUCCESS, REPORT_FAILURE},
		{{RUN_APPLYING, STAGE_APPLY, 0, false, false}, REPORT_SUCCESS, REPORT_SUCCESS, REPORT_PENDING},
		{{RUN_APPLIED, STAGE_APPLY, 0, false, false}, REPORT_SUCCESS, REPORT_SUCCESS, REPORT_SUCCESS},
		{{RUN_PLANNED_AND_FINISHED, STAGE_PLAN, CHECKED, false, false}, REPORT_SUCCESS, REPORT_SUCCESS,
			REPORT_SUCCESS},
		{{RUN_PLANNED_AND_FINISHED, STAGE_PLAN, 0, false, true}, REPORT_FAILURE, REPORT_FAILURE,
			REPORT_SUCCESS},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		assert_int_equal(report_state_of(&cases[i].run, REPORT_ALL), cases[i].all);
		assert_int_equal(report_state_of(&cases[i].run, REPORT_PLAN), cases[i].plan);
		assert_int_equal(report_state_of(&cases[i].run, REPORT_APPLY), cases[i].apply);
	}
}

static void a_commit_without_runs_passes_once_it_is_decided(void **state)
{
	char description[REPORT_DESCRIPTION_SIZE];

	(void)state;
	assert_int_equal(report_sum(&(struct report_counts){.undecided = false}, description), REPORT_SUCCESS);
	assert_string_equal(description, "No workspace is affected");
	assert_int_equal(report_sum(&(struct report_counts){.undecided = true}, description), REPORT_PENDING);
	assert_int_equal(report_sum(&(struct report_counts){.unapproved = true}, description), REPORT_PENDING);
	assert_string_equal(description, "Waits for a user's approval");
	assert_int_equal(report_sum(&(struct report_counts){.broken = true}, description), REPORT_ERROR);
}

static void one_failure_fails_a_commit(void **state)
{
	const struct report_counts counts = {
		.count = {[REPORT_SUCCESS] = 3, [REPORT_PENDING] = 2, [REPORT_FAILURE] = 1},
		.workspace = {[REPORT_FAILURE] = "network"}};
	char description[REPORT_DESCRIPTION_SIZE];

	(void)state;
	assert_int_equal(report_sum(&counts, description), REPORT_FAILURE);
	assert_string_equal(description, "1 of 6 plans failed, such as network");
	assert_int_equal(report_sum(&(struct report_counts){.applies = true,
					    .count = {[REPORT_PENDING] = 1},
					    .workspace = {[REPORT_PENDING] = "network"}},
				 description),
		REPORT_PENDING);
	assert_string_equal(description, "The apply is not complete: network");
}

static void a_comment_shows_texts_as_they_are(void **state)
{
	const struct comment_line line = {.workspace = "a|b](http://evil)<img>@all\n# x",
		.run = "run-1",
		.status = "errored",
		.error = "```\nout of the block\n```"};
	const struct comment_text text = {.public_url = "https://runyard.example.com",
		.organization = "acme",
		.marker = "vr-1",
		.sha = "0123456789",
		.lines = &line,
		.count = 1,
		.total = 3};
	_cleanup_(freep) char *written = comment_write(&text), *marker = comment_marker("vr-1");
	const char *row = strstr(written, "| a");

	(void)state;
	assert_true(text_starts(written, marker));
	assert_non_null(row);
	assert_null(strstr(written, "<img>"));
	assert_null(strstr(written, "@all"));
	assert_null(strstr(written, "](http://evil)"));
	assert_non_null(strstr(written, "2 more workspaces"));
	assert_non_null(strstr(written, "'''\nout of the block"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_state_of_a_run),
		cmocka_unit_test(a_commit_without_runs_passes_once_it_is_decided),
		cmocka_unit_test(one_failure_fails_a_commit),
		cmocka_unit_test(a_comment_shows_texts_as_they_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
