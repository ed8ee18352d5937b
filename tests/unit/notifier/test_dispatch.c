/* SPDX-License-Identifier: MPL-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include "common/err.h"
#include "common/loop/retry.h"
#include "notifier/deadlines/redis.h"
#include "notifier/delivery/circuit.h"
#include "notifier/delivery/delivery.h"
#include "notifier/delivery/hosts.h"
#include "notifier/delivery/delivery.h"
#include "notifier/table.h"

/* ---- sign ---- */

/* RFC 4231, test cases 2 and 1. */
static void signatures_are_hmac_sha512(void **state)
{
	static const char data[] = "what do ya want for nothing?";
	static const char key[] = "\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b";
	char signature[SHA512_HEX_SIZE];

	(void)state;
	request_sign("Jefe", data, strlen(data), signature);
	assert_string_equal(signature,
		"164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea250554"
		"9758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737");
	request_sign(key, "Hi There", 8, signature);
	assert_string_equal(signature,
		"87aa7cdea5ef619d4ff0b4241a1d6cb02379f4e2ce4ec2787ad0b30545e17cde"
		"daa833b7d6b8a702038b274eaea3f4e4be9d914eeb61f1702e696c203a126854");
}

static void the_signature_is_empty_without_a_key(void **state)
{
	char signature[SHA512_HEX_SIZE] = "x";

	(void)state;
	request_sign(NULL, "{}", 2, signature);
	assert_string_equal(signature, "");
	request_sign("", "{}", 2, signature);
	assert_string_equal(signature, "");
}

/* ---- retry ---- */

static void waits_double_up_to_a_limit(void **state)
{
	const struct retry retry = {.first_ms = 1000, .max_ms = 8000, .max_asked_ms = 20000};
	static const int64_t middle[] = {1000, 2000, 4000, 8000, 8000, 8000};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(middle); i++) {
		assert_int_equal(retry_wait(&retry, (int)i + 1, 0, 0), middle[i] * 3 / 4);
		assert_in_range(retry_wait(&retry, (int)i + 1, 0, 1023), middle[i], middle[i] * 5 / 4);
	}
	assert_int_equal(retry_wait(&retry, 1000000, 0, 512), 8000);
}

static void retry_after_is_a_lower_bound_up_to_a_limit(void **state)
{
	const struct retry retry = {.first_ms = 1000, .max_ms = 8000, .max_asked_ms = 20000};

	(void)state;
	assert_in_range(retry_wait(&retry, 1, 5, 100), 5000, 6000);
	assert_in_range(retry_wait(&retry, 1, 100000, 100), 20000, 21000);
	assert_in_range(retry_wait(&retry, 1, INT32_MAX, 1023), 20000, 21000);
	assert_int_equal(retry_wait(&retry, 1, -5, 512), retry_wait(&retry, 1, 0, 512));
	/* A Retry-After below the regular wait has no effect. */
	assert_int_equal(retry_wait(&retry, 4, 1, 512), 8000);
}

static void no_retry_is_later_than_the_give_up_time(void **state)
{
	(void)state;
	assert_int_equal(retry_at(retry_wait(&retry_service, 1, 0, 512), 1000, 100000), 2000);
	assert_int_equal(retry_at(retry_wait(&retry_service, 20, 0, 512), 1000, 5000), 5000);
	assert_int_equal(retry_at(retry_wait(&retry_service, 1, 0, 512), 1000, 1100), -1);
	assert_int_equal(retry_at(retry_wait(&retry_service, 1, 0, 512), 1000, 500), -1);
}

/* ---- circuit ---- */

static void add_failures(struct circuit *circuit, int times, int64_t now)
{
	for (int i = 0; i < times; i++)
		circuit_result(circuit, false, now, 512);
}

static void consecutive_failures_open_the_circuit(void **state)
{
	struct circuit circuit = {0};

	(void)state;
	add_failures(&circuit, 4, 0);
	assert_true(circuit_take(&circuit, 0));
	circuit_result(&circuit, true, 0, 512);
	add_failures(&circuit, 4, 0);
	assert_true(circuit_take(&circuit, 0));
	assert_true(circuit_result(&circuit, false, 0, 512));
	assert_false(circuit_take(&circuit, 0));
	assert_int_equal(circuit_wait(&circuit, 0), 5000);
	/* Requests that were in flight do not extend the open time. */
	add_failures(&circuit, 100, 10);
	assert_int_equal(circuit_wait(&circuit, 0), 5000);
}

static void one_probe_closes_or_reopens_the_circuit(void **state)
{
	struct circuit circuit = {0};

	(void)state;
	add_failures(&circuit, 5, 0);
	assert_true(circuit_take(&circuit, 5000));
	assert_false(circuit_take(&circuit, 5000));
	assert_int_equal(circuit.state, CIRCUIT_PROBING);
	assert_true(circuit_result(&circuit, false, 5000, 512));
	assert_int_equal(circuit_wait(&circuit, 5000), 10000);
	assert_true(circuit_take(&circuit, 15000));
	circuit_result(&circuit, true, 15000, 512);
	assert_int_equal(circuit_wait(&circuit, 15000), 0);
	assert_true(circuit_take(&circuit, 15000));
}

static void another_probe_follows_an_aborted_one(void **state)
{
	struct circuit circuit = {0};

	(void)state;
	add_failures(&circuit, 5, 0);
	assert_true(circuit_take(&circuit, 6000));
	circuit_aborted(&circuit, 6000);
	assert_true(circuit_take(&circuit, 6000));
}

/* ---- table ---- */

static void a_table_finds_exactly_its_entries(void **state)
{
	static struct {
		struct table_entry entry;
		char key[16];
	} items[2000];
	struct table table = {0};

	(void)state;
	assert_null(table_find(&table, "0"));
	for (size_t i = 0; i < ARRAY_LEN(items); i++) {
		snprintf(items[i].key, sizeof(items[i].key), "%zu", i);
		table_add(&table, &items[i].entry, items[i].key);
	}
	for (size_t i = 0; i < ARRAY_LEN(items); i += 2)
		table_remove(&table, &items[i].entry);
	table_remove(&table, &items[0].entry);
	assert_int_equal(table.count, ARRAY_LEN(items) / 2);
	for (size_t i = 0; i < ARRAY_LEN(items); i++)
		assert_ptr_equal(table_find(&table, items[i].key), i % 2 ? &items[i].entry : NULL);
	table_release(&table);
}

/* ---- hosts ---- */

struct test_delivery {
	struct delivery delivery;
	char name[8];
};

static void hosts_take_turns_within_their_limits(void **state)
{
	struct test_delivery deliveries[40] = {{.name = ""}};
	struct hosts hosts;
	size_t first = 0, second = 0;
	struct delivery *delivery;

	(void)state;
	hosts_init(&hosts, 100, 6);
	for (size_t i = 0; i < ARRAY_LEN(deliveries); i++) {
		hosts_assign(&hosts, &deliveries[i].delivery,
			i < 30 ? "https://u:p@One.example/a?b" : "https://two.example:8443", 1);
		hosts_queue(&hosts, &deliveries[i].delivery);
	}
	assert_string_equal(deliveries[0].delivery.host->origin, "https://one.example");
	assert_int_equal(hosts.behind, 30 - 6 + 10 - 6);
	hosts_unqueue(&hosts, &deliveries[39].delivery);
	assert_int_equal(hosts.behind, 30 - 6 + 9 - 6);
	hosts_queue(&hosts, &deliveries[39].delivery);
	/* No connection was opened yet: few at a time, and hosts take turns. */
	while ((delivery = hosts_next(&hosts)))
		*(delivery->host == deliveries[0].delivery.host ? &first : &second) += 1;
	assert_int_equal(first, 4);
	assert_int_equal(second, 4);
	assert_int_equal(hosts.behind, 26 - 6);
	for (size_t i = 0; i < 4; i++)
		hosts_opened(&hosts, deliveries[0].delivery.host);
	while ((delivery = hosts_next(&hosts)))
		first += delivery->host == deliveries[0].delivery.host;
	assert_int_equal(first, 6);
	hosts_sent(&hosts, deliveries[0].delivery.host, false);
	assert_non_null(hosts_next(&hosts));
	assert_null(hosts_next(&hosts));
	for (size_t i = 0; i < ARRAY_LEN(deliveries); i++)
		hosts_leave(&hosts, &deliveries[i].delivery, 1);
	hosts_release(&hosts);
}

/* ---- claims ---- */

static void a_claimed_request_is_parsed(void **state)
{
	json_auto_t *claimed = json_pack("{ss si ss ss ss si}", "id", "taskrs-aaaaaaaaaaaaaaaa", "attempt", 3, "url",
		"https://x/", "hmac-key", "Jefe", "body", "{\"access_token\":\"abcdefghijk\"}", "give-up-in-ms", 500);
	struct delivery *delivery = delivery_new(claimed, 1000);

	(void)state;
	assert_non_null(delivery);
	assert_int_equal(delivery->attempt, 3);
	assert_int_equal(delivery->give_up_ms, 1500);
	assert_string_equal(delivery->secret, "abcdefghijk");
	assert_int_equal(strlen(delivery->signature), 128);
	delivery_free(delivery);
	json_object_set_new(claimed, "id", json_string("run-aaaaaaaaaaaaaaaa"));
	assert_null(delivery_new(claimed, 0));
}

/* ---- Redis' address ---- */

static void redis_urls_are_parsed(void **state)
{
	struct redis redis;
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(redis_parse("redis://u%40x:p%2Fw@[::1]:7000/3", &redis, &err), 0);
	assert_string_equal(redis.addresses[0].host, "::1");
	assert_int_equal(redis.addresses[0].port, 7000);
	assert_string_equal(redis.user, "u@x");
	assert_string_equal(redis.password, "p/w");
	assert_int_equal(redis.database, 3);
	redis_release(&redis);
	assert_int_equal(redis_parse("redis://:pw@cache", &redis, &err), 0);
	assert_string_equal(redis.addresses[0].host, "cache");
	assert_int_equal(redis.addresses[0].port, 6379);
	assert_null(redis.user);
	assert_string_equal(redis.password, "pw");
	redis_release(&redis);
	assert_int_equal(redis_parse("unix:/run/redis.sock", &redis, &err), 0);
	assert_string_equal(redis.path, "/run/redis.sock");
	redis_release(&redis);
	assert_int_equal(redis_parse("redis+sentinel://:pw@one:1,[::1],three/cache/2", &redis, &err), 0);
	assert_int_equal(redis.count, 3);
	assert_int_equal(redis.addresses[0].port, 1);
	assert_string_equal(redis.addresses[1].host, "::1");
	assert_int_equal(redis.addresses[2].port, 26379);
	assert_string_equal(redis.master, "cache");
	assert_string_equal(redis.password, "pw");
	assert_int_equal(redis.database, 2);
	redis_release(&redis);
	assert_int_equal(redis_parse("redis+sentinel://one,two", &redis, &err), -1);
	assert_int_equal(redis_parse("redis+sentinel://one,,two/cache", &redis, &err), -1);
	assert_int_equal(redis_parse("redis+sentinel://1,2,3,4,5,6,7,8,9,10/cache", &redis, &err), -1);
	assert_int_equal(redis_parse("redis://one,two/1", &redis, &err), -1);
	assert_int_equal(redis_parse("redis://:secret@h:0/1", &redis, &err), -1);
	assert_null(strstr(err.message, "secret"));
	assert_int_equal(redis_parse("rediss://h/1", &redis, &err), -1);
	assert_int_equal(redis_parse("redis://h/x", &redis, &err), -1);
	assert_int_equal(redis_parse("redis://", &redis, &err), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(signatures_are_hmac_sha512),
		cmocka_unit_test(the_signature_is_empty_without_a_key),
		cmocka_unit_test(waits_double_up_to_a_limit),
		cmocka_unit_test(retry_after_is_a_lower_bound_up_to_a_limit),
		cmocka_unit_test(no_retry_is_later_than_the_give_up_time),
		cmocka_unit_test(consecutive_failures_open_the_circuit),
		cmocka_unit_test(one_probe_closes_or_reopens_the_circuit),
		cmocka_unit_test(another_probe_follows_an_aborted_one),
		cmocka_unit_test(a_table_finds_exactly_its_entries),
		cmocka_unit_test(hosts_take_turns_within_their_limits),
		cmocka_unit_test(a_claimed_request_is_parsed),
		cmocka_unit_test(redis_urls_are_parsed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
