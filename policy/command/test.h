/* SPDX-License-Identifier: MPL-2.0 */
#ifndef POLICY_COMMAND_TEST_H
#define POLICY_COMMAND_TEST_H

/* The test cases of policies: for the policy X.sentinel each file test/X/NAME.hcl and test/X/NAME.json beside it. */

#include "policy/command/options.h"

enum case_status { CASE_PASSED, CASE_FAILED, CASE_ERRORED };

struct test_case {
	char *path; /* of its configuration; owned */
	char *name; /* POLICY/CASE, without endings; owned */
	bool chosen;
	enum case_status status;
	char *text; /* what is shown of it, as text or JSON; owned; NULL if there is none */
	size_t text_len;
};

struct test_policy {
	char *path; /* owned */
	struct test_case *cases;
	size_t case_count;
};

struct tests {
	struct test_policy *policies;
	size_t count;
};

/* Finds the policies of the paths, files or folders ("." if there are none), in order of name. False with a message on
 * standard error. tests_release is due in both cases. */
bool tests_find(struct tests *tests, const char *const *paths, size_t path_count);
/* Chooses the cases whose name matches; NULL chooses all. False with a message if the pattern is wrong. */
bool tests_choose(struct tests *tests, const char *pattern);
void tests_release(struct tests *tests);

/* Evaluates the case and fills in its result. For any thread. */
void test_case_run(struct test_case *test, const struct test_policy *policy, const struct options *options,
	const struct load_settings *settings);

#endif
