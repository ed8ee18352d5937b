/* SPDX-License-Identifier: MPL-2.0 */
/* What an assertion says about the person, by the settings. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "common/err.h"
#include "scheduler/auth/saml/person.h"

struct reading {
	struct external_person person;
	json_t *settings, *answer, *groups;
};

static void reading_release(struct reading *reading)
{
	json_decref(reading->settings);
	json_decref(reading->answer);
	json_decref(reading->groups);
}

/* Both are JSON. The settings are in addition to those of a site that manages teams. */
static void read_person(struct reading *reading, const char *settings, const char *attributes)
{
	json_auto_t *more = json_of(settings);
	struct saml_provider provider = {.settings = json_pack("{ss ss ss ss sb}", "attr-username", "Username",
						 "attr-groups", "MemberOf", "attr-site-admin", "SiteAdmin",
						 "site-admin-role", "site-admins", "team-management-enabled", 1)};

	json_object_update(provider.settings, more);
	reading->settings = provider.settings;
	reading->answer = json_pack(
		"{ss ss so}", "issuer", "https://idp", "subject", "ada@example.com", "attributes", json_of(attributes));
	saml_person(&provider, reading->answer, &reading->person, &reading->groups);
}

static void test_names(void **state)
{
	_cleanup_(reading_release) struct reading a = {.groups = NULL}, b = {.groups = NULL}, c = {.groups = NULL};

	(void)state;
	read_person(&a, "{}", "{\"Username\": [\"ada\"], \"email\": [\"ada@work.example\"]}");
	assert_string_equal(a.person.username, "ada");
	assert_string_equal(a.person.email, "ada@work.example");
	assert_false(a.person.email_verified);
	read_person(&b, "{\"email-addresses-verified\": true}", "{\"Username\": [\"\"], \"mail\": [\"no address\"]}");
	assert_null(b.person.username);
	assert_string_equal(b.person.email, "ada@example.com");
	assert_true(b.person.email_verified);
	read_person(&c, "{\"attr-username\": \"\"}", "{\"\": [\"x\"]}");
	assert_null(c.person.username);
}

static void groups_are(const char *settings, const char *attributes, const char *expected)
{
	_cleanup_(reading_release) struct reading reading = {.groups = NULL};
	_cleanup_(freep) char *text = NULL;

	read_person(&reading, settings, attributes);
	text = reading.person.groups ? json_text(reading.person.groups) : mem_text("none");
	assert_string_equal(text, expected);
}

static void test_groups(void **state)
{
	(void)state;
	groups_are("{}", "{\"MemberOf\": [\"a, b,,c \"]}", "[\"a\",\"b\",\"c\"]");
	groups_are("{}", "{\"MemberOf\": [\"CN=a,OU=b\", \"c\"]}", "[\"CN=a,OU=b\",\"c\"]");
	groups_are("{}", "{\"MemberOf\": []}", "[]");
	groups_are("{}", "{}", "[]");
	groups_are("{\"team-management-enabled\": false}", "{\"MemberOf\": [\"a\"]}", "none");
	groups_are("{\"attr-groups\": \"groups\"}", "{\"MemberOf\": [\"a\"], \"groups\": [\"b\"]}", "[\"b\"]");
}

static int site_admin_of(const char *settings, const char *attributes)
{
	_cleanup_(reading_release) struct reading reading = {.groups = NULL};

	read_person(&reading, settings, attributes);
	return reading.person.site_admin;
}

static void test_site_admins(void **state)
{
	static const char unmanaged[] = "{\"team-management-enabled\": false}";

	(void)state;
	assert_int_equal(site_admin_of("{}", "{\"SiteAdmin\": [\"TRUE\"]}"), 1);
	assert_int_equal(site_admin_of("{}", "{\"SiteAdmin\": [\"1\"]}"), 1);
	assert_int_equal(site_admin_of("{}", "{\"SiteAdmin\": [\"yes\"]}"), 0);
	assert_int_equal(site_admin_of("{}", "{\"SiteAdmin\": [\"false\"], \"MemberOf\": [\"site-admins\"]}"), 0);
	assert_int_equal(site_admin_of(unmanaged, "{\"MemberOf\": [\"site-admins\"]}"), 1);
	assert_int_equal(site_admin_of(unmanaged, "{\"MemberOf\": [\"Site-Admins\"]}"), 0);
	assert_int_equal(site_admin_of(unmanaged, "{}"), -1);
	assert_int_equal(site_admin_of("{\"site-admin-role\": \"\"}", "{\"MemberOf\": [\"\"]}"), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_site_admins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
