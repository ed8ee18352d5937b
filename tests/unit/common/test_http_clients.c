/* SPDX-License-Identifier: MPL-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include <sys/socket.h>
#include <unistd.h>

#include "common/http/http_clients.h"

enum { MAX_CONNECTIONS = 8, DEADLINE = 1000000 };

/* A connection of which the test holds the other end. */
struct link {
	struct http_client *client;
	int ours, theirs;
};

static struct http_clients *clients;

static int clients_setup(void **state)
{
	(void)state;
	clients = http_clients_new((struct http_clients_limits){.connections = MAX_CONNECTIONS, .per_address = 3});
	return 0;
}

static int clients_teardown(void **state)
{
	(void)state;
	http_clients_free(clients);
	return 0;
}

static struct link link_open(const char *address, int64_t now)
{
	struct link link;
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	link = (struct link){.ours = pair[0], .theirs = pair[1]};
	link.client =
		http_client_open(clients, (struct http_peer){.fd = link.theirs, .address = address}, now, DEADLINE);
	return link;
}

/* True if the server shut it down. */
static bool link_shut(const struct link *link)
{
	char byte;

	return recv(link->ours, &byte, 1, MSG_DONTWAIT) == 0;
}

static void link_close(const struct link *link)
{
	http_client_close(clients, link->client);
	close(link->ours);
	close(link->theirs);
}

static void links_close(const struct link *links, size_t count)
{
	for (size_t i = 0; i < count; i++)
		link_close(&links[i]);
}

static const char *address_of(size_t number)
{
	static const char *const addresses[] = {"10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4", "10.0.0.5"};

	return addresses[number % ARRAY_LEN(addresses)];
}

static void test_connections_per_address_are_limited(void **state)
{
	struct link links[4];

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(http_clients_admit(clients, "2001:db8::1", false, 0), HTTP_ADMITTED);
		links[i] = link_open("2001:db8::1", 0);
	}
	assert_int_equal(http_clients_admit(clients, "2001:db8::1", false, 0), HTTP_ADDRESS_FULL);
	assert_int_equal(http_clients_admit(clients, "2001:db8::ffff:1", false, 0), HTTP_ADDRESS_FULL);
	assert_int_equal(http_clients_admit(clients, "2001:db8:0:1::1", false, 0), HTTP_ADMITTED);
	assert_int_equal(http_clients_admit(clients, "2001:db8::1", true, 0), HTTP_ADMITTED);
	link_close(&links[2]);
	assert_int_equal(http_clients_admit(clients, "2001:db8::1", false, 0), HTTP_ADMITTED);
	links_close(links, 2);
}

static void test_requests_through_a_proxy_count_against_the_limit(void **state)
{
	struct link link = link_open("10.0.0.1", 0);
	struct http_share *shares[2];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(shares); i++) {
		shares[i] = http_share_enter(clients, "10.0.0.1");
		assert_non_null(shares[i]);
	}
	assert_null(http_share_enter(clients, "10.0.0.1"));
	assert_int_equal(http_clients_admit(clients, "10.0.0.1", false, 0), HTTP_ADDRESS_FULL);
	http_share_leave(clients, shares[0]);
	shares[0] = http_share_enter(clients, "10.0.0.1");
	assert_ptr_equal(shares[0], shares[1]);
	link_close(&link);
	for (size_t i = 0; i < ARRAY_LEN(shares); i++)
		http_share_leave(clients, shares[i]);
}

static void test_bytes_per_address_are_limited(void **state)
{
	struct link link = link_open("10.0.0.1", 0);
	struct http_share *share = http_client_share(link.client);

	(void)state;
	assert_true(http_share_take(share, HTTP_BUDGET_LINKS, 60, 100));
	assert_false(http_share_take(share, HTTP_BUDGET_LINKS, 41, 100));
	assert_true(http_share_take(share, HTTP_BUDGET_LINKS, 40, 100));
	assert_true(http_share_take(share, HTTP_BUDGET_SMALL, 100, 100));
	http_share_return(share, HTTP_BUDGET_LINKS, 60);
	assert_true(http_share_take(share, HTTP_BUDGET_LINKS, 60, 100));
	link_close(&link);
}

/* When all connections are in use, idle ones are displaced first, then incomplete headers, and never a body or an
 * answer. */
static void test_idle_connections_are_displaced_first(void **state)
{
	static const struct {
		enum http_phase phases[MAX_CONNECTIONS];
		enum http_phase displaced;
		bool room;
	} rows[] = {
		{{HTTP_HEAD, HTTP_BODY, HTTP_IDLE, HTTP_ANSWER, HTTP_HEAD, HTTP_BODY, HTTP_IDLE, HTTP_ANSWER},
			HTTP_IDLE, true},
		{{HTTP_HEAD, HTTP_BODY, HTTP_BODY, HTTP_ANSWER, HTTP_HEAD, HTTP_BODY, HTTP_BODY, HTTP_ANSWER},
			HTTP_HEAD, true},
		{{HTTP_BODY, HTTP_BODY, HTTP_BODY, HTTP_ANSWER, HTTP_BODY, HTTP_BODY, HTTP_BODY, HTTP_ANSWER},
			HTTP_IDLE, false},
	};

	(void)state;
	for (size_t row = 0; row < ARRAY_LEN(rows); row++) {
		int64_t now = 10000 * ((int64_t)row + 1);
		struct link links[MAX_CONNECTIONS];

		for (size_t i = 0; i < MAX_CONNECTIONS; i++) {
			links[i] = link_open(address_of(i), now);
			http_client_phase(links[i].client, rows[row].phases[i], now, DEADLINE);
		}
		assert_int_equal(http_clients_admit(clients, "10.9.9.9", false, now + 2000),
			rows[row].room ? HTTP_ADMITTED : HTTP_ALL_FULL);
		for (size_t i = 0; i < MAX_CONNECTIONS; i++)
			assert_int_equal(
				link_shut(&links[i]), rows[row].room && rows[row].phases[i] == rows[row].displaced);
		links_close(links, MAX_CONNECTIONS);
	}
}

/* A new header has at least one second. */
static void test_a_new_connection_is_not_displaced_for_one_second(void **state)
{
	struct link links[MAX_CONNECTIONS];

	(void)state;
	for (size_t i = 0; i < MAX_CONNECTIONS; i++)
		links[i] = link_open(address_of(i), 100000);
	assert_int_equal(http_clients_admit(clients, "10.9.9.9", false, 100999), HTTP_ALL_FULL);
	assert_int_equal(http_clients_admit(clients, "10.9.9.9", false, 101200), HTTP_ADMITTED);
	links_close(links, MAX_CONNECTIONS);
}

static void test_connections_are_shut_down_at_their_deadline(void **state)
{
	struct link early = link_open("10.0.0.1", 0), late = link_open("10.0.0.1", 0), never = link_open("10.0.0.1", 0);

	(void)state;
	http_client_phase(early.client, HTTP_HEAD, 0, 1000);
	http_client_phase(late.client, HTTP_BODY, 0, 1000);
	http_client_deadline(late.client, 2000);
	http_client_phase(never.client, HTTP_ANSWER, 0, HTTP_NO_DEADLINE);
	http_clients_expire(clients, 999);
	assert_false(link_shut(&early));
	http_clients_expire(clients, 1000);
	assert_true(link_shut(&early));
	assert_false(link_shut(&late));
	http_clients_expire(clients, INT64_MAX - 1);
	assert_true(link_shut(&late));
	assert_false(link_shut(&never));
	link_close(&early);
	link_close(&late);
	link_close(&never);
}

static void test_ipv6_addresses_are_grouped_by_prefix(void **state)
{
	static const char *const rows[][2] = {
		{"203.0.113.7", "203.0.113.7"},
		{"2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"},
		{"2001:DB8:1:2::9", "2001:db8:1:2::"},
		{"::ffff:203.0.113.7", "203.0.113.7"},
		{"::1", "::"},
		{"invalid", "invalid"},
		{"", ""},
	};
	char key[HTTP_ADDRESS_SIZE];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		http_address_key(rows[i][0], key);
		assert_string_equal(key, rows[i][1]);
	}
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, clients_setup, clients_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_connections_per_address_are_limited),
		TEST(test_requests_through_a_proxy_count_against_the_limit),
		TEST(test_bytes_per_address_are_limited),
		TEST(test_idle_connections_are_displaced_first),
		TEST(test_a_new_connection_is_not_displaced_for_one_second),
		TEST(test_connections_are_shut_down_at_their_deadline),
		TEST(test_ipv6_addresses_are_grouped_by_prefix),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
