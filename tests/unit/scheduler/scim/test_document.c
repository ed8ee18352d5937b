/* SPDX-License-Identifier: MPL-2.0 */
/* Changes of a user's document by an identity provider. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "scheduler/scim/document.h"

/* ---- elements of lists ---- */

static const struct {
	const char *before, *operations, *after;
} changes[] = {
	/* An element with the value and the type of another one replaces it, also without a type. */
	{"[{\"value\":\"a@b\",\"type\":\"work\"}]",
		"[{\"op\":\"add\",\"path\":\"emails\",\"value\":[{\"value\":\"a@b\",\"type\":\"work\",\"primary\":true}"
		"]}]",
		"[{\"value\":\"a@b\",\"type\":\"work\",\"primary\":true}]"},
	{"[{\"value\":\"a@b\"}]", "[{\"op\":\"add\",\"path\":\"emails\",\"value\":\"a@b\"}]", "[{\"value\":\"a@b\"}]"},
	{"[{\"value\":\"a@b\",\"type\":\"work\"}]",
		"[{\"op\":\"add\",\"path\":\"emails\",\"value\":[{\"value\":\"a@b\",\"type\":\"home\"}]}]",
		"[{\"value\":\"a@b\",\"type\":\"work\"},{\"value\":\"a@b\",\"type\":\"home\"}]"},
	/* A change that makes two elements the same leaves one. */
	{"[{\"value\":\"a@b\",\"type\":\"work\"},{\"value\":\"c@d\",\"type\":\"work\"}]",
		"[{\"op\":\"replace\",\"path\":\"emails[value eq \\\"a@b\\\"].value\",\"value\":\"c@d\"}]",
		"[{\"value\":\"c@d\",\"type\":\"work\"}]"},
	{"[{\"value\":\"a@b\"},{\"value\":\"c@d\"}]",
		"[{\"op\":\"replace\",\"path\":\"emails.value\",\"value\":\"e@f\"}]", "[{\"value\":\"e@f\"}]"},
};

static json_t *user(const char *emails)
{
	return json_pack("{ss so}", "userName", "a", "emails", json_loads(emails, 0, NULL));
}

static void elements_stay_different(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(changes); i++) {
		json_auto_t *document = user(changes[i].before), *after = user(changes[i].after);
		json_auto_t *operations = json_loads(changes[i].operations, 0, NULL);
		struct err err = ERR_INIT;

		assert_int_equal(scim_document_patch(document, operations, &err), 0);
		if (!json_equal(document, after))
			fail_msg("%zu: %s", i, json_dumps(document, 0));
	}
}

static void lists_are_bounded(void **state)
{
	json_auto_t *document = user("[]");
	struct err err = ERR_INIT;

	(void)state;
	for (int i = 0; i <= SCIM_MAX_VALUES; i++) {
		char path[64];
		json_auto_t *operations = NULL;

		snprintf(path, sizeof(path), "emails[type eq \"%d\"].value", i);
		operations = json_pack("[{ss ss ss}]", "op", "add", "path", path, "value", "a@b");
		assert_int_equal(scim_document_patch(document, operations, &err), i < SCIM_MAX_VALUES ? 0 : -1);
	}
	assert_string_equal(err.title, "invalidValue");
	assert_int_equal(json_array_size(json_object_get(document, "emails")), SCIM_MAX_VALUES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(elements_stay_different),
		cmocka_unit_test(lists_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
