/* SPDX-License-Identifier: MPL-2.0 */
/* The capabilities of workers, the needs of jobs, and their match. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "proto/capabilities.h"

static json_t *list(const char *text)
{
	return json_loads(text, 0, NULL);
}

/* The expected engine, "terraform 1.11.4"; "-": none is needed; "no": the needs can't be met. */
static void check(const char *capabilities, const char *needs, const char *wanted)
{
	json_auto_t *own = list(capabilities);
	struct engine_choice choice;
	_cleanup_(freep) char *got = NULL;

	if (!capabilities_meet(own, needs, &choice))
		got = mem_text("no");
	else
		got = choice.engine ? mem_printf("%s %s", choice.engine, choice.version) : mem_text("-");
	if (!text_equal(got, wanted))
		fail_msg("%s for \"%s\": %s, not %s", capabilities, needs, got, wanted);
}

#define BOTH "[\"tofu 1.10.6\", \"terraform 1.5.6\", \"terraform 1.5.7\", \"terraform 1.11.4\", \"opa\"]"

static void a_plan_gets_the_newest_matching_engine(void **state)
{
	(void)state;
	check(BOTH, "engine ", "tofu 1.10.6");
	check(BOTH, "engine latest", "tofu 1.10.6");
	check(BOTH, "engine ~> 1.5.0", "terraform 1.5.7");
	check(BOTH, "engine < 1.5.7, >= 1.0.0", "terraform 1.5.6");
	check(BOTH, "engine >= 1.0.0", "terraform 1.11.4");
	check(BOTH, "engine 1.5.6", "terraform 1.5.6");
	check(BOTH, "engine = 1.5.6", "terraform 1.5.6");
	check("[]", "engine ", "no");
	check("[\"opa\"]", "engine ", "no");
}

static void a_similar_version_does_not_match(void **state)
{
	(void)state;
	check(BOTH, "engine 1.5.5", "no");
	check(BOTH, "engine 1.11.5", "no");
	check(BOTH, "engine 1.11.4-rc1", "no");
	check(BOTH, "engine ~> 1.12.0", "no");
	check(BOTH, "engine invalid", "no");
	check(BOTH, "terraform 1.5.5", "no");
}

static void an_apply_gets_the_engine_of_its_plan(void **state)
{
	(void)state;
	check(BOTH, "tofu 1.10.6", "tofu 1.10.6");
	check(BOTH, "terraform 1.10.6", "no");
	check(BOTH, "tofu 1.5.7", "no");
	check(BOTH, "terraform 1.5.7", "terraform 1.5.7");
	check("[\"terraform 1.10.6\"]", "tofu 1.10.6", "no");
}

static void only_an_exact_version_is_downloaded(void **state)
{
	(void)state;
	check("[\"download terraform\"]", "engine 1.5.7", "terraform 1.5.7");
	check("[\"download tofu\"]", "engine 1.10.6", "tofu 1.10.6");
	check("[\"download terraform\", \"download tofu\"]", "engine 1.10.6", "terraform 1.10.6");
	check("[\"tofu 1.10.6\", \"download terraform\", \"download tofu\"]", "engine 1.10.5", "tofu 1.10.5");
	check("[\"tofu 1.10.6\", \"download terraform\"]", "engine 1.10.5", "terraform 1.10.5");
	check("[\"download terraform\"]", "tofu 1.10.6", "no");
	check("[\"download tofu\"]", "tofu 1.10.6", "tofu 1.10.6");
	/* A download needs a constraint with a known version. Malformed versions match nothing. */
	check("[\"download terraform\"]", "engine ~> 1.5.0", "no");
	check("[\"download terraform\"]", "engine latest", "no");
	check("[\"download terraform\"]", "engine ", "no");
	check("[\"download terraform\"]", "terraform 1.5.7-../../x", "no");
}

static void other_stages_need_their_program(void **state)
{
	(void)state;
	check(BOTH, "opa", "-");
	check(BOTH, "sentinel", "no");
	check(BOTH, "cost", "no");
	check("[]", "", "-");
	check("[\"engine 1.5.7\", \"opa x\"]", "opa", "no");
}

static void check_allowed(const char *capabilities, const char *needs, const char *disabled, const char *wanted)
{
	json_auto_t *own = list(capabilities), *versions = list(disabled), *expected = list(wanted);
	json_auto_t *actual = capabilities_allowed(own, needs, versions);

	assert_true(json_equal(actual, expected));
}

#define QUERYING "[\"tofu 1.15.0\", \"terraform 1.13.3\", \"terraform 1.14.8\", \"terraform 1.14.0-rc1\", \"query\"]"

#define TESTING "[\"tofu 1.10.6\", \"terraform 1.5.7\", \"terraform 1.11.4\", \"test\"]"

static void a_test_run_gets_an_engine_that_has_tests(void **state)
{
	(void)state;
	check(TESTING, "test engine ", "tofu 1.10.6");
	check(TESTING, "test terraform 1.11.4", "terraform 1.11.4");
	check(TESTING, "test engine 1.5.7", "no");
	check("[\"terraform 1.5.7\", \"test\"]", "test engine ", "no");
	check("[\"terraform 1.11.4\"]", "test engine ", "no");
	check("[\"download tofu\", \"test\"]", "test engine 1.10.6", "tofu 1.10.6");
}

static void a_query_gets_a_terraform_that_has_queries(void **state)
{
	(void)state;
	check(QUERYING, "query engine ", "terraform 1.14.8");
	check(QUERYING, "query engine latest", "terraform 1.14.8");
	check(QUERYING, "query engine >= 1.5.0", "terraform 1.14.8");
	check(QUERYING, "query engine 1.14.0-rc1", "terraform 1.14.0-rc1");
	check(QUERYING, "query terraform 1.14.8", "terraform 1.14.8");
	check(QUERYING, "query engine 1.13.3", "no");
	check(QUERYING, "query engine ~> 1.13.0", "no");
	check(QUERYING, "query engine 1.15.0", "no");
	check("[\"terraform 1.14.8\"]", "query engine ", "no");
	check("[\"terraform 1.14.8\"]", "query terraform 1.14.8", "no");
	check("[\"tofu 1.10.6\", \"download tofu\", \"download terraform\", \"query\"]", "query engine 1.14.8",
		"terraform 1.14.8");
	check("[\"tofu 1.10.6\", \"download tofu\", \"query\"]", "query engine 1.14.8", "no");
	check("[\"download terraform\", \"query\"]", "query engine 1.13.3", "no");
}

static void a_worker_of_an_earlier_version_gets_any_job_but_queries(void **state)
{
	struct engine_choice choice;

	(void)state;
	assert_true(capabilities_meet(NULL, "engine 1.14.8", &choice) && capabilities_meet(NULL, "opa", &choice));
	assert_false(capabilities_meet(NULL, "query engine ", &choice));
	assert_true(version_has_query("1.14.0") && version_has_query("1.14.0-rc1") && version_has_query("2.0.0"));
	assert_true(version_has_query("") && version_has_query("latest") && version_has_query("~> 1.13"));
	assert_false(version_has_query("1.13.9") || version_has_query("= 0.14.11") || version_has_query("v1.5.7"));
}

static void disabled_versions_are_used_only_if_exact(void **state)
{
	static const char all[] = "[\"terraform 1.5.7\", \"tofu 1.10.6\", \"opa\"]";
	json_auto_t *disabled = NULL;

	(void)state;
	check_allowed(all, "engine ~> 1.5", "[\"1.5.7\"]", "[\"tofu 1.10.6\", \"opa\"]");
	check_allowed(all, "engine ", "[\"1.5.7\", \"1.10.6\"]", "[\"opa\"]");
	check_allowed(all, "engine latest", "[]", all);
	check_allowed(all, "engine = 1.5.7", "[\"1.5.7\"]", all); /* it was chosen before */
	check_allowed(all, "terraform 1.5.7", "[\"1.5.7\"]", all);
	check_allowed(all, "opa", "[\"1.5.7\"]", all);
	assert_null(capabilities_allowed(NULL, "engine ", NULL));
	disabled = list("[\"1.5.7\"]");
	assert_true(json_is_null(capabilities_allowed(json_null(), "engine ", disabled))); /* of an earlier version */
}

static void check_fit(const char *own_text, const char *others_text, const char *needs, enum job_fit wanted)
{
	json_auto_t *own = own_text ? list(own_text) : NULL, *others = list(others_text);
	struct engine_choice choice;

	assert_int_equal(capabilities_judge(own, others, needs, &choice), wanted);
}

static void a_job_fits_waits_or_is_refused(void **state)
{
	(void)state;
	check_fit("[\"terraform 1.5.7\"]", "[]", "engine 1.5.7", JOB_FITS);
	check_fit("[\"terraform 1.5.6\"]", "[[\"terraform 1.5.7\"]]", "engine 1.5.7", JOB_WAITS);
	check_fit("[\"terraform 1.5.6\"]", "[[\"download terraform\"]]", "engine 1.5.7", JOB_WAITS);
	check_fit("[\"terraform 1.5.6\"]", "[null]", "engine 1.5.7", JOB_WAITS);
	check_fit("[\"terraform 1.5.6\"]", "[[\"terraform 1.5.5\"], []]", "engine 1.5.7", JOB_REFUSED);
	check_fit("[\"terraform 1.10.6\"]", "[]", "tofu 1.10.6", JOB_REFUSED);
	check_fit("[]", "[]", "engine 1.5.7", JOB_WAITS);
	check_fit("[\"opa\"]", "[[\"terraform 1.5.6\"]]", "engine 1.5.7", JOB_WAITS);
	check_fit("[\"terraform 1.5.6\"]", "[[\"opa\"]]", "opa", JOB_WAITS);
	check_fit("[\"terraform 1.5.6\"]", "[[]]", "opa", JOB_FITS);
	check_fit(NULL, "[]", "tofu 1.10.6", JOB_FITS);
}

static void a_worker_refuses_only_stages_that_it_names(void **state)
{
	json_auto_t *own = list("[\"terraform 1.5.7\", \"no apply\", \"no opa\"]");

	(void)state;
	assert_true(capabilities_refuse(own, "apply"));
	assert_true(capabilities_refuse(own, "opa"));
	assert_false(capabilities_refuse(own, "plan"));
	assert_false(capabilities_refuse(own, "sentinel"));
	assert_false(capabilities_refuse(NULL, "apply"));
	assert_false(capabilities_refuse(json_null(), "apply"));
	check("[\"no plan\", \"no cost\"]", "cost", "no");
}

static void check_refusal(const char *needs, const char *engines, const char *wanted)
{
	_cleanup_(buf_release) struct buf sentence = BUF_INIT(512);
	json_auto_t *all = list(engines);

	capabilities_refusal(needs, "no worker of its pool has", all, &sentence);
	if (!strstr(buf_str(&sentence), wanted))
		fail_msg("%s", buf_str(&sentence));
}

static void a_refusal_names_the_existing_engines(void **state)
{
	(void)state;
	check_refusal("tofu 1.10.6", BOTH, "planned with OpenTofu 1.10.6, which no worker of its pool has");
	check_refusal("tofu 1.10.6", BOTH,
		"There are: OpenTofu 1.10.6, Terraform 1.5.6, Terraform 1.5.7, Terraform 1.11.4. Install");
	check_refusal("engine ~> 1.12.0", BOTH, "version is \"~> 1.12.0\", which no worker");
	check_refusal("engine 1.5.7", "[\"opa\"]", "There are: none.");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plan_gets_the_newest_matching_engine),
		cmocka_unit_test(a_similar_version_does_not_match),
		cmocka_unit_test(an_apply_gets_the_engine_of_its_plan),
		cmocka_unit_test(only_an_exact_version_is_downloaded),
		cmocka_unit_test(other_stages_need_their_program),
		cmocka_unit_test(a_query_gets_a_terraform_that_has_queries),
		cmocka_unit_test(a_test_run_gets_an_engine_that_has_tests),
		cmocka_unit_test(a_worker_of_an_earlier_version_gets_any_job_but_queries),
		cmocka_unit_test(disabled_versions_are_used_only_if_exact),
		cmocka_unit_test(a_job_fits_waits_or_is_refused),
		cmocka_unit_test(a_worker_refuses_only_stages_that_it_names),
		cmocka_unit_test(a_refusal_names_the_existing_engines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
