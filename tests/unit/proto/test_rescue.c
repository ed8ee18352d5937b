/* SPDX-License-Identifier: MPL-2.0 */
/* Rescue objects: what is sealed can be opened by the same attempt, and by nobody else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/crypto.h"
#include "common/err.h"
#include "proto/rescue.h"

#define KEY       "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
#define OTHER_KEY "ff0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"

static const char state[] = "{\"serial\": 3}\n";
static const struct rescue_attempt of = {
	.key = KEY, .job = "job-AAAAAAAAAAAAAAAA", .run = "run-BBBBBBBBBBBBBBBB", .attempt = 2};

static void sealed_make(struct buf *out)
{
	json_auto_t *head = json_pack("{sb}", "final", 1);
	struct err err = ERR_INIT;

	assert_int_equal(rescue_seal(&of, head, text_bytes(state), out, &err), 0);
}

static void test_the_attempt_opens_its_object(void **fixture)
{
	struct buf sealed = BUF_INIT(4096), plain = BUF_INIT(4096);
	struct rescue_content content = {.head = NULL};
	struct err err = ERR_INIT;

	(void)fixture;
	sealed_make(&sealed);
	assert_null(memmem(sealed.data, sealed.len, "serial", 6));
	assert_int_equal(rescue_open(&of, buf_bytes(&sealed), &plain, &content, &err), 0);
	assert_true(json_bool_at(content.head, "final", false));
	assert_int_equal(content.state.len, strlen(state));
	assert_memory_equal(content.state.data, state, strlen(state));
	rescue_content_release(&content);
	buf_release(&sealed);
	buf_release(&plain);
}

static void refused(const struct rescue_attempt *by, const struct buf *sealed, size_t len)
{
	struct buf plain = BUF_INIT(4096);
	struct rescue_content content = {.head = NULL};
	struct err err = ERR_INIT;

	assert_int_equal(rescue_open(by, (struct bytes){sealed->data, len}, &plain, &content, &err), -1);
	assert_int_equal(err.kind, ERR_INVALID);
	assert_null(content.head);
	buf_release(&plain);
}

static void test_others_do_not_open_it(void **fixture)
{
	struct buf sealed = BUF_INIT(4096);
	struct rescue_attempt by = of;

	(void)fixture;
	sealed_make(&sealed);
	by.key = OTHER_KEY;
	refused(&by, &sealed, sealed.len);
	by = of;
	by.attempt = 3;
	refused(&by, &sealed, sealed.len);
	by = of;
	by.job = "job-CCCCCCCCCCCCCCCC";
	refused(&by, &sealed, sealed.len);
	by = of;
	by.run = "run-CCCCCCCCCCCCCCCC";
	refused(&by, &sealed, sealed.len);
	buf_release(&sealed);
}

/* Every truncation and every changed byte. */
static void test_a_changed_object_is_refused(void **fixture)
{
	struct buf sealed = BUF_INIT(4096);

	(void)fixture;
	sealed_make(&sealed);
	for (size_t i = 0; i < sealed.len; i++) {
		refused(&of, &sealed, i);
		sealed.data[i] ^= 1;
		refused(&of, &sealed, sealed.len);
		sealed.data[i] ^= 1;
	}
	buf_release(&sealed);
}

static void test_only_keys_of_64_digits_are_keys(void **fixture)
{
	(void)fixture;
	assert_true(rescue_key_valid(KEY));
	assert_false(rescue_key_valid(""));
	assert_false(rescue_key_valid(KEY "0"));
	assert_false(rescue_key_valid("g00102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_attempt_opens_its_object),
		cmocka_unit_test(test_others_do_not_open_it),
		cmocka_unit_test(test_a_changed_object_is_refused),
		cmocka_unit_test(test_only_keys_of_64_digits_are_keys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
