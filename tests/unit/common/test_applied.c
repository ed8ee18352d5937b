/* SPDX-License-Identifier: MPL-2.0 */
/* Resources that an engine reports and a state lacks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/buf.h"
#include "common/json/json.h"
#include "common/terraform/applied.h"

#define HOOK(type, module, name, key, action, id)                                                                      \
	"{\"@level\":\"info\",\"type\":\"" type "\",\"hook\":{\"resource\":{\"addr\":\"x\",\"module\":\"" module       \
	"\",\"resource\":\"aws_vpc." name "\",\"implied_provider\":\"aws\",\"resource_type\":\"aws_vpc\","             \
	"\"resource_name\":\"" name "\",\"resource_key\":" key "},\"action\":\"" action "\",\"id_key\":\"id\","        \
	"\"id_value\":\"" id "\"}}\n"
#define CREATED(name, id) HOOK("apply_complete", "", name, "null", "create", id)
#define STATE(resources)  "{\"version\":4,\"resources\":[" resources "]}"
#define RESOURCE(module, name, instances)                                                                              \
	"{" module "\"mode\":\"managed\",\"type\":\"aws_vpc\",\"name\":\"" name "\",\"instances\":[" instances "]}"
#define INSTANCE(id) "{\"attributes\":{\"id\":\"" id "\"}}"

/* Returns "create aws_vpc.a i-1;" for each. The caller frees it. */
static char *missing_text(const struct applied *applied, const char *state)
{
	json_auto_t *missing = applied_missing(applied, (struct json_span){state, strlen(state)});
	_cleanup_(freep) char *text = mem_text("");
	char *all = NULL;
	const json_t *item;
	size_t i;

	json_array_foreach(missing, i, item)
	{
		char *more = mem_printf("%s%s %s %s;", text, json_string_at(item, "action"),
			json_string_at(item, "address"), json_string_at(item, "id"));

		free(text);
		text = more;
		assert_string_equal(json_string_at(item, "type"), "aws_vpc");
		assert_string_equal(json_string_at(item, "provider"), "aws");
	}
	all = text;
	text = NULL;
	return all;
}

static void check(const char *output, const char *state, const char *wanted)
{
	struct applied *applied = applied_new();
	_cleanup_(freep) char *text = NULL;

	applied_text(applied, output, strlen(output));
	text = missing_text(applied, state);
	assert_string_equal(text, wanted);
	applied_free(applied);
}

static void resources_of_the_state_are_not_missing(void **state)
{
	(void)state;
	check(CREATED("a", "i-1"), STATE(RESOURCE("", "a", INSTANCE("i-1"))), "");
	check(CREATED("a", "i-1"), STATE(""), "create aws_vpc.a i-1;");
	check(CREATED("a", "i-1"), STATE(RESOURCE("", "b", INSTANCE("i-1"))), "create aws_vpc.a i-1;");
	check(CREATED("a", "i-1"), STATE(RESOURCE("", "a", INSTANCE("i-0"))), "create aws_vpc.a i-1;");
	check(CREATED("a", "i-1"), "null", "create aws_vpc.a i-1;");
	check(HOOK("apply_complete", "", "a", "null", "update", "i-1"), STATE(""), "update aws_vpc.a i-1;");
	check(HOOK("apply_errored", "", "a", "null", "create", "i-1"), STATE(""), "");
	check(HOOK("apply_complete", "", "a", "null", "read", "i-1"), STATE(""), "");
	check("{\"type\":\"apply_complete\"}\n{\"type\":\"apply_complete\",\"hook\":3}\n{broken \"apply_complete\"}\n",
		"null", "");
}

static void ids_are_compared_only_if_both_are_known(void **state)
{
	(void)state;
	check(CREATED("a", ""), STATE(RESOURCE("", "a", INSTANCE("i-1"))), "");
	check(CREATED("a", "x(sensitive value)"), STATE(RESOURCE("", "a", INSTANCE("i-1"))), "");
	check(CREATED("a", "i-1"), STATE(RESOURCE("", "a", "{\"attributes\":{}}")), "");
	check(CREATED("a", "i-1"), STATE(RESOURCE("", "a", "{\"attributes\":{\"id\":7}}")), "");
	check(CREATED("a", ""), STATE(""), "create aws_vpc.a ;");
}

static void instances_differ_by_module_and_key(void **state)
{
#define MODULE "\"module\":\"module.m[\\\"x.y\\\"].module.n\","
	(void)state;
	check(HOOK("apply_complete", "", "a", "1", "create", "i-1"),
		STATE(RESOURCE("", "a", "{\"index_key\":1,\"attributes\":{\"id\":\"i-1\"}}")), "");
	check(HOOK("apply_complete", "", "a", "1", "create", "i-1"),
		STATE(RESOURCE("", "a", "{\"index_key\":\"1\",\"attributes\":{\"id\":\"i-1\"}}")),
		"create aws_vpc.a[1] i-1;");
	check(HOOK("apply_complete", "", "a", "1e123", "create", "i-1"),
		STATE(RESOURCE("", "a", "{\"index_key\":1e123,\"attributes\":{\"id\":\"i-1\"}}")), "");
	check(HOOK("apply_complete", "module.m[\\\"x.y\\\"].module.n", "a", "\"k\\\"${\"", "create", "i-1"),
		STATE(RESOURCE(MODULE, "a", "{\"index_key\":\"k\\\"${\",\"attributes\":{\"id\":\"i-1\"}}")), "");
	check(HOOK("apply_complete", "module.m[\\\"x.y\\\"].module.n", "a", "\"k\\\"${\"", "create", "i-1"), STATE(""),
		"create module.m[\"x.y\"].module.n.aws_vpc.a[\"k\\\"$${\"] i-1;");
}

static void destroyed_resources_must_not_be_in_the_state(void **state)
{
#define DESTROYED                                                                                                      \
	HOOK("apply_start", "", "a", "null", "delete", "i-1") HOOK("apply_complete", "", "a", "null", "delete", "")
	(void)state;
	check(DESTROYED, STATE(""), "");
	check(DESTROYED, STATE(RESOURCE("", "a", INSTANCE("i-1"))), "delete aws_vpc.a i-1;");
	check(DESTROYED, STATE(RESOURCE("", "a", INSTANCE("i-2"))), "");
	/* Replaced: destroyed before or after the new instance was created. */
	check(DESTROYED CREATED("a", "i-2"), STATE(RESOURCE("", "a", INSTANCE("i-2"))), "");
	check(CREATED("a", "i-2") DESTROYED, STATE(RESOURCE("", "a", INSTANCE("i-2"))), "");
	check(CREATED("a", "i-2") DESTROYED, STATE(RESOURCE("", "a", INSTANCE("i-1"))),
		"create aws_vpc.a i-2;delete aws_vpc.a i-1;");
	check(HOOK("apply_complete", "", "a", "null", "delete", "") CREATED("a", "i-2"),
		STATE(RESOURCE("", "a", INSTANCE("i-2"))), "");
	check(HOOK("apply_complete", "", "a", "null", "delete", ""), STATE(RESOURCE("", "a", INSTANCE("i-2"))),
		"delete aws_vpc.a ;");
}

static void plain_log_lines_are_parsed(void **state)
{
	static const char output[] = "module.m[\"a.b\"].aws_vpc.a[\"k\"]: Creating...\n"
				     "module.m[\"a.b\"].aws_vpc.a[\"k\"]: Creation complete after 1s [id=i-1]\n"
				     "aws_vpc.b: Modifications complete after 1m3s [id=i 2]\n"
				     "aws_vpc.c (deposed object 1a2b): Destroying... [id=i-3]\n"
				     "aws_vpc.c: Destruction complete after 0s\n"
				     "aws_vpc.d: Creation complete after 0s\n"
				     "aws_vpc.e (local-exec): aws_vpc.e: Creation complete after 0s [id=i-4]\n"
				     "aws_vpc.f: Creation complete after 0s [id=i-5]";

	(void)state;
	check(output, STATE(RESOURCE("", "c", INSTANCE("i-3"))),
		"create module.m[\"a.b\"].aws_vpc.a[\"k\"] i-1;update aws_vpc.b i 2;delete aws_vpc.c i-3;create "
		"aws_vpc.d ;");
	check(output,
		STATE(RESOURCE("\"module\":\"module.m[\\\"a.b\\\"]\",", "a",
			"{\"index_key\":\"k\",\"attributes\":{\"id\":\"i-1\"}}") "," RESOURCE("", "b",
			INSTANCE("i 2")) "," RESOURCE("", "c", INSTANCE("i-9")) "," RESOURCE("", "d", INSTANCE("i-8"))),
		"");
}

/* A key may end with a backslash, or have brackets and dots. */
static void keys_of_plain_lines_may_have_any_character(void **state)
{
	(void)state;
	check("module.m[\"C:\\\\\"].aws_vpc.a[\"\"]: Creation complete after 1s [id=i-1]\n", STATE(""),
		"create module.m[\"C:\\\\\"].aws_vpc.a[\"\"] i-1;");
	check("module.m[\"].x.y[\\\"\"].aws_vpc.a[0]: Creation complete after 1s [id=i-1]\n", STATE(""),
		"create module.m[\"].x.y[\\\"\"].aws_vpc.a[0] i-1;");
}

#define FORTY "0123456789012345678901234567890123456789"

/* 80 characters, with some in the middle omitted. */
static void an_abbreviated_id_is_unknown(void **state)
{
	(void)state;
	check("aws_vpc.a: Creation complete after 1s [id=" FORTY "..." FORTY "]\n",
		STATE(RESOURCE("", "a", INSTANCE(FORTY "xyz" FORTY))), "");
	check("aws_vpc.a: Creation complete after 1s [id=a...b]\n", STATE(""), "create aws_vpc.a a...b;");
}

static void a_line_with_a_zero_byte_is_ignored(void **state)
{
	static const char line[] = "aws_vpc.a\0: Creation complete after 1s [id=i-1]";
	struct applied *applied = applied_new();
	_cleanup_(freep) char *text = NULL;

	(void)state;
	applied_line(applied, line, sizeof(line) - 1);
	text = missing_text(applied, "null");
	assert_string_equal(text, "");
	applied_free(applied);
}

static void only_valid_addresses_are_accepted(void **state)
{
	static const char *const valid[] = {
		"a.b", "module.a.a_b.c-d[0]", "module.a[\"x y\"].a.b[\"\\\"\"]", "a.b[\"$${x}\"]"};
	static const char *const invalid[] = {"", "a", "a.", ".a", "a.b\n}", "a.b[", "a.b[]", "a.b[x]", "a.b[\"x]",
		"a.b[\"${x}\"]", "a.b[\"%{x}\"]", "a.b[\"$$${x}\"]", "a.b[\"\n\"]", "a.b c", "a.b[0", "a..b",
		"a.b[\"\\", "1.2", "a.b[0][1]"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(valid); i++)
		assert_true(applied_address_valid(valid[i]));
	for (size_t i = 0; i < ARRAY_LEN(invalid); i++)
		if (applied_address_valid(invalid[i]))
			fail_msg("%s", invalid[i]);
	check(HOOK("apply_complete", "", "a\\n}", "null", "create", "i-1"), "null", "");
}

/* A job may print any number of false reports. */
static void reports_have_a_limit(void **state)
{
	struct applied *applied = applied_new();
	json_t *missing;

	(void)state;
	for (int i = 0; i < 2 * APPLIED_MAX; i++) {
		char line[200];

		applied_line(applied, line,
			(size_t)snprintf(line, sizeof(line), "a.b[%d]: Creation complete after 1s [id=%d]", i, i));
	}
	missing = applied_missing(applied, (struct json_span){"", 0});
	assert_int_equal(json_array_size(missing), APPLIED_MISSING_MAX);
	json_decref(missing);
	applied_free(applied);
}

/* A job also writes its state: each of its values takes time. */
static void a_state_with_too_many_instances_is_not_compared(void **state)
{
	static const char begin[] = "{\"version\":4,\"resources\":[{\"mode\":\"managed\",\"type\":\"aws_vpc\","
				    "\"name\":\"a\",\"instances\":[{}";
	_cleanup_(buf_release) struct buf text = BUF_INIT(4 * APPLIED_PARTS_MAX);
	size_t parts = 2; /* the resource and its first instance */

	(void)state;
	buf_text(&text, begin);
	for (; parts < APPLIED_PARTS_MAX; parts++)
		buf_text(&text, ",{}");
	buf_text(&text, "]}]}");
	check(CREATED("a", "i-1") CREATED("b", "i-2"), buf_str(&text), "create aws_vpc.b i-2;");
	buf_cut(&text, text.len - strlen("]}]}"));
	buf_text(&text, ",{}]}]}");
	check(CREATED("a", "i-1") CREATED("b", "i-2"), buf_str(&text), "");
}

/* A comparison of each report with each instance would take minutes. */
static void many_ids_of_one_address_are_compared(void **state)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(64 * APPLIED_MAX);
	_cleanup_(applied_freep) struct applied *applied = applied_new();
	_cleanup_(freep) char *missing = NULL;
	clock_t begun;

	(void)state;
	buf_text(&text,
		"{\"version\":4,\"resources\":[{\"mode\":\"managed\",\"type\":\"aws_vpc\","
		"\"name\":\"a\",\"instances\":[{\"attributes\":{\"id\":\"first\"}}");
	for (int i = 1; i < APPLIED_MAX; i++) {
		char line[200];

		buf_printf(&text, ",{\"attributes\":{\"id\":\"i-%d\"}}", i);
		applied_line(applied, line,
			(size_t)snprintf(line, sizeof(line), "aws_vpc.a: Creation complete after 1s [id=i-%d]", i));
	}
	buf_text(&text, "]}]}");
	begun = clock();
	missing = missing_text(applied, buf_str(&text));
	assert_string_equal(missing, "");
	assert_in_range(clock() - begun, 0, 10 * CLOCKS_PER_SEC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(resources_of_the_state_are_not_missing),
		cmocka_unit_test(ids_are_compared_only_if_both_are_known),
		cmocka_unit_test(instances_differ_by_module_and_key),
		cmocka_unit_test(destroyed_resources_must_not_be_in_the_state),
		cmocka_unit_test(plain_log_lines_are_parsed),
		cmocka_unit_test(keys_of_plain_lines_may_have_any_character),
		cmocka_unit_test(an_abbreviated_id_is_unknown),
		cmocka_unit_test(a_line_with_a_zero_byte_is_ignored),
		cmocka_unit_test(only_valid_addresses_are_accepted),
		cmocka_unit_test(reports_have_a_limit),
		cmocka_unit_test(a_state_with_too_many_instances_is_not_compared),
		cmocka_unit_test(many_ids_of_one_address_are_compared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
