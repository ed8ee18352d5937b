/* SPDX-License-Identifier: MPL-2.0 */
/* Parsing of an engine's output: secrets are redacted, numbers and errors are found, partial states are recognized. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "common/json/json.h"
#include "common/terraform/applied.h"
#include "worker/stage/summary.h"
#include "worker/upload/leftover.h"
#include "worker/upload/redact.h"

static void assert_redacted(const struct redactor *redactor, const char *line, const char *wanted)
{
	_cleanup_(buf_release) struct buf out = BUF_INIT(1000);

	assert_int_equal(redact(redactor, line, strlen(line), &out), 0);
	assert_string_equal(buf_str(&out), wanted);
}

static void sensitive_values_are_redacted(void **state)
{
	struct variable variables[] = {
		{.key = "a", .value = "hunter22", .sensitive = true},
		{.key = "b", .value = "hunter22-long", .sensitive = true},
		{.key = "c", .value = "say \"hi\" & <go>", .sensitive = true},
		{.key = "d", .value = "abc", .sensitive = true},
		{.key = "e", .value = "visible", .sensitive = false},
		{.key = "f", .value = "\"quoted1\"", .hcl = true, .sensitive = true},
		{.key = "g", .value = "true", .sensitive = true},
		{.key = "h", .value = "first line\r\nsecond line", .sensitive = true},
		{.key = "i",
			.value = "{ user = \"ada-l\", \"a key\" : [\"p\\\"q <r>\"] }",
			.hcl = true,
			.sensitive = true},
		{.key = "k", .value = "pin-77\r\n", .sensitive = true},
		{.key = "l", .value = "null\n", .sensitive = true},
		{.key = "TF_VAR_j", .value = "[\"in a list\", \"no end", .env = true, .sensitive = true},
	};
	struct assignment assignment = {.variables = variables, .variable_count = ARRAY_LEN(variables)};
	struct redactor redactor;

	(void)state;
	redactor_init(&redactor, &assignment);
	assert_redacted(&redactor, "x hunter22 y", "x (sensitive value) y");
	assert_redacted(&redactor, "hunter22-long", "(sensitive value)");
	assert_redacted(&redactor, "hunter22hunter22", "(sensitive value)(sensitive value)");
	assert_redacted(&redactor, "{\"m\":\"say \\\"hi\\\" & <go>\"}", "{\"m\":\"(sensitive value)\"}");
	assert_redacted(&redactor, "say \\\"hi\\\" \\u0026 \\u003cgo\\u003e", "(sensitive value)");
	assert_redacted(&redactor, "say \"hi\" & <go>", "(sensitive value)");
	assert_redacted(&redactor, "quoted1", "(sensitive value)");
	assert_redacted(&redactor, "abc visible true", "abc visible true");
	assert_redacted(&redactor, "> second line", "> (sensitive value)");
	assert_redacted(&redactor, "first line\\r\\nsecond line", "(sensitive value)");
	assert_redacted(&redactor, "the user ada-l has a key", "the user (sensitive value) has a key");
	assert_redacted(&redactor, "Error: pin-77, {\"m\":\"pin-77\\r\\n\",\"n\":null}",
		"Error: (sensitive value), {\"m\":\"(sensitive value)\\r\\n\",\"n\":null}");
	assert_redacted(&redactor, "p\"q <r>, p\\\"q <r>, p\\\\\\\"q <r>",
		"(sensitive value), (sensitive value), (sensitive value)");
	assert_redacted(&redactor, "in a list, not at its no end", "(sensitive value), not at its no end");
	redactor_release(&redactor);
}

static void assert_cut(const struct redactor *redactor, const char *text, const char *wanted)
{
	_cleanup_(buf_release) struct buf out = BUF_INIT(1000);

	assert_int_equal(redact_cut(redactor, text, strlen(text), &out), 0);
	assert_string_equal(buf_str(&out), wanted);
}

static void the_beginning_of_a_secret_is_redacted_where_a_text_is_cut(void **state)
{
	struct redactor redactor = {.secrets = NULL};
	_cleanup_(freep) char *text = NULL;

	(void)state;
	assert_cut(&redactor, "hunt... (3 bytes more)", "hunt... (3 bytes more)");
	redactor_add(&redactor, "hunter22");
	redactor_add(&redactor, "a hunter of all");
	assert_cut(&redactor, "hunter22, hunte", "(sensitive value), (sensitive value)");
	assert_cut(&redactor, "a hunt", "(sensitive value)");
	assert_cut(&redactor, "hunt", "(sensitive value)");
	assert_cut(&redactor, "hun", "hun");
	assert_cut(&redactor, "hunter, hunter2... (1 bytes more)\nhunter22",
		"hunter, (sensitive value)... (1 bytes more)\n(sensitive value)");
	assert_cut(&redactor, "... (... (", "... (... (");
	text = redact_text(&redactor, "hunter22 and hunter");
	assert_string_equal(text, "(sensitive value) and (sensitive value)");
	redactor_release(&redactor);
}

static void a_partial_line_is_not_cut_within_a_secret(void **state)
{
	struct redactor redactor = {.secrets = NULL};

	(void)state;
	assert_int_equal(redact_settled(&redactor, "all of it", 9), 9);
	redactor_add(&redactor, "hunter22");
	assert_int_equal(redact_settled(&redactor, "may begin: hunter2", 18), 11);
	assert_int_equal(redact_settled(&redactor, "ab hunter22 hun", 15), 11);
	assert_int_equal(redact_settled(&redactor, "hunter", 6), 6);
	redactor_release(&redactor);
}

static struct job_result summary_of(const char *line)
{
	struct job_result result = {.additions = 0};

	summary_line(line, strlen(line), &result);
	return result;
}

static void resource_counts_are_parsed(void **state)
{
	struct job_result result = summary_of(
		"{\"type\":\"change_summary\",\"changes\":{\"add\":1,\"change\":2,\"import\":3,\"remove\":4}}");

	(void)state;
	assert_int_equal(
		result.additions * 1000 + result.changes * 100 + result.imports * 10 + result.destructions, 1234);
	result = summary_of("Plan: 3 to import, 12 to add, 0 to change, 107 to destroy.");
	assert_int_equal(result.additions, 12);
	assert_int_equal(result.imports, 3);
	assert_int_equal(result.destructions, 107);
	result = summary_of("Apply complete! Resources: 2 added, 1 changed, 0 destroyed.");
	assert_int_equal(result.additions * 10 + result.changes, 21);
	result = summary_of("  + plan = \"Plan: 3 to add\"");
	assert_int_equal(result.additions, 0);
}

static bool changes(const char *line)
{
	return summary_line_changes(line, strlen(line));
}

static void lines_that_report_a_change_are_recognized(void **state)
{
	(void)state;
	assert_true(changes("{\"type\":\"apply_complete\",\"hook\":{\"action\":\"create\",\"id_value\":\"i-1\"}}"));
	assert_true(changes("terraform_data.one: Creation complete after 0s [id=1]"));
	assert_true(changes("terraform_data.one: Destruction complete after 3s"));
	assert_false(changes("{\"type\":\"apply_start\",\"hook\":{}}"));
	assert_false(changes("{\"type\":\"apply_errored\",\"hook\":{}}"));
	assert_false(changes("{\"type\":\"log\",\"@message\":\"Creation complete after 0s\"}"));
	assert_false(changes("Apply complete! Resources: 0 added, 0 changed, 0 destroyed."));
	assert_false(changes(""));
}

static void changes_of_an_interrupted_apply_are_counted(void **state)
{
	static const char *const lines[] = {
		"{\"type\":\"apply_start\",\"hook\":{\"action\":\"create\"}}",
		"{\"type\":\"apply_complete\",\"hook\":{\"action\":\"create\",\"id_key\":\"id\",\"id_value\":\"1\"}}",
		"{\"type\":\"apply_complete\",\"hook\":{\"action\":\"create\"}}",
		"{\"type\":\"apply_complete\",\"hook\":{\"action\":\"update\"}}",
		"{\"type\":\"apply_complete\",\"hook\":{\"action\":\"delete\"}}",
		"{\"type\":\"apply_errored\",\"hook\":{\"action\":\"create\"}}",
		"a.b: Creation complete after 3s [id=i-1]",
		"module.x.a[0]: Modifications complete after 0s [id=i-1]",
		"a.b: Destruction complete after 1m3s",
		"a.b: Still creating... [10s elapsed]",
	};
	struct job_result result = {.additions = 0};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(lines); i++)
		summary_line(lines[i], strlen(lines[i]), &result);
	assert_int_equal(result.additions * 100 + result.changes * 10 + result.destructions, 322);
	/* The engine's own summary replaces it. */
	summary_line("Apply complete! Resources: 7 added, 0 changed, 0 destroyed.", 59, &result);
	assert_int_equal(result.additions * 100 + result.changes * 10 + result.destructions, 700);
}

static void the_first_error_is_found(void **state)
{
	struct job_result result = {.additions = 0};
	const char *lines[] = {
		"{\"type\":\"diagnostic\",\"diagnostic\":{\"severity\":\"warning\",\"summary\":\"w\"}}",
		"{\"type\":\"diagnostic\",\"diagnostic\":{\"severity\":\"error\",\"summary\":\"no such thing\"}}",
		"{\"type\":\"diagnostic\",\"diagnostic\":{\"severity\":\"error\",\"summary\":\"later\"}}",
		"{\"diagnostic\" broken",
		"",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(lines); i++)
		summary_line(lines[i], strlen(lines[i]), &result);
	assert_string_equal(result.error, "no such thing");
	assert_string_equal(summary_of("│ Error: Invalid reference").error, "Invalid reference");
}

static void a_truncated_state_is_refused(void **state)
{
	static const char whole[] = "{\"version\":4,\"serial\":3,\"lineage\":\"x\",\"resources\":[{\"a\":{}}]}\n";
	static const char odd[] =
		"{\"serial\":3,\"lineage\":\"x\",\"n\":123456789012345678901234567890,\"t\":\"\\u0000\"}";
	struct state_facts facts;

	(void)state;
	assert_true(state_facts_read(odd, strlen(odd), &facts));
	assert_true(state_facts_read(whole, strlen(whole), &facts));
	assert_int_equal(facts.serial, 3);
	assert_string_equal(facts.lineage, "x");
	for (size_t len = 0; len < strlen(whole) - 2; len++)
		assert_false(state_facts_read(whole, len, &facts));
	assert_false(state_facts_read("{}", 2, &facts));
	assert_false(state_facts_read("[1]", 3, &facts));
	assert_false(state_facts_read("{\"serial\":3},{}", 15, &facts));
	assert_false(state_facts_read("{\"serial\":{}}", 13, &facts));
}

static size_t allocated;

static void *counted_memory(size_t size)
{
	allocated += size;
	return mem_resize(NULL, size, 1);
}

/* A job writes its state: a text of tiny values would take a hundred times its size when it is parsed. */
static void a_state_of_many_values_takes_no_memory(void **state)
{
	static const char begin[] = "{\"serial\":3,\"lineage\":\"x\",\"resources\":[",
			  instances[] = "{\"mode\":\"managed\",\"type\":\"a\",\"name\":\"b\",\"instances\":[",
			  end[] = "{}]}]}", report[] = "a.b: Creation complete after 1s [id=i-1]\n";
	_cleanup_(buf_release) struct buf text = BUF_INIT(1 << 20);
	_cleanup_(applied_freep) struct applied *applied = applied_new();
	json_auto_t *missing = NULL;
	struct state_facts facts;

	(void)state;
	buf_text(&text, begin);
	while (text.len < 300 << 10)
		buf_text(&text, "{},");
	buf_text(&text, instances);
	while (text.len < 600 << 10)
		buf_text(&text, "{},");
	buf_text(&text, end);
	applied_text(applied, report, strlen(report));
	json_set_alloc_funcs(counted_memory, free);
	assert_true(state_facts_read(buf_str(&text), text.len, &facts));
	missing = applied_missing(applied, (struct json_span){buf_str(&text), text.len});
	assert_int_equal(json_array_size(missing), 0);
	assert_in_range(allocated, 1, 10000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sensitive_values_are_redacted),
		cmocka_unit_test(the_beginning_of_a_secret_is_redacted_where_a_text_is_cut),
		cmocka_unit_test(a_partial_line_is_not_cut_within_a_secret),
		cmocka_unit_test(lines_that_report_a_change_are_recognized),
		cmocka_unit_test(resource_counts_are_parsed),
		cmocka_unit_test(changes_of_an_interrupted_apply_are_counted),
		cmocka_unit_test(the_first_error_is_found),
		cmocka_unit_test(a_truncated_state_is_refused),
		cmocka_unit_test(a_state_of_many_values_takes_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
