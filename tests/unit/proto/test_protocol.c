/* SPDX-License-Identifier: MPL-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "common/err.h"
#include "proto/protocol.h"

static int agree(const char *text, struct err *err)
{
	json_auto_t *versions = text ? json_loads(text, 0, NULL) : NULL;
	int version = -1;

	return protocol_agree(versions, "worker", &version, err) < 0 ? -1 : version;
}

static void the_newest_common_version_counts(void **state)
{
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(agree(NULL, &err), 1);
	assert_int_equal(agree("[1]", &err), 1);
	assert_int_equal(agree("[2, 1]", &err), 2);
	assert_int_equal(agree("[2, 3]", &err), 2);
}

static void who_is_too_old_is_said(void **state)
{
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(agree("[3, 4]", &err), -1);
	assert_int_equal(err.kind, ERR_UPGRADE);
	assert_non_null(strstr(err.message, "this worker is too new"));
	assert_int_equal(agree("[]", &err), -1);
	assert_int_equal(err.kind, ERR_UPGRADE);
	assert_non_null(strstr(err.message, "this worker is too old"));
}

static void other_documents_are_refused(void **state)
{
	static const char *const wrong[] = {"{}", "[\"1\"]", "[0]", "[-1]", "[10001]", "[1.5]", "[null]", "[[1]]",
		"[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		struct err err = ERR_INIT;

		assert_int_equal(agree(wrong[i], &err), -1);
		assert_int_equal(err.kind, ERR_INVALID);
	}
}

static void a_refusal_is_read_from_the_errors(void **state)
{
	static const char body[] = "{\"errors\":[{\"status\":\"426\",\"detail\":\"install a newer one\"}]}";
	char reason[PROTOCOL_REFUSAL_SIZE] = "x";

	(void)state;
	protocol_refusal(body, strlen(body), reason);
	assert_string_equal(reason, "install a newer one");
	protocol_refusal("<html>", 6, reason);
	assert_string_equal(reason, "");
	protocol_refusal("{\"errors\":7}", 12, reason);
	assert_string_equal(reason, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_newest_common_version_counts),
		cmocka_unit_test(who_is_too_old_is_said),
		cmocka_unit_test(other_documents_are_refused),
		cmocka_unit_test(a_refusal_is_read_from_the_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
