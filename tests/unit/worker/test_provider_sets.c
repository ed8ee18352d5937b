/* SPDX-License-Identifier: MPL-2.0 */
/* The file that a worker makes of a job's provider sets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "common/err.h"
#include "worker/engine/provider_sets.h"
#include "worker/runtime/assignment.h"

/* The text of the file for sets of these (source, configuration); NULL with *err. */
static char *text_of(size_t count, const char *const sets[][2], struct err *err)
{
	json_auto_t *source =
		json_loads("{\"job\":\"job-AAAAAAAAAAAAAAAA\",\"attempt\":1,\"token\":\"t\",\"stage\":\"plan\","
			   "\"run\":\"run-AAAAAAAAAAAAAAAA\",\"variables\":["
			   "{\"key\":\"region\",\"value\":\"eu\",\"category\":\"terraform\"},"
			   "{\"key\":\"token\",\"value\":\"s\",\"category\":\"terraform\",\"sensitive\":true},"
			   "{\"key\":\"known\",\"value\":\"k\",\"category\":\"terraform\"},"
			   "{\"key\":\"HOME\",\"value\":\"h\",\"category\":\"env\"}]}",
			0, NULL);
	json_auto_t *declared = json_pack("{sb}", "known", 1);
	_cleanup_(buf_release) struct buf text = BUF_INIT(1 << 20);
	json_t *list = json_array();
	struct assignment assignment;
	int result;

	for (size_t i = 0; i < count; i++)
		json_array_append_new(list,
			json_pack("{ss ss ss}", "name", "mine", "source", sets[i][0], "configuration", sets[i][1]));
	json_object_set_new(source, "provider-sets", list);
	assert_int_equal(assignment_read(source, &assignment, err), 0);
	result = provider_sets_text(&assignment, declared, &text, err);
	assignment_release(&assignment);
	return result == 0 ? buf_take(&text) : NULL;
}

static void sets_become_providers_and_variables(void **state)
{
	static const char *const sets[][2] = {
		{"hashicorp/aws",
			"# ours\nprovider \"aws\" {\n  region = var.region\n  url = \"https://${var.token}\"\n}\n"},
		{"registry.example.com/acme/aws",
			"provider aws { # }\n  features {}\n  text = <<END\n}\nEND\n  a = var.known + var.regions\n}"},
	};
	struct err err = ERR_INIT;
	_cleanup_(freep) char *text = text_of(2, sets, &err);

	(void)state;
	assert_string_equal(text,
		"terraform {\n  required_providers {\n    aws = {\n      source = \"hashicorp/aws\"\n    }\n"
		"    aws-2 = {\n      source = \"registry.example.com/acme/aws\"\n    }\n  }\n}\n"
		"\nprovider \"aws\" {\n  region = var.region\n  url = \"https://${var.token}\"\n}\n"
		"\nprovider \"aws-2\" { # }\n  features {}\n  text = <<END\n}\nEND\n  a = var.known + var.regions\n}\n"
		"\nvariable \"region\" {\n  sensitive = false\n}\n\nvariable \"token\" {\n  sensitive = true\n}\n");
}

static void anything_else_is_refused(void **state)
{
	static const char *const hostile[] = {"", "# nothing", "terraform {}", "module \"m\" {\n  source = \"./x\"\n}",
		"resource \"a\" \"b\" {}", "data \"a\" \"b\" {}", "locals {}", "a = 1", "provider {}",
		"provider \"a\" \"b\" {}", "provider \"a\" {", "provider \"a\" {}}",
		"provider \"a\" {}\nprovider \"b\" {}", "provider \"a\" {}\nresource \"x\" \"y\" {}",
		"provider \"a b\" {}", "provider \"${x}\" {}", "provider \"\\u0061\" {}", "provider \"\" {}",
		"provider \"1a\" {}", "provider \"a\" {\n  alias = \"x\"\n}", "provider \"a\" {\n  x = <<END\n}\n",
		"provider \"a\" {\n  x = \"}\n}", "provider \"a\" {} resource \"x\" \"y\" {}",
		"provider \"a\" {\n  x = [[[\n}"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(hostile); i++) {
		const char *const sets[][2] = {{"hashicorp/a", hostile[i]}};
		struct err err = ERR_INIT;
		_cleanup_(freep) char *text = text_of(1, sets, &err);

		if (text)
			fail_msg("accepted: %s", hostile[i]);
		assert_int_equal(err.kind, ERR_INVALID);
		assert_memory_equal(err.message, "The provider set \"mine\" can't be used: line ",
			strlen("The provider set \"mine\" can't be used: line "));
	}
}

static void deep_nesting_is_refused(void **state)
{
	_cleanup_(buf_release) struct buf deep = BUF_INIT(1 << 20);
	struct err err = ERR_INIT;
	_cleanup_(freep) char *text = NULL;

	(void)state;
	buf_text(&deep, "provider \"a\" {\n  x = ");
	for (int i = 0; i < 30000; i++)
		buf_text(&deep, "[");
	text = text_of(1, (const char *const[][2]){{"hashicorp/a", buf_str(&deep)}}, &err);
	assert_null(text);
	assert_int_equal(err.kind, ERR_INVALID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sets_become_providers_and_variables),
		cmocka_unit_test(anything_else_is_refused),
		cmocka_unit_test(deep_nesting_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
