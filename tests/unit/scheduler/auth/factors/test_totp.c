/* SPDX-License-Identifier: MPL-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include "scheduler/auth/factors/totp.h"

static const char secret[] = "12345678901234567890"; /* of RFC 6238, appendix B */

/* The last six of the eight digits that the appendix has for SHA-1. */
static void test_codes_are_those_of_rfc_6238(void **state)
{
	static const struct {
		long long seconds;
		unsigned int code;
	} rows[] = {{59, 287082}, {1111111109, 81804}, {1111111111, 50471}, {1234567890, 5924}, {2000000000, 279037},
		{20000000000, 353130}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_int_equal(totp_code(secret, strlen(secret), rows[i].seconds / TOTP_STEP_SECONDS), rows[i].code);
}

/* RFC 4648, section 10. */
static void test_base32_is_that_of_rfc_4648(void **state)
{
	static const struct {
		const char *bytes, *text;
	} rows[] = {{"", ""}, {"f", "MY"}, {"fo", "MZXQ"}, {"foo", "MZXW6"}, {"foob", "MZXW6YQ"}, {"fooba", "MZXW6YTB"},
		{"foobar", "MZXW6YTBOI"}};

	_cleanup_(buf_release) struct buf wrong = BUF_INIT(64);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		_cleanup_(buf_release) struct buf back = BUF_INIT(64);
		_cleanup_(freep) char *text = base32_encode(rows[i].bytes, strlen(rows[i].bytes));

		assert_string_equal(text, rows[i].text);
		assert_int_equal(base32_decode(text, &back), 0);
		assert_string_equal(buf_str(&back), rows[i].bytes);
	}
	assert_int_equal(base32_decode("MZ=1", &wrong), -1);
}

static void test_a_code_is_accepted_once_and_within_one_step(void **state)
{
	_cleanup_(freep) char *text = base32_encode(secret, strlen(secret));
	long long step = 0;

	(void)state;
	assert_true(totp_accepts(text, "287082", 59, 0, &step));
	assert_int_equal(step, 1);
	assert_false(totp_accepts(text, "287082", 59, 1, &step)); /* replayed */
	assert_true(totp_accepts(text, "287 082", 89, 0, &step)); /* a step late */
	assert_true(totp_accepts(text, "287082", 0, 0, &step));   /* a step early */
	assert_false(totp_accepts(text, "287082", 90, 0, &step)); /* two steps late */
	assert_false(totp_accepts(text, "287083", 59, 0, &step));
	assert_false(totp_accepts(text, "28708", 59, 0, &step));
	assert_false(totp_accepts(text, "2870822", 59, 0, &step));
	assert_false(totp_accepts(text, "28708a", 59, 0, &step));
	assert_false(totp_accepts(text, "", 59, 0, &step));
}

static void test_the_address_for_apps_is_escaped(void **state)
{
	_cleanup_(freep) char *uri = totp_uri("MZXW6", "Runyard", "a&b:c");

	(void)state;
	assert_string_equal(
		uri, "otpauth://totp/Runyard:a%26b%3Ac?secret=MZXW6&issuer=Runyard&algorithm=SHA1&digits=6&period=30");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_codes_are_those_of_rfc_6238),
		cmocka_unit_test(test_base32_is_that_of_rfc_4648),
		cmocka_unit_test(test_a_code_is_accepted_once_and_within_one_step),
		cmocka_unit_test(test_the_address_for_apps_is_escaped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
