/* SPDX-License-Identifier: MPL-2.0 */
/* The plan of a job's network: lists, rules, resolvers and pasta's arguments. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "common/err.h"
#include "worker/network/plan.h"

static struct network_endpoint endpoint_of(const char *text)
{
	struct network_endpoint endpoint = {.port = 0};
	struct address_range range;

	assert_int_equal(address_range_parse(text, &range), 0);
	assert_int_equal(range.bits, 128);
	memcpy(endpoint.address, range.address, sizeof(endpoint.address));
	endpoint.port = range.port;
	return endpoint;
}

struct setting {
	const char *allow, *deny, *resolv;
	const char *own[3], *needed[3];
};

static void plan_of(const struct setting *setting, struct network_plan *ret_plan)
{
	struct network_lists lists;
	struct network_facts facts = {.ipv4 = true, .ipv6 = true, .resolv = mem_text(setting->resolv)};
	struct err err = ERR_INIT;

	for (size_t i = 0; i < 3 && setting->own[i]; i++)
		network_facts_add_own(&facts, endpoint_of(setting->own[i]).address);
	for (size_t i = 0; i < 3 && setting->needed[i]; i++) {
		const struct network_endpoint needed = endpoint_of(setting->needed[i]);

		network_facts_add_needed(&facts, needed.address, needed.port);
	}
	assert_int_equal(
		network_lists_parse(text_or_empty(setting->allow), text_or_empty(setting->deny), &lists, &err), 0);
	assert_int_equal(network_plan_make(&lists, &facts, ret_plan, &err), 0);
	network_lists_release(&lists);
	network_facts_release(&facts);
}

static bool allows(const struct network_plan *plan, const char *text)
{
	const struct network_endpoint endpoint = endpoint_of(text);

	return network_plan_reaches(plan, &endpoint);
}

static void test_local_and_metadata_addresses_are_denied_by_default(void **state)
{
	static const char *const denied[] = {"127.0.0.1:80", "127.0.0.2:80", "[::1]:80", "[::ffff:127.0.0.1]:80",
		"169.254.169.254:80", "[::ffff:169.254.169.254]:80", "168.63.129.16:80", "100.100.100.200:80",
		"0.0.0.1:80", "224.0.0.1:80", "239.255.255.250:1900", "255.255.255.255:67", "[fe80::1]:80",
		"[febf::1]:80", "[ff02::1]:80", "[fd00:ec2::254]:80", "[64:ff9b::a9fe:a9fe]:80", "[64:ff9b::7f00:1]:80",
		"[2002:7f00:1::1]:80", "[2002:a9fe:a9fe::1]:80", "198.51.100.7:80", "[2001:db8::7]:80"};
	static const char *const allowed[] = {"1.1.1.1:443", "10.0.0.1:22", "172.16.0.1:443", "192.168.1.1:443",
		"198.51.100.8:80", "169.253.255.255:80", "169.255.0.1:80", "168.63.129.17:80", "[fd00:ec2::253]:80",
		"[2001:db8::8]:443", "[fec0::1]:80", "[2002:808:808::1]:80", "[64:ff9b::808:808]:80"};
	struct network_plan plan;

	(void)state;
	plan_of(&(struct setting){.own = {"198.51.100.7", "2001:db8::7", "127.0.0.1"}}, &plan);
	for (size_t i = 0; i < ARRAY_LEN(denied); i++)
		if (allows(&plan, denied[i]))
			fail_msg("%s is allowed", denied[i]);
	for (size_t i = 0; i < ARRAY_LEN(allowed); i++)
		if (!allows(&plan, allowed[i]))
			fail_msg("%s is denied", allowed[i]);
	assert_int_equal(plan.port_count, 0);
}

static void test_the_longest_prefix_takes_precedence(void **state)
{
	struct network_plan plan;

	(void)state;
	plan_of(&(struct setting){.allow = "10.1.0.0/16, 10.9.9.9:443,169.254.169.254:80,10.7.0.0/24,0.0.0.0/0",
			.deny = "10.0.0.0/8,10.1.2.0/24,10.7.0.0/24,fd00::/8,10.9.9.9"},
		&plan);
	assert_false(allows(&plan, "10.0.0.1:80"));
	assert_true(allows(&plan, "10.1.1.1:80"));
	assert_false(allows(&plan, "10.1.2.1:80"));
	assert_true(allows(&plan, "10.7.0.1:80")); /* equal prefixes: allow takes precedence */
	assert_true(allows(&plan, "10.9.9.9:443"));
	assert_false(allows(&plan, "10.9.9.9:444"));
	assert_true(allows(&plan, "169.254.169.254:80"));
	assert_false(allows(&plan, "169.254.169.254:443"));
	assert_false(allows(&plan, "169.254.1.1:80")); /* longer than 0.0.0.0/0 */
	assert_false(allows(&plan, "[fd12::1]:80"));
}

static void test_needed_addresses_are_always_allowed(void **state)
{
	struct network_plan plan;

	(void)state;
	plan_of(&(struct setting){.deny = "10.0.0.0/8",
			.resolv = "# comment\nnameserver 10.0.0.53\nnameserver 169.254.169.254\nsearch a b\n",
			.own = {"192.168.7.7"},
			.needed = {"192.168.7.7:8080", "127.0.0.1:8081", "[::1]:8081"}},
		&plan);
	assert_true(allows(&plan, "10.0.0.53:53"));
	assert_false(allows(&plan, "10.0.0.53:80"));
	assert_true(allows(&plan, "169.254.169.254:53"));
	assert_false(allows(&plan, "169.254.169.254:80"));
	assert_true(allows(&plan, "192.168.7.7:8080"));
	assert_false(allows(&plan, "192.168.7.7:22"));
	assert_true(allows(&plan, "127.0.0.1:8081"));
	assert_false(allows(&plan, "127.0.0.2:8081"));
	assert_false(allows(&plan, "127.0.0.1:22"));
	assert_int_equal(plan.port_count, 1);
	assert_int_equal(plan.ports[0], 8081);
}

/* A public name may resolve to another address for the next job. The plans must be equal. */
static void test_public_addresses_do_not_change_the_plan(void **state)
{
	struct network_plan first, second;

	(void)state;
	plan_of(&(struct setting){.needed = {"1.2.3.4:443", "[2001:4860::1]:443"}}, &first);
	plan_of(&(struct setting){.needed = {"1.2.3.5:443"}}, &second);
	assert_memory_equal(&first, &second, sizeof(first));
	plan_of(&(struct setting){.own = {"1.2.3.5"}}, &second);
	assert_memory_not_equal(&first, &second, sizeof(first));
}

static void test_invalid_lists_are_refused(void **state)
{
	static const char *const lists[][2] = {{"127.0.0.1", ""}, {"127.0.0.0/8", ""}, {"127.0.0.2:80", ""},
		{"::1", ""}, {"[::1]/64:80", ""}, {"host:80", ""}, {"10.0.0.1:0", ""}, {"10.0.0.1:65536", ""},
		{"10.0.0.0/33", ""}, {"", "10.0.0.0/33"}, {"", "x"}, {"10.0.0.1,,127.0.0.1", ""}};
	struct network_lists parsed;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		struct err err = ERR_INIT;

		assert_int_equal(network_lists_parse(lists[i][0], lists[i][1], &parsed, &err), -1);
		assert_int_equal(err.kind, ERR_INVALID);
		assert_non_null(strstr(err.message, *lists[i][0] ? "--job-network-allow" : "--job-network-deny"));
	}
}

static void test_rules_and_ports_are_limited(void **state)
{
	struct network_facts facts = {.ipv4 = true};
	struct network_lists lists = {.allow = NULL};
	struct network_plan *plan = mem_new(1, sizeof(*plan));
	unsigned char address[16] = {[10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1};
	struct err err = ERR_INIT;

	(void)state;
	for (int port = 1; port <= NETWORK_PORTS_MAX; port++)
		network_facts_add_needed(&facts, address, port);
	assert_int_equal(network_plan_make(&lists, &facts, plan, &err), 0);
	network_facts_add_needed(&facts, address, NETWORK_PORTS_MAX + 1);
	assert_int_equal(network_plan_make(&lists, &facts, plan, &err), -1);
	assert_int_equal(err.kind, ERR_TOO_LARGE);
	network_facts_release(&facts);
	address[12] = 10;
	for (int i = 0; i < HOLDER_RULES_MAX; i++) {
		address[14] = (unsigned char)(i >> 8);
		address[15] = (unsigned char)i;
		network_facts_add_own(&facts, address);
	}
	assert_int_equal(network_plan_make(&lists, &facts, plan, &err), -1);
	assert_int_equal(err.kind, ERR_TOO_LARGE);
	network_facts_release(&facts);
	free(plan);
}

static void test_loopback_nameservers_are_replaced(void **state)
{
	static const char *const cases[][2] = {
		{"", ""},
		{"nameserver 10.0.0.1\n", "nameserver 10.0.0.1\n"},
		{"# x\nnameserver 127.0.0.53\noptions edns0\nsearch a.example\n",
			"# x\nnameserver 192.0.0.3\noptions edns0\nsearch a.example\n"},
		{"nameserver 127.0.0.1\nnameserver 127.0.0.53\nnameserver ::1\n",
			"nameserver 192.0.0.3\nnameserver fd72:756e:7961:7264::3\n"},
		{"nameserver\t127.0.0.53", "nameserver 192.0.0.3\n"},
		{"nameserver fe80::1%eth0\nnameserver 9.9.9.9\r\n", "nameserver 9.9.9.9\r\n"},
		{"nameserver\nnameservers 127.0.0.1\n", "nameserver\nnameservers 127.0.0.1\n"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_cleanup_(buf_release) struct buf out = BUF_INIT(4096);

		assert_int_equal(network_resolv_conf(cases[i][0], &out), 0);
		assert_string_equal(buf_str(&out), cases[i][1]);
	}
}

static char *arguments_of(const struct network_plan *plan)
{
	_cleanup_(texts_release) struct texts args = {.items = NULL};
	struct buf line = BUF_INIT(4096);

	network_plan_arguments(plan, &args);
	for (size_t i = 0; i < args.count; i++)
		buf_printf(&line, " %s", args.items[i]);
	return buf_take(&line);
}

static void test_arguments_of_pasta_follow_the_plan(void **state)
{
	struct network_plan plan;

	(void)state;
	for (int families = 0; families < 4; families++) {
		_cleanup_(freep) char *line = NULL;

		plan_of(&(struct setting){.allow = "127.0.0.1:90,127.0.0.1:80",
				.resolv = families & 1 ? "nameserver 127.0.0.53\n" : "nameserver 9.9.9.9\n"},
			&plan);
		plan.ipv4 = families & 1;
		plan.ipv6 = families & 2;
		line = arguments_of(&plan);
		assert_non_null(strstr(line, " --no-map-gw "));
		assert_non_null(strstr(line, " -t none -u none -U none "));
		assert_non_null(strstr(line, " -T 80,90"));
		assert_true(!strstr(line, " --dns-forward 192.0.0.3") == !(families & 1));
		assert_true(!strstr(line, " -a fd72:") == !(families & 2));
		assert_true(!strstr(line, " -i lo ") == (families != 0));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_local_and_metadata_addresses_are_denied_by_default),
		cmocka_unit_test(test_the_longest_prefix_takes_precedence),
		cmocka_unit_test(test_needed_addresses_are_always_allowed),
		cmocka_unit_test(test_public_addresses_do_not_change_the_plan),
		cmocka_unit_test(test_invalid_lists_are_refused),
		cmocka_unit_test(test_rules_and_ports_are_limited),
		cmocka_unit_test(test_loopback_nameservers_are_replaced),
		cmocka_unit_test(test_arguments_of_pasta_follow_the_plan),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
