/* SPDX-License-Identifier: MPL-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include "scheduler/auth/buckets.h"

enum { REQUESTS = 1000, NEW_KEYS = 200000 };

static void bucket_empty(struct buckets *buckets, enum limit limit, const char *key, double now)
{
	while (bucket_take(buckets, limit, key, now).taken)
		;
}

/* After a bucket is empty, the next token comes at the bucket's own rate. */
static void test_each_limit_has_its_own_rate(void **state)
{
	static const struct {
		enum limit limit;
		double seconds; /* until the next token */
	} rows[] = {
		{LIMIT_TOKENS, 1.0 / REQUESTS},
		{LIMIT_ADDRESSES, 1.0 / REQUESTS},
		{LIMIT_REFUSALS, 60},
		{LIMIT_SIGN_IN_ADDRESS, 2},
		{LIMIT_SIGN_IN_PAIR, 30},
		{LIMIT_SIGN_IN_NAME, 6},
		{LIMIT_PASSWORD_CHANGE, 30},
		{LIMIT_SIGN_IN_BEGIN, 1.0 / 5},
		{LIMIT_RESET_ADDRESS, 60},
		{LIMIT_RESET_NAME, 600},
		{LIMIT_HOOKS, 1.0 / 50},
		{LIMIT_HOOK_FAILURES, 0.5},
	};
	struct buckets *buckets = buckets_new(REQUESTS);

	(void)state;
	assert_int_equal(ARRAY_LEN(rows), LIMITS);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct bucket_level level;

		bucket_empty(buckets, rows[i].limit, "one", 100);
		level = bucket_take(buckets, rows[i].limit, "one", 100 + rows[i].seconds * 0.99);
		assert_false(level.taken);
		assert_true(level.wait > 0 && level.wait < rows[i].seconds * 0.02);
		assert_true(bucket_take(buckets, rows[i].limit, "one", 100 + rows[i].seconds * 1.01).taken);
		assert_true(bucket_take(buckets, rows[i].limit, "other", 100).taken);
	}
	buckets_free(buckets);
}

/* A key of one limit evicts no bucket of another limit. A rarely used key evicts no bucket of a frequently used one. */
static void test_new_keys_do_not_evict_other_buckets(void **state)
{
	struct buckets *buckets = buckets_new(REQUESTS);
	char key[32];

	(void)state;
	for (enum limit limit = 0; limit < LIMITS; limit++)
		bucket_empty(buckets, limit, "victim", 0);
	for (int i = 0; i < NEW_KEYS; i++) {
		snprintf(key, sizeof(key), "key-%d", i);
		bucket_take(buckets, LIMIT_ADDRESSES, key, 0);
		bucket_take(buckets, LIMIT_SIGN_IN_NAME, key, 0);
		bucket_take(buckets, LIMIT_SIGN_IN_PAIR, key, 0);
	}
	for (enum limit limit = 0; limit < LIMITS; limit++)
		assert_false(bucket_take(buckets, limit, "victim", 0).taken);
	buckets_free(buckets);
}

static void test_an_unknown_key_gets_no_bucket(void **state)
{
	struct buckets *buckets = buckets_new(REQUESTS);
	struct bucket_level level = {.left = -1};

	(void)state;
	assert_false(bucket_take_known(buckets, LIMIT_TOKENS, "token", 0, &level));
	assert_false(bucket_take_known(buckets, LIMIT_TOKENS, "token", 0, &level));
	assert_true(level.left < 0);
	bucket_return(buckets, LIMIT_TOKENS, "token", 0);
	assert_false(bucket_take_known(buckets, LIMIT_TOKENS, "token", 0, &level));
	assert_true(bucket_take(buckets, LIMIT_TOKENS, "token", 0).taken);
	assert_true(bucket_take_known(buckets, LIMIT_TOKENS, "token", 0, &level) && level.taken);
	assert_true(level.left == 2 * REQUESTS - 2);
	buckets_free(buckets);
}

static void test_a_look_takes_nothing(void **state)
{
	struct buckets *buckets = buckets_new(REQUESTS);

	(void)state;
	assert_true(bucket_look(buckets, LIMIT_SIGN_IN_PAIR, "pair", 0).left == 10);
	bucket_take(buckets, LIMIT_SIGN_IN_PAIR, "pair", 0);
	assert_true(bucket_look(buckets, LIMIT_SIGN_IN_PAIR, "pair", 0).left == 9);
	assert_true(bucket_look(buckets, LIMIT_SIGN_IN_PAIR, "pair", 0).left == 9);
	bucket_empty(buckets, LIMIT_SIGN_IN_PAIR, "pair", 0);
	assert_true(bucket_look(buckets, LIMIT_SIGN_IN_PAIR, "pair", 0).left < 1);
	assert_true(bucket_look(buckets, LIMIT_SIGN_IN_PAIR, "pair", 0).wait == 30);
	assert_true(bucket_look(buckets, LIMIT_SIGN_IN_PAIR, "pair", 30).left >= 1);
	buckets_free(buckets);
}

static void test_a_returned_token_can_be_taken_again(void **state)
{
	struct buckets *buckets = buckets_new(REQUESTS);

	(void)state;
	bucket_empty(buckets, LIMIT_SIGN_IN_PAIR, "pair", 0);
	bucket_return(buckets, LIMIT_SIGN_IN_PAIR, "pair", 0);
	assert_true(bucket_take(buckets, LIMIT_SIGN_IN_PAIR, "pair", 0).taken);
	assert_false(bucket_take(buckets, LIMIT_SIGN_IN_PAIR, "pair", 0).taken);
	buckets_free(buckets);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_limit_has_its_own_rate),
		cmocka_unit_test(test_new_keys_do_not_evict_other_buckets),
		cmocka_unit_test(test_an_unknown_key_gets_no_bucket),
		cmocka_unit_test(test_a_look_takes_nothing),
		cmocka_unit_test(test_a_returned_token_can_be_taken_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
