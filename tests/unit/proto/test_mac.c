/* SPDX-License-Identifier: MPL-2.0 */
/* The authentication codes of results and stops: fixed vectors, every field, every topic, every token. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/crypto.h"
#include "common/err.h"
#include "proto/mac.h"

/* Hexadecimal SHA-256 of "job.token" and of "job.other". */
static char own_hash[SHA256_HEX_SIZE], other_hash[SHA256_HEX_SIZE];

/* tests/support/mac.py computed these for the same messages. */
static const char result_vector[] = "v1:8553f1c94441c1afcce3037d1af0dfd5b3ea5138c95920346df267ef49fe0533";
static const char bare_vector[] = "v1:a406a75fadf45ad81f2fa5a45ca681b60a85dc42641119c0a728362765ec6755";
static const char stop_vector[] = "v1:8449d5e2935f2f8ab9835d202595c74c9e2e3e5dd1a15717a21f8c747a6ba2d4";

static const struct job_result whole = {
	.job = {"job-AAAAAAAAAAAAAAAA"},
	.run = {"run-BBBBBBBBBBBBBBBB"},
	.attempt = 3,
	.outcome = OUTCOME_ERRORED,
	.has_changes = true,
	.state_owed = true,
	.additions = 1,
	.changes = 2,
	.destructions = 3,
	.imports = 4,
	.terraform_version = "1.11.4",
	.error = "5:it f\xc3\xa4iled,\nat \"once\"",
};
static const struct job_result bare = {
	.job = {"job-AAAAAAAAAAAAAAAA"}, .run = {"run-BBBBBBBBBBBBBBBB"}, .attempt = 1, .outcome = OUTCOME_PASSED};
static const struct job_stop halt = {.job = {"job-AAAAAAAAAAAAAAAA"}, .attempt = 3, .stop = STOP_FORCE};

static struct job_result result_signed(const struct job_result *source)
{
	struct job_result result = *source;

	job_result_sign(&result, own_hash);
	return result;
}

static struct job_stop stop_signed(void)
{
	struct job_stop stop = halt;

	job_stop_sign(&stop, own_hash);
	return stop;
}

static void codes_match_the_fixed_vectors(void **state)
{
	(void)state;
	assert_string_equal(result_signed(&whole).mac, result_vector);
	assert_string_equal(result_signed(&bare).mac, bare_vector);
	assert_string_equal(stop_signed().mac, stop_vector);
}

static void an_encoded_result_verifies(void **state)
{
	const struct job_result *const sources[] = {&whole, &bare};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(sources); i++) {
		struct job_result sent = result_signed(sources[i]), read;
		_cleanup_(freep) char *text = job_result_encode(&sent);
		struct err err = ERR_INIT;

		assert_int_equal(job_result_decode(text, strlen(text), &read, &err), 0);
		assert_true(job_result_verify(&read, own_hash));
		assert_false(job_result_verify(&read, other_hash));
		assert_false(job_result_verify(&read, ""));
		assert_false(job_result_verify(&read, NULL));
	}
}

/* The encoder replaces an error that is not UTF-8. */
static void a_result_with_an_invalid_error_text_verifies(void **state)
{
	struct job_result result = bare, read;
	struct err err = ERR_INIT;

	(void)state;
	for (int byte = 1; byte < 256; byte++) {
		memset(result.error, byte, sizeof(result.error) - 1);
		job_result_sign(&result, own_hash);
		_cleanup_(freep) char *text = job_result_encode(&result);
		assert_int_equal(job_result_decode(text, strlen(text), &read, &err), 0);
		assert_true(job_result_verify(&read, own_hash));
	}
}

/* FIELD, VALUE: changes that a forger makes to a signed result. */
#define RESULT_CHANGES(CHANGE)                                                                                         \
	CHANGE(job.text[4], 'B')                                                                                       \
	CHANGE(run.text[4], 'A')                                                                                       \
	CHANGE(attempt, 4)                                                                                             \
	CHANGE(outcome, OUTCOME_PASSED)                                                                                \
	CHANGE(has_changes, false)                                                                                     \
	CHANGE(state_owed, false)                                                                                      \
	CHANGE(additions, 2)                                                                                           \
	CHANGE(changes, 1)                                                                                             \
	CHANGE(destructions, 4)                                                                                        \
	CHANGE(imports, 3)                                                                                             \
	CHANGE(terraform_version[0], '2')                                                                              \
	CHANGE(error[0], '6')

static void every_field_of_a_result_is_authenticated(void **state)
{
	(void)state;
#define CHANGE(field, value)                                                                                           \
	{                                                                                                              \
		struct job_result forged = result_signed(&whole);                                                      \
		forged.field = value;                                                                                  \
		assert_false(job_result_verify(&forged, own_hash));                                                    \
	}
	RESULT_CHANGES(CHANGE)
#undef CHANGE
}

static void every_field_of_a_stop_is_authenticated(void **state)
{
	struct job_stop job = stop_signed(), attempt = stop_signed(), kind = stop_signed();

	(void)state;
	assert_true(job_stop_verify(&kind, own_hash));
	assert_false(job_stop_verify(&kind, other_hash));
	job.job.text[4] = 'B';
	attempt.attempt = 2;
	kind.stop = STOP_CANCEL;
	assert_false(job_stop_verify(&job, own_hash));
	assert_false(job_stop_verify(&attempt, own_hash));
	assert_false(job_stop_verify(&kind, own_hash));
}

/* Moving a byte from the end of one field to the start of the next changes the code. */
static void fields_are_delimited(void **state)
{
	struct job_result one = bare, other = bare;

	(void)state;
	text_copy(one.terraform_version, sizeof(one.terraform_version), "1.2");
	text_copy(one.error, sizeof(one.error), "3");
	text_copy(other.terraform_version, sizeof(other.terraform_version), "1.");
	text_copy(other.error, sizeof(other.error), "23");
	job_result_sign(&one, own_hash);
	job_result_sign(&other, own_hash);
	assert_string_not_equal(one.mac, other.mac);
}

static void every_digit_of_the_code_is_compared(void **state)
{
	(void)state;
	for (size_t i = 0; i < MAC_SIZE - 1; i++) {
		struct job_result forged = result_signed(&whole);
		struct job_stop stop = stop_signed();

		forged.mac[i] ^= 1;
		stop.mac[i] ^= 1;
		assert_false(job_result_verify(&forged, own_hash));
		assert_false(job_stop_verify(&stop, own_hash));
	}
}

/* Codes of one topic do not verify for the other, or with the hash itself, even over the same bytes. */
static void a_code_is_valid_for_one_topic(void **state)
{
	struct job_stop stop = halt;
	char by_hash[SHA256_HEX_SIZE];

	(void)state;
	crypto_hmac_hex(own_hash, strlen(own_hash), "20:job-AAAAAAAAAAAAAAAA,1:3,5:force,", by_hash);
	snprintf(stop.mac, sizeof(stop.mac), "%s%s", MAC_VERSION, by_hash);
	assert_false(job_stop_verify(&stop, own_hash));
	text_copy(stop.mac, sizeof(stop.mac), result_signed(&whole).mac);
	assert_false(job_stop_verify(&stop, own_hash));
}

static void malformed_codes_are_dropped(void **state)
{
	static const char *const codes[] = {
		"", "v1:", "v2:%s", "%s", "v1:%s0", "v1:%.63s", "v1:%.63sG", "V1:%s", "v1:%.63s\\u0041"};
	const char *digits = result_vector + strlen(MAC_VERSION);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
		char code[128], text[512];
		struct job_result result;
		struct job_stop stop;
		struct err err = ERR_INIT;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(code, sizeof(code), codes[i], digits);
#pragma GCC diagnostic pop
		snprintf(text, sizeof(text),
			"{\"v\":1,\"job\":\"job-AAAAAAAAAAAAAAAA\",\"run\":\"run-BBBBBBBBBBBBBBBB\",\"attempt\":1,"
			"\"outcome\":\"passed\",\"stop\":\"force\",\"mac\":\"%s\"}",
			code);
		assert_int_equal(job_result_decode(text, strlen(text), &result, &err), 0);
		assert_int_equal(job_stop_decode(text, strlen(text), &stop, &err), 0);
		assert_string_equal(result.mac, "");
		assert_string_equal(stop.mac, "");
		assert_false(job_result_verify(&result, own_hash));
		assert_false(job_stop_verify(&stop, own_hash));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(codes_match_the_fixed_vectors),
		cmocka_unit_test(an_encoded_result_verifies),
		cmocka_unit_test(a_result_with_an_invalid_error_text_verifies),
		cmocka_unit_test(every_field_of_a_result_is_authenticated),
		cmocka_unit_test(every_field_of_a_stop_is_authenticated),
		cmocka_unit_test(fields_are_delimited),
		cmocka_unit_test(every_digit_of_the_code_is_compared),
		cmocka_unit_test(a_code_is_valid_for_one_topic),
		cmocka_unit_test(malformed_codes_are_dropped),
	};

	crypto_sha256_hex("job.token", strlen("job.token"), own_hash);
	crypto_sha256_hex("job.other", strlen("job.other"), other_hash);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
