/* SPDX-License-Identifier: MPL-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include "common/err.h"
#include "worker/cost/estimate.h"
#include "worker/cost/infracost.h"

/* A price book with every element of the format. */
static const char book[] =
	"{\"price-book\": 1, \"name\": \"Ours\", \"currency\": \"USD\", \"source\": \"contract\", \"date\": "
	"\"2024-06\","
	"\"attributes\": {\"region\": {\"from\": [\"region\", \"provider.region\", \"env.OUR_REGION\"], "
	"\"default\": \"here\", \"map\": {\"near\": \"here\"}}},"
	"\"free\": {\"source\": \"contract\", \"date\": \"2024-06\", \"types\": [\"our_network\"]},"
	"\"tables\": {\"machines\": {\"by\": [\"region\", \"type\"], "
	"\"prices\": {\"here\": {\"small\": 0.0104, \"large\": \"0.0832\"}, \"far\": {\"*\": 1}}}},"
	"\"resources\": {"
	"\"our_machine\": {\"attributes\": {\"type\": {\"from\": [\"type\"]}, "
	"\"disk\": {\"from\": [\"disk.0.size\"], \"default\": 8}, \"extra\": {\"from\": [\"each.size\"]}, "
	"\"kind\": {\"from\": [\"each.kind\"], \"default\": \"slow\"}}, "
	"\"components\": [{\"name\": \"Machine\", \"unit\": \"hour\", \"table\": \"machines\"}, "
	"{\"name\": \"Disk\", \"unit\": \"GB-month\", \"price\": 0.1, \"quantity\": \"disk\"}, "
	"{\"name\": \"Fast disks\", \"unit\": \"GB-month\", \"each\": \"disks\", \"when\": {\"kind\": [\"fast\"]}, "
	"\"price\": 0.5, \"quantity\": \"extra\"}]},"
	"\"our_disk\": {\"attributes\": {\"tier\": {\"from\": [\"size\"], \"up-to\": {\"32\": \"S\", \"128\": \"M\"}}, "
	"\"copies\": {\"from\": [\"copies\"], \"default\": \"1\"}, \"speed\": {\"from\": [\"speed\"], \"default\": 0}, "
	"\"zone\": {\"from\": [\"zone\"], \"default\": \"here-1-a\", \"until-last\": \"-\"}}, "
	"\"components\": [{\"name\": \"Disk\", \"unit\": \"month\", \"by\": [\"zone\", \"tier\"], "
	"\"prices\": {\"here-1\": {\"S\": 1.54, \"M\": 5.89}}, \"quantity\": [\"copies\", 2]}, "
	"{\"name\": \"Speed\", \"unit\": \"month\", \"price\": 0.005, \"quantity\": \"speed\", \"beyond\": 3000}]}"
	"}}";

static void add_book(struct books *books, const char *text)
{
	struct err err = ERR_INIT;

	if (books_add(books, "test.json", text, strlen(text), &err) < 0)
		fail_msg("%s", err.message);
}

/* A plan with these changes; `rest` are further members, each preceded by a comma. */
static char *plan_of(const char *changes, const char *rest)
{
	return mem_printf("{\"format_version\": \"1.2\", \"resource_changes\": [%s]%s}", changes, rest);
}

static char *change_of(const char *type, const char *before, const char *after, const char *more)
{
	return mem_printf("{\"address\": \"%s.one\", \"mode\": \"managed\", \"type\": \"%s\", "
			  "\"provider_name\": \"registry.terraform.io/ours/ours\", "
			  "\"change\": {\"actions\": [\"update\"], \"before\": %s, \"after\": %s%s}}",
		type, type, before, after, more);
}

static json_t *estimate_with(const struct books *books, const json_t *env, const char *plan)
{
	struct err err = ERR_INIT;
	json_t *document = NULL;

	if (estimate_plan(books, env, text_bytes(plan), &document, &err) < 0)
		fail_msg("%s", err.message);
	return document;
}

static json_t *estimate_change(const char *type, const char *before, const char *after, const char *more)
{
	struct books books = {.books = NULL};
	_cleanup_(freep) char *change = change_of(type, before, after, more);
	_cleanup_(freep) char *plan = plan_of(change, "");
	json_t *document;

	add_book(&books, book);
	document = estimate_with(&books, NULL, plan);
	books_release(&books);
	return document;
}

static const json_t *resource(const json_t *document, size_t i)
{
	return json_array_get(json_object_get(document, "resources"), i);
}

static void assert_text(const json_t *object, const char *name, const char *wanted)
{
	const char *text = json_string_at(object, name);

	if (!text_equal(text, wanted))
		fail_msg("%s is %s, not %s", name, text_or_empty(text), wanted);
}

static void assert_proposed(const char *type, const char *after, const char *wanted)
{
	json_auto_t *document = estimate_change(type, "null", after, "");

	assert_text(document, "proposed-monthly-cost", wanted);
	assert_int_equal(json_int_at(document, "matched-resources-count", -1), 1);
}

static void assert_unmatched(const char *type, const char *after, const char *more, const char *reason)
{
	json_auto_t *document = estimate_change(type, "null", after, more);

	assert_text(document, "proposed-monthly-cost", "0.00");
	assert_int_equal(json_int_at(document, "unmatched-resources-count", -1), 1);
	assert_false(json_is_true(json_object_get(resource(document, 0), "matched")));
	assert_text(resource(document, 0), "reason", reason);
}

static void test_an_estimate_has_prior_and_proposed_costs(void **state)
{
	json_auto_t *document = estimate_change("our_machine", "{\"type\": \"small\"}",
		"{\"type\": \"large\", \"disk\": [{\"size\": 20}], \"disks\": [{\"size\": 4, \"kind\": \"fast\"}, "
		"{\"size\": 100, \"kind\": null}, {\"size\": 2.5, \"kind\": \"fast\"}]}",
		"");
	const json_t *components = json_object_get(resource(document, 0), "components");

	(void)state;
	assert_text(document, "status", "finished");
	assert_text(document, "currency", "USD");
	assert_text(document, "prior-monthly-cost", "8.392");     /* 0.0104 * 730 + 8 * 0.1 */
	assert_text(document, "proposed-monthly-cost", "65.986"); /* 0.0832 * 730 + 20 * 0.1 + 6.5 * 0.5 */
	assert_text(document, "delta-monthly-cost", "57.594");
	assert_text(resource(document, 0), "address", "our_machine.one");
	assert_text(resource(document, 0), "delta", "57.594");
	assert_int_equal(json_array_size(components), 4);
	assert_text(json_array_get(components, 0), "quantity", "730");
	assert_text(json_array_get(components, 0), "price", "0.0832");
	assert_text(json_array_get(components, 0), "monthly-cost", "60.736");
	assert_text(json_array_get(components, 0), "source", "contract");
	assert_text(json_array_get(components, 3), "quantity", "2.5");
}

static void test_a_removed_resource_has_no_proposed_cost(void **state)
{
	json_auto_t *document = estimate_change("our_machine", "{\"type\": \"small\"}", "null", "");

	(void)state;
	assert_text(document, "proposed-monthly-cost", "0.00");
	assert_text(document, "delta-monthly-cost", "-8.392");
	assert_int_equal(json_array_size(json_object_get(resource(document, 0), "components")), 2);
}

static void test_prices_follow_the_definitions_of_a_book(void **state)
{
	(void)state;
	assert_proposed("our_network", "{}", "0.00");
	assert_proposed("our_machine", "{\"type\": \"small\", \"region\": \"near\"}", "8.392");
	assert_proposed("our_machine", "{\"type\": \"anything\", \"region\": \"far\"}", "730.80");
	assert_proposed("our_disk", "{\"size\": 32}", "3.08");
	assert_proposed("our_disk", "{\"size\": 32.5, \"copies\": 3}", "35.34");
	assert_proposed("our_disk", "{\"size\": 1, \"zone\": \"here-1-b\", \"speed\": 3000}", "3.08");
	assert_proposed("our_disk", "{\"size\": 1, \"speed\": 4000}", "8.08");
}

static void test_a_resource_without_a_price_has_a_reason(void **state)
{
	(void)state;
	assert_unmatched("other_thing", "{}", "", "no price book knows the type");
	assert_unmatched("our_machine", "{}", "", "it says no type");
	assert_unmatched(
		"our_machine", "{\"type\": \"huge\"}", "", "the price book Ours has no price for the type \"huge\"");
	assert_unmatched("our_machine", "{\"type\": \"huge\"}", ", \"after_sensitive\": {\"type\": true}",
		"the price book Ours has no price for its type");
	assert_unmatched(
		"our_machine", "{}", ", \"after_unknown\": {\"type\": true}", "its type is known only after the apply");
	assert_unmatched("our_disk", "{\"size\": 500}", "", "the price book Ours has no price for the tier \"500\"");
	assert_unmatched("our_disk", "{\"size\": 1, \"copies\": \"many\"}", "",
		"the price book Ours has no price for the copies \"many\"");
	assert_unmatched("our_disk", "{\"size\": 1, \"speed\": 1e38}", "", "its cost has too many digits");
}

/* If one side has no price, neither counts: the difference would be wrong. */
static void test_a_resource_needs_a_prior_and_a_proposed_price(void **state)
{
	json_auto_t *document = estimate_change("our_machine", "{\"type\": \"small\"}", "{\"type\": \"huge\"}", "");

	(void)state;
	assert_text(document, "prior-monthly-cost", "0.00");
	assert_text(document, "delta-monthly-cost", "0.00");
	assert_int_equal(json_int_at(document, "unmatched-resources-count", -1), 1);
}

static void test_data_sources_are_not_counted(void **state)
{
	struct books books = {.books = NULL};
	_cleanup_(freep) char *one = change_of("our_machine", "null", "{\"type\": \"small\"}", "");
	_cleanup_(freep) char *two = change_of("terraform_data", "null", "{}", "");
	_cleanup_(freep) char *changes = mem_printf("%s, %s, {\"address\": \"data.our_machine.x\", \"mode\": \"data\", "
						    "\"type\": \"our_machine\", \"change\": {}},"
						    "{\"address\": \"our_machine.two\", \"deposed\": \"12ab\", "
						    "\"mode\": \"managed\", \"type\": \"our_machine\", "
						    "\"change\": {\"before\": {\"type\": \"large\"}, \"after\": null}}",
		one, two);
	_cleanup_(freep) char *plan = plan_of(changes, "");

	(void)state;
	add_book(&books, book);
	json_auto_t *document = estimate_with(&books, NULL, plan);
	assert_int_equal(json_int_at(document, "resources-count", -1), 3);
	assert_int_equal(json_int_at(document, "matched-resources-count", -1), 2);
	assert_int_equal(json_int_at(document, "unmatched-resources-count", -1), 1);
	assert_text(document, "delta-monthly-cost", "-53.144");
	assert_text(resource(document, 2), "deposed", "12ab");
	books_release(&books);
}

/* terraform lists no changes in a refresh-only plan. */
static void test_a_refresh_only_plan_has_the_costs_of_its_state(void **state)
{
	static const char plan[] =
		"{\"format_version\": \"1.2\", \"prior_state\": {\"values\": {\"root_module\": {\"resources\": "
		"[{\"address\": "
		"\"our_machine.one\", \"mode\": \"managed\", \"type\": \"our_machine\", \"values\": {\"type\": "
		"\"small\"}}], \"child_modules\": [{\"address\": \"module.a\", \"resources\": [{\"address\": "
		"\"module.a.our_machine.two\", \"mode\": \"managed\", \"type\": \"our_machine\", \"values\": "
		"{\"type\": \"small\"}}]}]}}}}";
	struct books books = {.books = NULL};

	(void)state;
	add_book(&books, book);
	json_auto_t *document = estimate_with(&books, NULL, plan);
	assert_text(document, "prior-monthly-cost", "16.784");
	assert_text(document, "proposed-monthly-cost", "16.784");
	assert_text(document, "delta-monthly-cost", "0.00");
	books_release(&books);
}

static void assert_region(const char *address, const char *configuration, const json_t *env, const char *wanted)
{
	struct books books = {.books = NULL};
	_cleanup_(freep) char *change =
		mem_printf("{\"address\": \"%s\", \"mode\": \"managed\", \"type\": \"our_machine\", "
			   "\"change\": {\"before\": null, \"after\": {\"type\": \"small\"}}}",
			address);
	_cleanup_(freep) char *plan = plan_of(change, configuration);

	add_book(&books, book);
	json_auto_t *document = estimate_with(&books, env, plan);
	assert_text(document, "proposed-monthly-cost", wanted);
	books_release(&books);
}

#define CONFIGURATION(expression, more)                                                                                \
	", \"variables\": {\"where\": {\"value\": \"far\"}}, \"configuration\": {\"provider_config\": {\"ours\": "     \
	"{\"name\": \"ours\", \"expressions\": {\"region\": " expression "}}}, \"root_module\": {" more                \
	"\"resources\": [{\"address\": \"our_machine.one\", \"provider_config_key\": \"ours\"}], \"module_calls\": "   \
	"{\"a\": {\"module\": {\"resources\": [{\"address\": \"our_machine.one\", \"provider_config_key\": "           \
	"\"ours\"}]}}}}}"

static void test_the_region_is_read_from_the_provider_configuration(void **state)
{
	static const char constant[] = CONFIGURATION("{\"constant_value\": \"far\"}", "");
	static const char variable[] = CONFIGURATION("{\"references\": [\"var.where\"]}", "");
	static const char computed[] = CONFIGURATION("{\"references\": [\"local.where\"]}", "");
	static const char sensitive[] = CONFIGURATION(
		"{\"references\": [\"var.where\"]}", "\"variables\": {\"where\": {\"sensitive\": true}}, ");
	json_auto_t *env = json_pack("{ss}", "OUR_REGION", "far");

	(void)state;
	assert_region("our_machine.one", constant, NULL, "730.80");
	assert_region("our_machine.one[0]", variable, NULL, "730.80");
	assert_region("module.a[\\\"x.y]\\\"].our_machine.one[\\\"b\\\"]", variable, NULL, "730.80");
	assert_region("our_machine.one", computed, NULL, "8.392");
	assert_region("our_machine.one", sensitive, NULL, "8.392");
	assert_region("our_machine.other", constant, NULL, "8.392");
	assert_region("our_machine.one", computed, env, "730.80");
}

/* An operator's small book takes precedence, and resources that it lacks are looked up in the built-in one. */
static void test_a_later_book_takes_precedence(void **state)
{
	static const char own[] =
		"{\"price-book\": 1, \"name\": \"Mine\", \"currency\": \"USD\", \"source\": \"contract\", \"date\": "
		"\"2024-07\","
		"\"resources\": {\"our_machine\": {\"attributes\": {\"type\": {\"from\": [\"type\"]}}, "
		"\"components\": [{\"name\": \"Flat\", \"unit\": \"month\", \"by\": [\"type\"], "
		"\"prices\": {\"small\": 1, \"huge\": 9}}]}}}";
	static const char *const cases[][2] = {{"small", "1.00"}, {"huge", "9.00"}, {"large", "61.536"}};
	struct books books = {.books = NULL};

	(void)state;
	add_book(&books, book);
	add_book(&books, own);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_cleanup_(freep) char *after = mem_printf("{\"type\": \"%s\"}", cases[i][0]);
		_cleanup_(freep) char *change = change_of("our_machine", "null", after, "");
		_cleanup_(freep) char *plan = plan_of(change, "");
		json_auto_t *document = estimate_with(&books, NULL, plan);

		assert_text(document, "proposed-monthly-cost", cases[i][1]);
	}
	books_release(&books);
}

/* Typical prices of the built-in books. */
static void test_prices_of_the_embedded_books(void **state)
{
	static const struct {
		const char *type, *after, *monthly;
	} cases[] = {
		{"aws_instance", "{\"instance_type\": \"t3.micro\"}", "8.392"},
		{"aws_instance",
			"{\"instance_type\": \"m5.large\", \"root_block_device\": [{\"volume_type\": \"gp3\", "
			"\"volume_size\": 50, \"iops\": 4000, \"throughput\": 125}], \"ebs_block_device\": "
			"[{\"volume_type\": "
			"\"io1\", \"volume_size\": 100, \"iops\": 500}]}",
			"124.08"},
		{"aws_db_instance",
			"{\"instance_class\": \"db.t3.micro\", \"engine\": \"postgres\", \"allocated_storage\": 20, "
			"\"multi_az\": true}",
			"30.88"},
		{"aws_nat_gateway", "{}", "32.85"},
		{"aws_vpc", "{}", "0.00"},
		{"azurerm_linux_virtual_machine",
			"{\"size\": \"Standard_B1s\", \"location\": \"eastus\", \"os_disk\": "
			"[{\"storage_account_type\": "
			"\"Premium_LRS\"}]}",
			"12.872"},
		{"google_compute_instance",
			"{\"machine_type\": \"e2-standard-2\", \"zone\": \"us-central1-b\", \"boot_disk\": "
			"[{\"initialize_params\": [{\"size\": 20, \"type\": \"pd-ssd\"}]}]}",
			"52.31438"},
	};
	struct books books = {.books = NULL};
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(books_load(&books, "", &err), 0);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_cleanup_(freep) char *change = change_of(cases[i].type, "null", cases[i].after, "");
		_cleanup_(freep) char *plan = plan_of(change, "");
		json_auto_t *document = estimate_with(&books, NULL, plan);

		if (!json_is_true(json_object_get(resource(document, 0), "matched")))
			fail_msg("%s: %s", cases[i].type, json_string_at(resource(document, 0), "reason"));
		assert_text(document, "proposed-monthly-cost", cases[i].monthly);
	}
	books_release(&books);
}

static void test_invalid_plans_are_refused(void **state)
{
	struct books books = {.books = NULL};
	static const char *const texts[] = {"", "{}", "[1]", "{\"format_version\": \"1.2\""};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct err err = ERR_INIT;
		json_t *document = NULL;

		assert_int_equal(estimate_plan(&books, NULL, text_bytes(texts[i]), &document, &err), -1);
		assert_true(text_starts(err.message, "the plan can't be read"));
	}
}

static void test_an_answer_of_infracost_is_parsed(void **state)
{
	static const char answer[] =
		"{\"version\": \"0.2\", \"currency\": \"EUR\", \"projects\": [{\"name\": \"plan.json\", "
		"\"pastBreakdown\": {\"resources\": [{\"name\": \"aws_instance.a\", \"resourceType\": "
		"\"aws_instance\", "
		"\"monthlyCost\": \"10\", \"costComponents\": []}, {\"name\": \"aws_eip.gone\", \"monthlyCost\": "
		"\"3.65\"}]}, "
		"\"breakdown\": {\"resources\": [{\"name\": \"aws_instance.a\", \"resourceType\": \"aws_instance\", "
		"\"monthlyCost\": \"12.5\", \"costComponents\": [{\"name\": \"Instance usage\", \"unit\": \"hours\", "
		"\"monthlyQuantity\": \"730\", \"price\": \"0.0171\", \"monthlyCost\": \"12.483\"}], \"subresources\": "
		"[{\"name\": \"root_block_device\", \"costComponents\": [{\"name\": \"Storage\", \"unit\": \"GB\", "
		"\"monthlyQuantity\": \"1\", \"price\": \"0.017\", \"monthlyCost\": \"0.017\"}, {\"name\": \"IO\", "
		"\"monthlyCost\": null}]}]}]}}], \"totalMonthlyCost\": \"12.5\", \"pastTotalMonthlyCost\": \"13.65\", "
		"\"summary\": {\"totalDetectedResources\": 5, \"totalUnsupportedResources\": 2}}";
	json_auto_t *document = NULL;
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(infracost_read(answer, strlen(answer), &document, &err), 0);
	assert_text(document, "currency", "EUR");
	assert_text(document, "prior-monthly-cost", "13.65");
	assert_text(document, "delta-monthly-cost", "-1.15");
	assert_int_equal(json_int_at(document, "matched-resources-count", -1), 3);
	assert_int_equal(json_int_at(document, "unmatched-resources-count", -1), 2);
	assert_text(resource(document, 0), "address", "aws_instance.a");
	assert_text(resource(document, 0), "delta", "2.50");
	assert_int_equal(json_array_size(json_object_get(resource(document, 0), "components")), 2);
	assert_text(resource(document, 1), "proposed", "0.00");
}

static void test_invalid_answers_of_infracost_are_refused(void **state)
{
	static const char *const texts[] = {"", "Error: no API key", "{\"projects\": []}"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		json_t *document = NULL;
		struct err err = ERR_INIT;

		assert_int_equal(infracost_read(texts[i], strlen(texts[i]), &document, &err), -1);
		assert_true(text_starts(err.message, "infracost's answer can't be read"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_estimate_has_prior_and_proposed_costs),
		cmocka_unit_test(test_a_removed_resource_has_no_proposed_cost),
		cmocka_unit_test(test_prices_follow_the_definitions_of_a_book),
		cmocka_unit_test(test_a_resource_without_a_price_has_a_reason),
		cmocka_unit_test(test_a_resource_needs_a_prior_and_a_proposed_price),
		cmocka_unit_test(test_data_sources_are_not_counted),
		cmocka_unit_test(test_a_refresh_only_plan_has_the_costs_of_its_state),
		cmocka_unit_test(test_the_region_is_read_from_the_provider_configuration),
		cmocka_unit_test(test_a_later_book_takes_precedence),
		cmocka_unit_test(test_prices_of_the_embedded_books),
		cmocka_unit_test(test_invalid_plans_are_refused),
		cmocka_unit_test(test_an_answer_of_infracost_is_parsed),
		cmocka_unit_test(test_invalid_answers_of_infracost_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
