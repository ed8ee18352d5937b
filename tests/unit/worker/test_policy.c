/* SPDX-License-Identifier: MPL-2.0 */
/* Policies: reading the answers about them, the result rules, the outcome of a stage, and the imports of Sentinel
 * policies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/err.h"
#include "common/terraform/literal.h"
#include "common/terraform/mocks.h"
#include "common/terraform/plan_text.h"
#include "common/hcl/blocks.h"
#include "worker/policy/evaluator.h"
#include "worker/policy/opa_answer.h"
#include "worker/policy/report.h"
#include "worker/policy/sentinel_config.h"
#include "worker/upload/redact.h"

/* ---- OPA's answers ---- */

#define VALUE(value) "{\"result\":[{\"expressions\":[{\"value\":" value ",\"text\":\"data.x\"}]}]}"

static void only_an_empty_array_passes(void **state)
{
	static const struct {
		const char *out;
		int code;
		enum verdict verdict;
		const char *reason; /* its prefix */
		const char *says;   /* as JSON */
	} rows[] = {
		{VALUE("[]"), 0, VERDICT_PASSED, "", "[]"},
		{VALUE("[\"a\",{\"msg\":\"b\"},{\"c\":1},4]"), 0, VERDICT_FAILED, "",
			"[\"a\",\"b\",\"{\\\"c\\\":1}\",\"4\"]"},
		{VALUE("[false]"), 0, VERDICT_FAILED, "", "[\"false\"]"},
		{VALUE("true"), 0, VERDICT_ERRORED, "The query data.x gives a boolean", "[]"},
		{VALUE("false"), 0, VERDICT_ERRORED, "The query data.x gives a boolean", "[]"},
		{VALUE("{\"a\":1}"), 0, VERDICT_ERRORED, "The query data.x gives an object", "[]"},
		{VALUE("\"\""), 0, VERDICT_ERRORED, "The query data.x gives a single value", "[]"},
		{VALUE("null"), 0, VERDICT_ERRORED, "The query data.x gives a single value", "[]"},
		{"{}", 0, VERDICT_ERRORED, "The query is undefined", "[]"},
		{"{\"result\":[{\"expressions\":[{\"value\":[]},{\"value\":[\"late\"]}]}]}", 0, VERDICT_FAILED, "",
			"[\"late\"]"},
		{"{\"result\":[{\"expressions\":[{\"value\":[\"a\"]}]},{\"expressions\":[{\"value\":[]}]}]}", 0,
			VERDICT_FAILED, "", "[\"a\"]"},
		{"{\"result\":[{\"expressions\":[{\"value\":[]},{\"value\":true,\"text\":\"t\"}]}]}", 0,
			VERDICT_ERRORED, "The query t gives a boolean", "[]"},
		{"{\"errors\":[{\"message\":\"m\",\"location\":{\"file\":\"a.rego\",\"row\":3}},{\"message\":\"n\"}]}",
			2, VERDICT_ERRORED, "m (a.rego:3); n", "[]"},
		{VALUE("[]"), 1, VERDICT_ERRORED, "opa says that it failed", "[]"},
		{"", 2, VERDICT_ERRORED, "opa ended with exit code 2: panic: no", "[]"},
		{"[]", 0, VERDICT_ERRORED, "opa ended with exit code 0", "[]"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct evaluated evaluated = {.code = rows[i].code,
			.out = rows[i].out,
			.errors = "\npanic: no\nmore",
			.out_len = strlen(rows[i].out)};
		_cleanup_(judgement_release) struct judgement judgement = {.says = NULL};
		_cleanup_(freep) char *says = NULL;

		opa_answer_read(&evaluated, &judgement);
		says = json_text(judgement.says);
		assert_int_equal(judgement.verdict, rows[i].verdict);
		assert_true(text_starts(judgement.reason, rows[i].reason));
		assert_string_equal(says, rows[i].says);
	}
}

/* ---- the outcome of a stage ---- */

struct outcome_row {
	const struct evaluator *evaluator;
	const char *levels; /* first letters of the levels of policies that did not pass; "!" is a set with an error,
			       "." one that passed */
	enum outcome outcome;
};

static const struct outcome_row outcome_rows[] = {
	{&evaluator_opa, "", OUTCOME_PASSED},
	{&evaluator_opa, ".", OUTCOME_PASSED},
	{&evaluator_opa, "a", OUTCOME_PASSED},
	{&evaluator_opa, "am", OUTCOME_FAILED},
	{&evaluator_opa, "!", OUTCOME_ERRORED},
	{&evaluator_opa, "!.", OUTCOME_FAILED},
	{&evaluator_sentinel, "a", OUTCOME_PASSED},
	{&evaluator_sentinel, "as", OUTCOME_SOFT_FAILED},
	{&evaluator_sentinel, "sh", OUTCOME_FAILED},
	{&evaluator_sentinel, "!s", OUTCOME_FAILED},
	{&evaluator_sentinel, "!!", OUTCOME_ERRORED},
};

static const char *level_by_letter(const struct evaluator *evaluator, char letter)
{
	for (const char *const *at = evaluator->levels; *at; at++)
		if (**at == letter)
			return *at;
	return evaluator->levels[0];
}

static void judge_row(const struct outcome_row *row, struct policy_set *set, char letter, enum verdict verdict)
{
	struct judgement judgement = {.verdict = letter == '.' ? VERDICT_PASSED : verdict, .reason = "why"};
	const struct policy policy = {
		.name = "p", .enforcement = level_by_letter(row->evaluator, letter), .description = ""};
	struct redactor redactor = {.secrets = NULL};

	if (letter == '!')
		text_copy(set->error, sizeof(set->error), "broken");
	else
		report_add(set, &policy, &judgement, &redactor);
}

static void the_strictest_failed_level_decides(void **state)
{
	static const enum verdict verdicts[] = {VERDICT_FAILED, VERDICT_ERRORED};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(outcome_rows) * ARRAY_LEN(verdicts); i++) {
		const struct outcome_row *row = &outcome_rows[i / ARRAY_LEN(verdicts)];
		struct policy_set list[4] = {{.id = "", .name = "s"}};
		const struct policy_sets sets = {.sets = list, .count = strlen(row->levels)};
		char sentence[100];

		for (size_t n = 0; n < sets.count; n++) {
			list[n] = (struct policy_set){.id = "polset-1", .name = "s", .outcomes = json_array()};
			judge_row(row, &list[n], row->levels[n], verdicts[i % ARRAY_LEN(verdicts)]);
		}
		assert_int_equal(report_conclude(&sets, row->evaluator, sentence, sizeof(sentence)), row->outcome);
		assert_int_equal(*sentence == '\0', row->outcome == OUTCOME_PASSED);
		for (size_t n = 0; n < sets.count; n++)
			json_decref(list[n].outcomes);
	}
}

static void outputs_of_policies_are_limited_and_redacted(void **state)
{
	struct policy_set set = {.id = "polset-1", .name = "s", .outcomes = json_array()};
	const struct policy policy = {.name = "p", .enforcement = "advisory", .description = ""};
	_cleanup_(freep) char *much = mem_new(1, POLICY_OUTPUT_KEPT + 1);
	struct redactor redactor = {.secrets = NULL};
	struct judgement judgement = {.verdict = VERDICT_FAILED};
	const json_t *output;

	(void)state;
	memset(much, 'x', POLICY_OUTPUT_KEPT);
	redactor_add(&redactor, "hunter22");
	judgement.says = json_pack("[s, s, s]", "the word is hunter22", much, "never told");
	report_add(&set, &policy, &judgement, &redactor);
	output = json_at(json_array_get(set.outcomes, 0), "output");
	assert_int_equal(json_array_size(output), 3);
	assert_string_equal(json_string_at(json_array_get(output, 0), "print"), "the word is (sensitive value)");
	assert_true(strlen(json_string_at(json_array_get(output, 1), "print")) < POLICY_OUTPUT_KEPT);
	assert_non_null(strstr(json_string_at(json_array_get(output, 2), "print"), "more than 64 KiB"));
	judgement_release(&judgement);
	redactor_release(&redactor);
	json_decref(set.outcomes);
}

static void control_characters_are_replaced(void **state)
{
	static const char bytes[] = "a\x1b[31m\r\n\xc3\xa9\xff\xe2\x82\0\xed\xa0\x80z";
	_cleanup_(freep) char *clean = text_clean(bytes, sizeof(bytes) - 1);

	(void)state;
	assert_string_equal(clean, "a?[31m\né???????z");
}

/* ---- the imports of Sentinel ---- */

static void literals_are_written_in_both_syntaxes(void **state)
{
	json_auto_t *value = json_loads("{\"a\\\"\": [1, -2.5, true, null, \"x\\n\\u0001${y}%{z}$\", {}]}", 0, NULL);
	_cleanup_(buf_release) struct buf sentinel = BUF_INIT(1000), hcl = BUF_INIT(1000);
	struct buf small = BUF_INIT(5);

	(void)state;
	assert_int_equal(literal_write(&sentinel, value, LITERAL_SENTINEL), 0);
	assert_string_equal(buf_str(&sentinel), "{\"a\\\"\": [1, -2.5, true, null, \"x\\n\\u0001${y}%{z}$\", {}]}");
	assert_int_equal(literal_write(&hcl, value, LITERAL_HCL), 0);
	assert_string_equal(buf_str(&hcl), "{\"a\\\"\" = [1, -2.5, true, null, \"x\\n\\u0001$${y}%%{z}$\", {}]}");
	assert_int_equal(literal_write(&small, value, LITERAL_HCL), -1);
	buf_release(&small);
}

static void parameters_for_opa_keep_their_quotes(void **state)
{
	static const char *const rows[][2] = {{"3", "3"}, {"[1, \"a\"]", "[1,\"a\"]"}, {"{\"a\": 1}", "{\"a\":1}"},
		{"true", "\"true\""}, {"\"3\"", "\"\\\"3\\\"\""}, {"plain", "\"plain\""}, {"", "\"\""},
		{"[1", "\"[1\""}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		json_auto_t *value = parameter_value(rows[i][0]);
		_cleanup_(freep) char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);

		assert_string_equal(text, rows[i][1]);
	}
}

static void wide_numbers_of_a_plan_change_no_others(void **state)
{
	static const char *const rows[][2] = {
		{"{\"a\":1,\"b\":9223372036854775807,\"c\":-9223372036854775808}",
			"{\"a\":1,\"b\":9223372036854775807,\"c\":-9223372036854775808}"},
		{"{ \"a\" : [ 1 , 9223372036854775808 ], \"b\":2.0, \"-9223372036854775809\": -9223372036854775809 }",
			"{\"a\":[1,9.2233720368547758e18],\"b\":2.0,\"-9223372036854775809\":-9.2233720368547758e18}"},
		{"{\"a\\\\\\\"\":\"99999999999999999999\",\"b\":[[100000000000000000000]],\"c\":7}",
			"{\"a\\\\\\\"\":\"99999999999999999999\",\"b\":[[1e20]],\"c\":7}"},
		{"{\"a\":99999999999999999999", NULL},
		{"{\"a\":99999999999999999999,\"", NULL},
		{"{\"a\":99999999999999999999,\"\\", NULL},
		{"[99999999999999999999]", NULL},
		{"", NULL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		size_t len = strlen(rows[i][0]);
		char *exact = mem_new(len + 1, 1);
		_cleanup_(json_document_release) struct json_document plan = JSON_NO_DOCUMENT;
		_cleanup_(freep) char *text = NULL;
		struct err err = ERR_INIT;

		memcpy(exact, rows[i][0], len);
		plan_parse(exact, len, &plan, &err);
		free(exact);
		text = plan.value ? json_dumps(plan.value, JSON_COMPACT) : NULL;
		assert_int_equal(text == NULL, rows[i][1] == NULL);
		if (text)
			assert_string_equal(text, rows[i][1]);
	}
}

static const char plan_text[] =
	"{\"terraform_version\":\"1.11.4\",\"variables\":{\"v\":{\"value\":1}},"
	"\"planned_values\":{\"outputs\":{\"o\":{\"sensitive\":true,\"value\":2}},\"root_module\":{\"child_modules\":["
	"{\"address\":\"module.m\",\"resources\":[{\"address\":\"module.m.t.r[0]\",\"mode\":\"managed\",\"type\":\"t\","
	"\"name\":\"r\",\"index\":0,\"values\":{\"a\":\"b\"}}]}]}},"
	"\"resource_changes\":[{\"address\":\"t.r\",\"deposed\":\"abc\",\"change\":{\"actions\":[\"delete\"]}}],"
	"\"output_changes\":{\"o\":{\"actions\":[\"create\"]}},"
	"\"prior_state\":{\"terraform_version\":\"1.10.0\",\"values\":{\"root_module\":{\"resources\":[{\"address\":"
	"\"t.r\","
	"\"depends_on\":[\"t.q\"],\"tainted\":true}]}}},"
	"\"configuration\":{\"provider_config\":{\"t\":{\"name\":\"t\",\"full_name\":\"registry/"
	"t\",\"expressions\":{}}},"
	"\"root_module\":{\"variables\":{\"v\":{\"default\":5}},\"outputs\":{\"o\":{\"expression\":{\"references\":["
	"\"t.r\"]}}},"
	"\"module_calls\":{\"m\":{\"source\":\"./"
	"m\",\"module\":{\"resources\":[{\"address\":\"t.r\",\"mode\":\"managed\","
	"\"provisioners\":[{\"type\":\"local-exec\"}],\"count_expression\":{\"constant_value\":1}}],"
	"\"variables\":{\"w\":{}}}}}}}}";

static void imports_contain_data_of_the_plan(void **state)
{
	static const struct {
		const char *import, *path, *value; /* the value there as JSON */
	} rows[] = {
		{"tfplan/v2", "terraform_version", "\"1.11.4\""},
		{"tfplan/v2", "variables.v", "{\"name\":\"v\",\"value\":1}"},
		{"tfplan/v2", "planned_values.outputs.o", "{\"name\":\"o\",\"sensitive\":true,\"value\":2}"},
		{"tfplan/v2", "planned_values.resources.module/m/t/r[0].module_address", "\"module.m\""},
		{"tfplan/v2", "planned_values.resources.module/m/t/r[0].index", "0"},
		{"tfplan/v2", "resource_changes.t/r:abc.deposed", "\"abc\""},
		{"tfplan/v2", "resource_changes.t/r:abc.change.actions", "[\"delete\"]"},
		{"tfplan/v2", "resource_changes.t/r:abc.index", "null"},
		{"tfplan/v2", "resource_drift", "{}"},
		{"tfplan/v2", "output_changes.o.change.actions", "[\"create\"]"},
		{"tfplan/v2", "raw.terraform_version", "\"1.11.4\""},
		{"tfstate/v2", "terraform_version", "\"1.10.0\""},
		{"tfstate/v2", "resources.t/r.depends_on", "[\"t.q\"]"},
		{"tfstate/v2", "resources.t/r.tainted", "true"},
		{"tfconfig/v2", "providers.t.full_name", "\"registry/t\""},
		{"tfconfig/v2", "variables.v.default", "5"},
		{"tfconfig/v2", "variables.module/m:w.default", "null"},
		{"tfconfig/v2", "outputs.o.value.references", "[\"t.r\"]"},
		{"tfconfig/v2", "module_calls.m.source", "\"./m\""},
		{"tfconfig/v2", "resources.module/m/t/r.count.constant_value", "1"},
		{"tfconfig/v2", "resources.module/m/t/r.for_each", "{}"},
		{"tfconfig/v2", "provisioners.module/m/t/r:0.type", "\"local-exec\""},
		{"tfrun", "workspace.auto_apply", "true"},
		{"tfrun", "cost_estimate", ""},
	};
	json_auto_t *plan = json_loads(plan_text, 0, NULL);
	json_auto_t *given = json_loads("{\"workspace\":{\"auto-apply\":true},\"cost-estimate\":null}", 0, NULL);
	json_auto_t *run = policy_run(given);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		json_t *values = NULL;
		_cleanup_(freep) char *path = mem_text(rows[i].path), *text = NULL;
		const json_t *at;
		char *rest = path, *part;

		for (size_t n = 0; n < mock_count; n++)
			if (text_equal(mocks[n].import, rows[i].import))
				values = mock_values(&mocks[n], plan, run);
		at = values;
		while ((part = strsep(&rest, "."))) {
			for (char *slash = part; (slash = strchr(slash, '/'));)
				*slash = '.';
			at = json_object_get(at, part);
		}
		text = at ? json_dumps(at, JSON_COMPACT | JSON_ENCODE_ANY) : mem_text("");
		assert_string_equal(text, rows[i].value);
		json_decref(values);
	}
}

static void a_sets_configuration_gets_mocks_and_parameters(void **state)
{
	static const char text[] = "mock \"tfrun\" {\n}\nparam \"a\" { value = 1 }\nparam \"b\" { value = 2 }\n"
				   "policy \"p\" {\n  source = \"./p.sentinel\"\n}\ntest { }\n";
	struct policy_set set = {.text = (char *)text};
	json_auto_t *parameters = json_loads("[{\"key\":\"a\",\"value\":\"x\"}]", 0, NULL);
	_cleanup_(buf_release) struct buf out = BUF_INIT(10000);
	struct err err = ERR_INIT;

	(void)state;
	set.parameters = parameters;
	assert_int_equal(hcl_blocks(text, strlen(text), &set.blocks, &err), 0);
	assert_int_equal(sentinel_config(&set, "./m", &out), 0);
	assert_true(text_starts(buf_str(&out),
		"param \"b\" { value = 2 }\n\npolicy \"p\" {\n  source = \"./p.sentinel\"\n}\n\n"
		"mock \"tfplan/v2\" {\n  module {\n    source = \"./m/mock-tfplan-v2.sentinel\"\n"));
	assert_non_null(strstr(buf_str(&out), "param \"a\" {\n  value = \"x\"\n}\n"));
	assert_null(strstr(buf_str(&out), "test {"));
	json_decref(set.blocks);
}

/* Spaces replace what is left out, so that messages name the lines of the set's file. */
static void a_sets_own_configuration_keeps_its_lines(void **state)
{
	static const char text[] =
		"mock \"x\" {\n}\nparam \"a\" { value = 1 }\npolicy \"p\" {\n  source = \"p\"\n}\ntest { }";
	struct policy_set set = {.text = (char *)text};
	json_auto_t *parameters =
		json_loads("[{\"key\":\"a\",\"value\":\"true\"},{\"key\":\"b\",\"value\":\"\\\"12\\\"\"}]", 0, NULL);
	_cleanup_(buf_release) struct buf out = BUF_INIT(10000);
	struct err err = ERR_INIT;

	(void)state;
	set.parameters = parameters;
	assert_int_equal(hcl_blocks(text, strlen(text), &set.blocks, &err), 0);
	assert_int_equal(sentinel_config_own(&set, &out), 0);
	assert_string_equal(buf_str(&out),
		"          \n \n                       \npolicy \"p\" {\n  source = \"p\"\n}\n        \n"
		"param \"a\" {\n  value = true\n}\n\nparam \"b\" {\n  value = \"12\"\n}\n\n");
	json_decref(set.blocks);
}

static void exit_codes_of_runyard_policy_decide(void **state)
{
	static const struct {
		int code;
		const char *errors;
		enum verdict verdict;
		const char *reason, *says;
	} rows[] = {
		{0, "", VERDICT_PASSED, "", "[\"out\"]"},
		{1, "a warning\n", VERDICT_FAILED, "", "[\"out\",\"a warning\"]"},
		{2, "p:1:2: undefined\n", VERDICT_ERRORED, "p:1:2: undefined", "[\"out\"]"},
		{3, "p:1:2: no\nmore\n", VERDICT_ERRORED, "p:1:2: no", "[\"out\",\"more\"]"},
		{9, "", VERDICT_ERRORED, "The policy could not be evaluated (exit code 9)", "[\"out\"]"},
		{127, "no library", VERDICT_ERRORED, "no library", "[\"out\"]"},
		{137, "", VERDICT_ERRORED, "It was killed by signal 9", "[\"out\"]"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct evaluated evaluated = {.code = rows[i].code, .out = "out\n", .errors = rows[i].errors};
		_cleanup_(judgement_release) struct judgement judgement = {.says = NULL};
		_cleanup_(freep) char *says = NULL;

		evaluator_runyard_policy.judge(NULL, NULL, &evaluated, &judgement);
		says = json_text(judgement.says);
		assert_int_equal(judgement.verdict, rows[i].verdict);
		assert_string_equal(judgement.reason, rows[i].reason);
		assert_string_equal(says, rows[i].says);
	}
}

static void names_of_variables_keep_their_hyphens(void **state)
{
	json_auto_t *given = json_loads("{\"is-destroy\":false,\"variables\":{\"a-b\":{\"sensitive\":true}},"
					"\"workspace\":{\"auto-apply\":true}}",
		0, NULL);
	json_auto_t *run = policy_run(given);
	_cleanup_(freep) char *text = json_dumps(run, JSON_COMPACT);

	(void)state;
	assert_string_equal(text,
		"{\"is_destroy\":false,\"variables\":{\"a-b\":{\"sensitive\":true}},\"workspace\":{\"auto_apply\":true}"
		"}");
}

/* A plan is a job's: a text of tiny values would take a hundred times its size when it is parsed. */
static void a_plan_that_would_take_too_much_memory_is_refused(void **state)
{
	enum { ITEMS = 4 << 20 };
	_cleanup_(buf_release) struct buf text = BUF_INIT(3 * ITEMS + 32);
	const struct shared shared = {.root = -1, .plan = memfd_create("plan", MFD_CLOEXEC)};
	struct err err = ERR_INIT;

	(void)state;
	buf_text(&text, "{\"a\":[");
	for (size_t i = 0; i < ITEMS; i++)
		buf_text(&text, "{},");
	buf_text(&text, "{}]}");
	assert_int_equal(write_fully(shared.plan, buf_str(&text), text.len), 0);
	assert_int_equal(evaluator_sentinel.share(&shared, &err), -1);
	assert_int_equal(err.kind, ERR_TOO_LARGE);
	assert_string_equal(err.message, "the plan would take more than 1024 MiB of memory for Sentinel");
	close(shared.plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_an_empty_array_passes),
		cmocka_unit_test(the_strictest_failed_level_decides),
		cmocka_unit_test(outputs_of_policies_are_limited_and_redacted),
		cmocka_unit_test(control_characters_are_replaced),
		cmocka_unit_test(literals_are_written_in_both_syntaxes),
		cmocka_unit_test(parameters_for_opa_keep_their_quotes),
		cmocka_unit_test(wide_numbers_of_a_plan_change_no_others),
		cmocka_unit_test(imports_contain_data_of_the_plan),
		cmocka_unit_test(a_sets_configuration_gets_mocks_and_parameters),
		cmocka_unit_test(a_sets_own_configuration_keeps_its_lines),
		cmocka_unit_test(exit_codes_of_runyard_policy_decide),
		cmocka_unit_test(names_of_variables_keep_their_hyphens),
		cmocka_unit_test(a_plan_that_would_take_too_much_memory_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
