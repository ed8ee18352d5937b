/* SPDX-License-Identifier: MPL-2.0 */
/* What the claims of identity providers say about people. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "scheduler/auth/identity/oidc_claims.h"

static void groups_are(const char *claim, const char *wanted)
{
	json_auto_t *value = json_of(claim), *groups = claim_groups(value);
	_cleanup_(freep) char *text = json_text(groups);

	assert_string_equal(text, wanted);
}

static void groups_come_in_several_forms(void **state)
{
	(void)state;
	groups_are("[\"a\", \"/b\", \"\", 7, null, [\"c\"]]", "[\"a\",\"b\"]");
	groups_are("\"only\"", "[\"only\"]");
	groups_are("[{\"id\": \"1\", \"name\": \"n\", \"displayName\": \"d\"}, {}]", "[\"1\",\"n\",\"d\"]");
	groups_are("{\"a\": \"b\"}", "[]");
	assert_null(claim_groups(NULL));
}

static void the_number_and_the_length_of_groups_are_bounded(void **state)
{
	json_auto_t *claim = json_array(), *groups = NULL;
	char name[400];

	(void)state;
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	json_array_append_new(claim, json_string(name));
	for (int i = 0; i < 5000; i++)
		json_array_append_new(claim, json_string("g"));
	groups = claim_groups(claim);
	assert_int_equal(json_array_size(groups), 2000);
	assert_string_equal(json_string_value(json_array_get(groups, 0)), "g");
}

static void a_name_with_dots_comes_before_a_path(void **state)
{
	json_auto_t *claims = json_of("{\"a.b\": 1, \"a\": {\"b\": 2, \"c\": 3}}");

	(void)state;
	assert_int_equal(json_integer_value(claim_at(claims, "a.b")), 1);
	assert_int_equal(json_integer_value(claim_at(claims, "a.c")), 3);
	assert_null(claim_at(claims, "a.d"));
}

static void a_person_is_read_by_the_settings(void **state)
{
	json_auto_t *claims =
		json_of("{\"sub\": \"s\", \"oid\": \"o\", \"email\": \"e@x\", \"email_verified\": \"true\", "
			"\"preferred_username\": \"n\", \"name\": {\"short\": \"m\"}}");
	json_auto_t *none = json_object(), *groups = json_of("[\"root\"]");
	json_auto_t *settings = json_of("{\"subject-claim\": \"oid\", \"username-claim\": \"name.short\", "
					"\"site-admin-group\": \"root\"}");
	struct external_person person = {.provider_id = "idp-1"};
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(claims_read(claims, none, NULL, &person, &err), 0);
	assert_string_equal(person.subject, "s");
	assert_string_equal(person.username, "n");
	assert_true(person.email_verified);
	assert_int_equal(person.site_admin, -1);
	assert_int_equal(claims_read(claims, settings, groups, &person, &err), 0);
	assert_string_equal(person.subject, "o");
	assert_string_equal(person.username, "m");
	assert_int_equal(person.site_admin, 1);
	/* Groups that are not known make nobody an admin, and take it from nobody. */
	assert_int_equal(claims_read(claims, settings, NULL, &person, &err), 0);
	assert_int_equal(person.site_admin, -1);
	assert_int_equal(claims_read(none, none, NULL, &person, &err), -1);
	assert_int_equal(err.kind, ERR_FORBIDDEN);
}

static void groups_that_were_left_out_are_noticed(void **state)
{
	json_auto_t *claims = json_of("{\"_claim_names\": {\"groups\": \"src1\"}}"),
		    *has = json_of("{\"hasgroups\": true}");

	(void)state;
	assert_true(claim_groups_left_out(claims, "groups"));
	assert_false(claim_groups_left_out(claims, "roles"));
	assert_true(claim_groups_left_out(has, "groups"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups_come_in_several_forms),
		cmocka_unit_test(the_number_and_the_length_of_groups_are_bounded),
		cmocka_unit_test(a_name_with_dots_comes_before_a_path),
		cmocka_unit_test(a_person_is_read_by_the_settings),
		cmocka_unit_test(groups_that_were_left_out_are_noticed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
