/* SPDX-License-Identifier: MPL-2.0 */
/* State files in terraform's format, and others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "common/err.h"
#include "common/terraform/state_text.h"
#include "scheduler/store/states/state_parse.h"

static int parse(const char *text, struct state_facts *facts)
{
	struct err err = ERR_INIT;
	int result = state_parse(text, strlen(text), facts, &err);

	if (result < 0)
		assert_int_equal(err.kind, ERR_INVALID);
	return result;
}

#define HEAD "{\"version\":4,\"terraform_version\":\"1.11.4\",\"serial\":7,\"lineage\":\"l-1\","

static void a_state_is_parsed(void **state)
{
	struct state_facts facts;
	json_t *resources;
	const json_t *first, *second;

	(void)state;
	assert_int_equal(parse(HEAD "\"outputs\":{\"a\":{\"value\":1,\"type\":\"number\"}},\"resources\":["
				    "{\"mode\":\"managed\",\"type\":\"aws_vpc\",\"name\":\"main\",\"provider\":\"p\","
				    "\"instances\":[{},{}]},"
				    "{\"module\":\"module.m\",\"mode\":\"data\",\"type\":\"aws_ami\",\"name\":\"x\","
				    "\"instances\":[{}]},"
				    "{\"mode\":\"managed\",\"type\":\"aws_vpc\",\"name\":\"gone\",\"instances\":[]}]}",
				 &facts),
		0);
	assert_int_equal(facts.serial, 7);
	assert_string_equal(facts.lineage, "l-1");
	assert_string_equal(facts.terraform_version, "1.11.4");
	assert_int_equal(json_object_size(facts.outputs), 1);
	resources = state_resources(&facts);
	assert_int_equal(json_array_size(resources), 2);
	first = json_array_get(resources, 0);
	second = json_array_get(resources, 1);
	assert_string_equal(json_string_at(first, "type"), "aws_vpc");
	assert_string_equal(json_string_at(first, "module"), "root");
	assert_int_equal(json_int_at(first, "count", 0), 2);
	assert_string_equal(json_string_at(second, "type"), "data.aws_ami");
	assert_string_equal(json_string_at(second, "module"), "module.m");
	json_decref(resources);
	state_facts_release(&facts);
}

/* terraform may write numbers of any size and strings with a zero: such a state must be accepted. */
static void unusual_values_are_accepted(void **state)
{
	struct state_facts facts;

	(void)state;
	assert_int_equal(parse(HEAD "\"outputs\":{\"n\":{\"value\":123456789012345678901234567890,\"type\":\"number\"},"
				    "\"s\":{\"value\":\"a\\u0000b\",\"type\":\"string\"}}}",
				 &facts),
		0);
	assert_int_equal(facts.serial, 7);
	state_facts_release(&facts);
}

static void invalid_states_are_refused(void **state)
{
	static const char *const texts[] = {"", "nope", "[]", "{}", "{\"version\":3,\"serial\":1,\"lineage\":\"a\"}",
		"{\"version\":4,\"lineage\":\"a\"}", "{\"version\":4,\"serial\":1}",
		"{\"version\":4,\"serial\":-1,\"lineage\":\"a\"}", "{\"version\":4,\"serial\":\"1\",\"lineage\":\"a\"}",
		"{\"version\":4,\"serial\":1,\"lineage\":2}", "{\"version\":4,\"serial\":1,\"lineage\":\"a\""};
	struct state_facts facts;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		if (parse(texts[i], &facts) == 0)
			fail_msg("accepted as a state: %s", texts[i]);
}

static void types_of_outputs_have_names(void **state)
{
	static const char *const cases[][2] = {{"\"string\"", "string"}, {"\"bool\"", "bool"},
		{"[\"list\",\"string\"]", "array"}, {"[\"tuple\",[\"number\"]]", "array"},
		{"[\"set\",\"string\"]", "array"}, {"[\"object\",{}]", "object"}, {"[\"map\",\"string\"]", "object"},
		{"null", "object"}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		json_t *type = json_loads(cases[i][0], JSON_DECODE_ANY, NULL);

		assert_string_equal(output_type_word(type), cases[i][1]);
		json_decref(type);
	}
}

static void renumbering_changes_only_the_serial(void **state)
{
	static const struct {
		const char *was, *is;
	} cases[] = {
		{"{\"serial\":7}", "{\"serial\":12}"},
		{" { \"a\" : {\"serial\": 1}, \"x\":[\"serial\",{\"serial\":2}],\n\"serial\" :\t7e0 , \"b\": "
		 "\"serial\"}",
			" { \"a\" : {\"serial\": 1}, \"x\":[\"serial\",{\"serial\":2}],\n\"serial\" :\t12 , \"b\": "
			"\"serial\"}"},
		{"{\"t\":\"a\\\"serial\\\": 5 {[\\\\\",\"serial\":7,\"n\":123456789012345678901234567890}",
			"{\"t\":\"a\\\"serial\\\": 5 {[\\\\\",\"serial\":12,\"n\":123456789012345678901234567890}"},
	};
	static const char *const none[] = {"", "{}", "{\"a\":{\"serial\":1}}", "{\"serial\"",
		"{\"serial\":", "{\"serial\":\"7\"}", "\"", "{\"a\\"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct buf out = BUF_INIT(1000);

		assert_int_equal(state_renumber(cases[i].was, strlen(cases[i].was), 12, &out), 0);
		assert_string_equal(buf_str(&out), cases[i].is);
		buf_release(&out);
	}
	for (size_t i = 0; i < ARRAY_LEN(none); i++) {
		struct buf out = BUF_INIT(1000);

		assert_int_equal(state_renumber(none[i], strlen(none[i]), 12, &out), -1);
		buf_release(&out);
	}
}

static void relineage_changes_only_the_lineage(void **state)
{
	static const char was[] = "{\n  \"serial\": 0,\n  \"lineage\": \"\",\n  \"a\":{\"lineage\":\"x\"}}";
	_cleanup_(buf_release) struct buf out = BUF_INIT(1000), none = BUF_INIT(1000);

	(void)state;
	assert_int_equal(state_relineage(was, strlen(was), "line-1", &out), 0);
	assert_string_equal(
		buf_str(&out), "{\n  \"serial\": 0,\n  \"lineage\": \"line-1\",\n  \"a\":{\"lineage\":\"x\"}}");
	assert_int_equal(state_relineage("{\"lineage\":7}", 13, "line-1", &none), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_state_is_parsed),
		cmocka_unit_test(unusual_values_are_accepted),
		cmocka_unit_test(invalid_states_are_refused),
		cmocka_unit_test(types_of_outputs_have_names),
		cmocka_unit_test(renumbering_changes_only_the_serial),
		cmocka_unit_test(relineage_changes_only_the_lineage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
