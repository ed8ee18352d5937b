/* SPDX-License-Identifier: MPL-2.0 */
/* Queries of the explorer: views, filters, orders, fields, their errors, and the filter that an index finds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "common/err.h"
#include "common/json/json.h"
#include "scheduler/store/explorer/explorer_query.h"

static void query_begin(struct explorer_query *query, const char *view)
{
	struct err err = ERR_INIT;

	assert_int_equal(explorer_query_init(query, view, &err), 0);
}

/* The filter's result: "" or the error. */
static const char *filter_add(struct explorer_query *query, const char *field, const char *op, const char *value)
{
	static struct err err;

	err = (struct err)ERR_INIT;
	if (explorer_query_filter(query, &(struct explorer_filter){field, op, value}, &err) == 0)
		return "";
	assert_int_equal(err.kind, ERR_MALFORMED);
	return err.message;
}

static void test_views_have_their_fields(void **state)
{
	struct explorer_query query;
	struct err err = ERR_INIT;

	(void)state;
	query_begin(&query, "tf_versions");
	assert_string_equal(query.view.type, "visibility-tf-version");
	assert_int_equal(query.shown_count, 4);
	assert_string_equal(query.shown[1]->name, "version");
	assert_int_equal(query.shown[1]->kind, EXPLORER_VERSION);
	explorer_query_release(&query);
	query_begin(&query, "projects");
	assert_string_equal(query.shown[query.shown_count - 1]->shown, "monthly-cost");
	explorer_query_release(&query);
	assert_int_equal(explorer_query_init(&query, "secrets", &err), -1);
	assert_int_equal(err.kind, ERR_MALFORMED);
}

static void test_operators_follow_from_the_kind(void **state)
{
	static const struct {
		const char *field, *op, *value, *error;
	} cases[] = {
		{"workspace_name", "is", "", ""},
		{"workspace_name", "does not contain", "x", ""},
		{"workspace_name", "gt", "x", "gt is no operator of the field workspace_name"},
		{"module_count", "gteq", "-1.5", ""},
		{"module_count", "contains", "1", "contains is no operator of the field module_count"},
		{"module_count", "is", "", "the value for module_count must be a number"},
		{"module_count", "is", "1e5", "the value for module_count must be a number"},
		{"module_count", "is", "1234567890123456789", "the value for module_count must be a number"},
		{"module_count", "is_empty", "anything", ""},
		{"locked", "is", "true", ""},
		{"locked", "is", "yes", "the value for locked must be true or false"},
		{"locked", "is_not", "true", "is_not is no operator of the field locked"},
		{"workspace_terraform_version", "lt", "1.10.0", ""},
		{"workspace_terraform_version", "contains", "latest", ""},
		{"workspace_terraform_version", "lt", "latest",
			"the value for workspace_terraform_version must be a version such as 1.2.3"},
		{"workspace_created_at", "is_after", "2024-02-29", ""},
		{"workspace_created_at", "is_after", "2026-11-21T01:25:00.123456789+05:30", ""},
		{"workspace_created_at", "is_after", "2026-11-21 01:25", ""},
		{"workspace_created_at", "is_before", "2023-02-29",
			"the value for workspace_created_at must be a time such as 2026-11-21T01:25:00Z"},
		{"workspace_created_at", "is_before", "2026-11-21T24:00:00",
			"the value for workspace_created_at must be a time such as 2026-11-21T01:25:00Z"},
		{"workspace_created_at", "is_before", "2026-11-21T01:25:00 or 1=1",
			"the value for workspace_created_at must be a time such as 2026-11-21T01:25:00Z"},
		{"address", "is", "x", "address is no field of the explorer's type workspaces"},
	};
	struct explorer_query query;

	(void)state;
	query_begin(&query, "workspaces");
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_string_equal(filter_add(&query, cases[i].field, cases[i].op, cases[i].value), cases[i].error);
	explorer_query_release(&query);
}

static void test_an_index_is_chosen_by_how_little_it_finds(void **state)
{
	static const struct {
		const char *fields[4]; /* "field operator value" */
		enum explorer_column by;
		const char *value;
		int left; /* filters that the index does not answer alone */
	} cases[] = {
		{{"provider_type is aws_vpc"}, EXPLORER_TYPE, "aws_vpc", 0},
		{{"provider_type is aws_vpc", "name is main"}, EXPLORER_NAME, "main", 0},
		{{"name is main", "provider_type is aws_vpc"}, EXPLORER_NAME, "main", 0},
		{{"name is main", "name is other"}, EXPLORER_ADDRESS, "%other%", 1},
		{{"module_name is net", "address contains a%b_c\\"}, EXPLORER_ADDRESS, "%a\\%b\\_c\\\\%", 1},
		{{"provider_type contains vpc"}, EXPLORER_ADDRESS, "%vpc%", 1},
		{{"provider_name is hashicorp/aws", "module_name is net"}, EXPLORER_MODULE, "net", 0},
		{{"address contains ab"}, EXPLORER_NO_COLUMN, NULL, 1},
		{{"address does_not_contain abc", "module_name contains abc", "workspace_name is abc"},
			EXPLORER_NO_COLUMN, NULL, 3},
		{{"billable_rum is true"}, EXPLORER_NO_COLUMN, NULL, 1},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct explorer_query query;
		enum explorer_column by;
		const char *found;

		query_begin(&query, "resources");
		for (size_t f = 0; cases[i].fields[f]; f++) {
			_cleanup_(freep) char *copy = mem_text(cases[i].fields[f]);
			char *rest = copy, *field = strsep(&rest, " "), *op = strsep(&rest, " ");

			assert_string_equal(filter_add(&query, field, op, rest), "");
		}
		by = explorer_query_index(&query);
		assert_int_equal(by, cases[i].by);
		found = by == EXPLORER_ADDRESS ? query.pattern : by < EXPLORER_BILLABLE ? query.equal[by] : NULL;
		assert_string_equal(text_or_empty(found), text_or_empty(cases[i].value));
		assert_int_equal(query.filters.fields.count + query.place_filters.fields.count, cases[i].left);
		explorer_query_release(&query);
	}
}

static void test_orders_and_fields(void **state)
{
	struct explorer_query query;
	struct err err = ERR_INIT;

	(void)state;
	query_begin(&query, "modules");
	assert_int_equal(explorer_query_sort(&query, "-version", &err), 0);
	assert_true(query.down);
	assert_string_equal(query.sort->name, "version");
	assert_int_equal(explorer_query_fields(&query, "name,version", &err), 0);
	assert_int_equal(query.shown_count, 2);
	assert_int_equal(explorer_query_fields(&query, "name,", &err), -1);
	assert_int_equal(explorer_query_sort(&query, "--version", &err), -1);
	explorer_query_release(&query);
}

static void test_names_of_parameters(void **state)
{
	static const struct {
		const char *name;
		bool is;
	} cases[] = {{"filter[0][name][is][0]", true}, {"filter[12][name][is]", true},
		{"filter[0][name][is][1]", false}, {"filter[x][name][is][0]", false}, {"filter[0][name]", false},
		{"filter[0][name][is][0]x", false}, {"filter", false}, {"filters[0][name][is][0]", false},
		{"filter[0][name][is", false}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_cleanup_(freep) char *field = NULL, *op = NULL;

		assert_int_equal(explorer_filter_name(cases[i].name, &field, &op), cases[i].is);
		if (cases[i].is)
			assert_string_equal(op, "is");
	}
}

static void test_saved_queries(void **state)
{
	static const struct {
		const char *document;
		int result;
	} cases[] = {{"{}", 0}, {"{\"filter\":null,\"fields\":[],\"sort\":[]}", 0}, {"[]", -1}, {"{\"filter\":{}}", -1},
		{"{\"filter\":[7]}", -1},
		{"{\"filter\":[{\"field\":\"name\",\"operator\":\"is\",\"value\":[\"a\"]}]}", 0},
		{"{\"filter\":[{\"field\":\"name\",\"operator\":\"is\",\"value\":\"a\"}]}", 0},
		{"{\"filter\":[{\"field\":\"name\",\"operator\":\"is\",\"value\":[7]}]}", -1},
		{"{\"filter\":[{\"field\":\"name\",\"operator\":\"is_empty\"}]}", 0},
		{"{\"filter\":[{\"name\":{\"is\":[\"a\"]}}]}", 0}, {"{\"filter\":[{\"name\":{\"is\":\"a\"}}]}", 0},
		{"{\"filter\":[{\"name\":{\"is\":[7]}}]}", -1}, {"{\"filter\":[{\"name\":{}}]}", -1},
		{"{\"filter\":[{\"name\":{\"is\":[\"a\"],\"is_not\":[\"b\"]}}]}", -1},
		{"{\"filter\":[{\"nothing\":{\"is\":[\"a\"]}}]}", -1}, {"{\"sort\":[\"-name\"]}", 0},
		{"{\"sort\":[\"name\",\"version\"]}", -1}, {"{\"fields\":[\"name\",\"nothing\"]}", -1}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		json_auto_t *document = json_of(cases[i].document);
		struct explorer_query query;
		struct err err = ERR_INIT;

		assert_int_equal(explorer_query_init(&query, "modules", &err), 0);
		assert_int_equal(explorer_query_document(&query, document, &err), cases[i].result);
		explorer_query_release(&query);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_views_have_their_fields),
		cmocka_unit_test(test_operators_follow_from_the_kind),
		cmocka_unit_test(test_an_index_is_chosen_by_how_little_it_finds),
		cmocka_unit_test(test_orders_and_fields),
		cmocka_unit_test(test_names_of_parameters),
		cmocka_unit_test(test_saved_queries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
