/* SPDX-License-Identifier: MPL-2.0 */
/* The explorer's rows: how sources of modules and providers are shown, and the bounds of a workspace. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "common/err.h"
#include "common/json/json.h"
#include "scheduler/store/explorer/explorer_facts.h"

static void test_sources_are_shown_without_secrets(void **state)
{
	static const struct {
		const char *kind, *source, *version;
		const char *shown, *name, *shown_version, *registry;
	} cases[] = {
		{"module", "registry.terraform.io/terraform-aws-modules/vpc/aws", "5.1.0",
			"terraform-aws-modules/vpc/aws", "vpc", "5.1.0", "public"},
		{"module", "registry.opentofu.org/a/vpc/aws", "1.0.0", "registry.opentofu.org/a/vpc/aws", "vpc",
			"1.0.0", "public"},
		{"module", "example.com:8080/acme/web/aws", "1.0.0", "example.com:8080/acme/web/aws", "web", "1.0.0",
			"private"},
		{"module", "./modules/subnets", NULL, "./modules/subnets", "subnets", "", NULL},
		{"module", "..", NULL, "..", "..", "", NULL},
		{"module", "git::https://user:secret@example.com/net.git//sub?ref=v1.2.0&sshkey=secret", NULL,
			"git::https://example.com/net.git//sub", "sub", "v1.2.0", NULL},
		{"module", "git::ssh://git@example.com/net.git", NULL, "git::ssh://example.com/net.git", "net", "",
			NULL},
		{"module", "https://a@b:secret@example.com/x.zip?archive=zip&myref=1", NULL,
			"https://example.com/x.zip", "x.zip", "", NULL},
		{"provider", "registry.terraform.io/hashicorp/aws", "5.0.0", "hashicorp/aws", "aws", "5.0.0", "public"},
		{"provider", "terraform.io/builtin/terraform", NULL, "terraform.io/builtin/terraform", "terraform", "",
			NULL},
		{"provider", "example.com/acme/own", "0.1.0", "example.com/acme/own", "own", "0.1.0", "private"},
		{"provider", "", NULL, "", "", "", NULL},
		{"module", "////", NULL, "////", "", "", NULL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct explorer_package package;

		explorer_package_read(cases[i].kind, cases[i].source, cases[i].version, &package);
		assert_string_equal(package.source, cases[i].shown);
		assert_string_equal(package.name, cases[i].name);
		assert_string_equal(package.version, cases[i].shown_version);
		assert_string_equal(text_or_empty(package.registry), text_or_empty(cases[i].registry));
		explorer_package_release(&package);
	}
}

static json_t *instances_many(int count)
{
	json_t *list = json_array();

	for (int i = 0; i < count; i++)
		json_array_append_new(
			list, json_pack("{ss ss}", "engine-address", "a.b", "source", "registry.terraform.io/a/b"));
	return list;
}

static void test_a_workspace_has_a_bound(void **state)
{
	json_auto_t *most = instances_many(EXPLORER_MAX_RESOURCES), *more = instances_many(EXPLORER_MAX_RESOURCES + 1);
	struct explorer_facts facts;

	(void)state;
	explorer_facts_init(&facts);
	explorer_facts_add_resources(&facts, most);
	explorer_facts_add_packages(&facts, NULL, most);
	assert_int_equal(facts.resources, EXPLORER_MAX_RESOURCES);
	assert_int_equal(facts.packages, 1); /* the provider, once */
	assert_false(facts.is_cut);
	explorer_facts_release(&facts);
	explorer_facts_init(&facts);
	explorer_facts_add_resources(&facts, more);
	assert_int_equal(facts.resources, EXPLORER_MAX_RESOURCES);
	assert_true(facts.is_cut);
	explorer_facts_release(&facts);
}

static void test_documents_of_any_shape_are_read(void **state)
{
	static const char *const documents[] = {"null", "7", "[]", "{\"modules\":7,\"providers\":{}}",
		"{\"modules\":[null,7,{},{\"source\":7},{\"source\":\"\"}]}"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(documents); i++) {
		json_auto_t *document = json_of(documents[i]);
		struct explorer_facts facts;

		explorer_facts_init(&facts);
		explorer_facts_add_packages(&facts, document, NULL);
		assert_int_equal(facts.packages, 0);
		explorer_facts_release(&facts);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sources_are_shown_without_secrets),
		cmocka_unit_test(test_a_workspace_has_a_bound),
		cmocka_unit_test(test_documents_of_any_shape_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
