/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/network/plan.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"

/* A job's own addresses. 192.0.0.0/29 is reserved for such translation (RFC 7335) and not routed anywhere. The IPv6
 * addresses are in a unique local prefix of our own. */
#define OWN4      "192.0.0.2"
#define GATEWAY4  "192.0.0.1"
#define RESOLVER4 "192.0.0.3"
#define OWN6      "fd72:756e:7961:7264::2"
#define GATEWAY6  "fd72:756e:7961:7264::1"
#define RESOLVER6 "fd72:756e:7961:7264::3"

enum { RESOLVER_PORT = 53 };

static const char loopback4[] = "127.0.0.0/8", loopback6[] = "::1";

/* Metadata services that are not link-local have their own rows. The last four are loopback and link-local IPv4
 * addresses in NAT64 and 6to4 form. */
static const char *const denied[] = {
	"0.0.0.0/8",
	"169.254.0.0/16",
	"168.63.129.16",
	"100.100.100.200",
	"224.0.0.0/4",
	"255.255.255.255",
	"fe80::/10",
	"ff00::/8",
	"fd00:ec2::254",
	"fd20:ce::254",
	"64:ff9b::127.0.0.0/104",
	"64:ff9b::169.254.0.0/112",
	"2002:7f00::/24",
	"2002:a9fe::/32",
};

static struct address_range range_of(const char *text)
{
	struct address_range range;

	if (address_range_parse(text, &range) < 0)
		abort(); /* a constant of this file is wrong */
	return range;
}

/* ---- the operator's lists ---- */

static bool is_loopback(const unsigned char address[16])
{
	const struct address_range four = range_of(loopback4), six = range_of(loopback6);

	return address_range_has(&four, address, 0) || address_range_has(&six, address, 0);
}

/* pasta forwards only to these two. */
static bool is_forwarded(const unsigned char address[16])
{
	const struct address_range four = range_of("127.0.0.1"), six = range_of(loopback6);

	return address_range_has(&four, address, 0) || address_range_has(&six, address, 0);
}

static int allow_check(const struct address_range *range, const char *entry, struct err *err)
{
	if (!is_loopback(range->address) || (is_forwarded(range->address) && range->bits == 128 && range->port))
		return 0;
	return err_set(err, ERR_INVALID,
		"--job-network-allow: %s can't be allowed: name 127.0.0.1:PORT or [::1]:PORT of the loopback", entry);
}

static int list_parse(
	const char *option, const char *list, struct address_range **ret_ranges, size_t *ret_count, struct err *err)
{
	_cleanup_(freep) char *copy = mem_text(list);
	char *rest = copy, *entry;

	while ((entry = strsep(&rest, ", "))) {
		struct address_range range;

		if (!*entry)
			continue;
		if (address_range_parse(entry, &range) < 0)
			return err_set(err, ERR_INVALID,
				"--%s: '%s' is no ADDRESS[/PREFIX][:PORT] (with a port, IPv6 stands in brackets)",
				option, entry);
		if (text_equal(option, "job-network-allow") && allow_check(&range, entry, err) < 0)
			return -1;
		*ret_ranges = mem_resize(*ret_ranges, *ret_count + 1, sizeof(range));
		(*ret_ranges)[(*ret_count)++] = range;
	}
	return 0;
}

int network_lists_parse(const char *allow, const char *deny, struct network_lists *ret_lists, struct err *err)
{
	struct network_lists lists = {.allow = NULL};

	if (list_parse("job-network-allow", allow, &lists.allow, &lists.allow_count, err) < 0 ||
		list_parse("job-network-deny", deny, &lists.deny, &lists.deny_count, err) < 0) {
		network_lists_release(&lists);
		return -1;
	}
	*ret_lists = lists;
	return 0;
}

void network_lists_release(struct network_lists *lists)
{
	free(lists->allow);
	free(lists->deny);
	*lists = (struct network_lists){.allow = NULL};
}

/* ---- facts ---- */

void network_facts_release(struct network_facts *facts)
{
	free(facts->own);
	free(facts->needed);
	free(facts->resolv);
	*facts = (struct network_facts){.own = NULL};
}

static void endpoint_add(struct network_endpoint **endpoints, size_t *count, const unsigned char address[16], int port)
{
	*endpoints = mem_resize(*endpoints, *count + 1, sizeof(**endpoints));
	memcpy((*endpoints)[*count].address, address, 16);
	(*endpoints)[(*count)++].port = port;
}

void network_facts_add_own(struct network_facts *facts, const unsigned char address[16])
{
	if (!is_loopback(address))
		endpoint_add(&facts->own, &facts->own_count, address, 0);
}

void network_facts_add_needed(struct network_facts *facts, const unsigned char address[16], int port)
{
	endpoint_add(&facts->needed, &facts->needed_count, address, port);
}

/* ---- resolvers ---- */

/* "nameserver ADDRESS", with the address as text of at most `size` bytes. */
static bool nameserver_read(const char *line, size_t len, char *ret_address, size_t size)
{
	static const char word[] = "nameserver";
	size_t at = sizeof(word) - 1, end;

	if (len <= at || memcmp(line, word, at) != 0 || !strchr(" \t", line[at]))
		return false;
	while (at < len && strchr(" \t", line[at]))
		at++;
	for (end = at; end < len && !strchr(" \t\r", line[end]); end++)
		;
	if (end == at || end - at >= size)
		return false;
	memcpy(ret_address, line + at, end - at);
	ret_address[end - at] = '\0';
	return true;
}

int network_resolv_conf(const char *text, struct buf *out)
{
	bool forwarded[2] = {false, false};

	while (*text) {
		size_t len = strcspn(text, "\n");
		char address[INET6_ADDRSTRLEN + 32];
		struct address_range range;
		bool named = nameserver_read(text, len, address, sizeof(address));
		bool loopback = named && address_range_parse(address, &range) == 0 && is_loopback(range.address);
		bool six = loopback && text_equal(address, loopback6);

		if (loopback && !forwarded[six]) {
			forwarded[six] = true;
			if (buf_printf(out, "nameserver %s\n", six ? RESOLVER6 : RESOLVER4) < 0)
				return -1;
		} else if (!loopback && !(named && strchr(address, '%'))) {
			if (buf_append(out, text, len) < 0 || buf_text(out, "\n") < 0)
				return -1;
		}
		text += len + (text[len] == '\n');
	}
	return 0;
}

/* ---- rules ---- */

static int rule_add(struct network_plan *plan, const struct address_range *range, bool allow, struct err *err)
{
	struct holder_request *request = &plan->request;
	struct holder_rule *rule = &request->rules[request->count];

	if (request->count == HOLDER_RULES_MAX)
		return err_set(err, ERR_TOO_LARGE,
			"a job's network can have %d rules: shorten --job-network-allow or --job-network-deny",
			HOLDER_RULES_MAX);
	memcpy(rule->address, range->address, sizeof(rule->address));
	rule->bits = (uint8_t)range->bits;
	rule->port = (uint16_t)range->port;
	rule->allow = allow;
	request->count++;
	return 0;
}

static int port_add(struct network_plan *plan, int port, struct err *err)
{
	uint32_t at = 0;

	while (at < plan->port_count && plan->ports[at] < port)
		at++;
	if (at < plan->port_count && plan->ports[at] == port)
		return 0;
	if (plan->port_count == NETWORK_PORTS_MAX)
		return err_set(err, ERR_TOO_LARGE, "a job's network can have %d ports of the loopback: allow fewer",
			NETWORK_PORTS_MAX);
	memmove(plan->ports + at + 1, plan->ports + at, (plan->port_count - at) * sizeof(*plan->ports));
	plan->ports[at] = (uint16_t)port;
	plan->port_count++;
	return 0;
}

static int allow_add(struct network_plan *plan, const struct address_range *range, struct err *err)
{
	if (is_loopback(range->address))
		return is_forwarded(range->address) ? port_add(plan, range->port, err) : 0;
	return rule_add(plan, range, true, err);
}

/* Orders by longer prefix, then by port, then allow before deny. The remaining keys make the order deterministic. */
static int rule_compare(const void *left, const void *right)
{
	const struct holder_rule *a = left, *b = right;

	if (a->bits != b->bits)
		return b->bits - a->bits;
	if (!a->port != !b->port)
		return a->port ? -1 : 1;
	if (a->allow != b->allow)
		return a->allow ? -1 : 1;
	if (a->port != b->port)
		return a->port - b->port;
	return memcmp(a->address, b->address, sizeof(a->address));
}

static bool rule_fits(const struct holder_rule *rule, const struct network_endpoint *endpoint)
{
	struct address_range range = {.bits = rule->bits, .port = rule->port};

	memcpy(range.address, rule->address, sizeof(range.address));
	return address_range_has(&range, endpoint->address, endpoint->port);
}

bool network_plan_reaches(const struct network_plan *plan, const struct network_endpoint *endpoint)
{
	for (uint32_t i = 0; is_forwarded(endpoint->address) && i < plan->port_count; i++)
		if (plan->ports[i] == endpoint->port)
			return true;
	if (is_loopback(endpoint->address))
		return false;
	for (uint32_t i = 0; i < plan->request.count; i++)
		if (rule_fits(&plan->request.rules[i], endpoint))
			return plan->request.rules[i].allow;
	return true;
}

static void rules_sort(struct network_plan *plan)
{
	qsort(plan->request.rules, plan->request.count, sizeof(*plan->request.rules), rule_compare);
}

/* ---- the plan ---- */

static int lists_add(struct network_plan *plan, const struct network_lists *lists, struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(denied); i++) {
		const struct address_range range = range_of(denied[i]);

		if (rule_add(plan, &range, false, err) < 0)
			return -1;
	}
	for (size_t i = 0; i < lists->deny_count; i++)
		if (rule_add(plan, &lists->deny[i], false, err) < 0)
			return -1;
	for (size_t i = 0; i < lists->allow_count; i++)
		if (allow_add(plan, &lists->allow[i], err) < 0)
			return -1;
	return 0;
}

static struct address_range range_at(const struct network_endpoint *endpoint)
{
	struct address_range range = {.bits = 128, .port = endpoint->port};

	memcpy(range.address, endpoint->address, sizeof(range.address));
	return range;
}

/* Adds a rule only if the endpoint is denied. So a public name whose addresses change leaves the plan unchanged. */
static int need(struct network_plan *plan, const struct network_endpoint *endpoint, struct err *err)
{
	const struct address_range range = range_at(endpoint);

	return network_plan_reaches(plan, endpoint) ? 0 : allow_add(plan, &range, err);
}

/* Adds the resolvers of resolv.conf. */
static int resolvers_add(struct network_plan *plan, const char *text, struct err *err)
{
	for (; text && *text; text += strcspn(text, "\n"), text += *text == '\n') {
		char address[INET6_ADDRSTRLEN + 32];
		struct address_range range;
		struct network_endpoint endpoint = {.port = RESOLVER_PORT};

		if (!nameserver_read(text, strcspn(text, "\n"), address, sizeof(address)) ||
			address_range_parse(address, &range) < 0)
			continue;
		memcpy(endpoint.address, range.address, sizeof(endpoint.address));
		if (text_equal(address, loopback6))
			plan->resolver6 = true;
		else if (is_loopback(endpoint.address))
			plan->resolver4 = true;
		else if (need(plan, &endpoint, err) < 0)
			return -1;
	}
	return 0;
}

int network_plan_make(const struct network_lists *lists, const struct network_facts *facts,
	struct network_plan *ret_plan, struct err *err)
{
	memset(ret_plan, 0, sizeof(*ret_plan));
	ret_plan->ipv4 = facts->ipv4;
	ret_plan->ipv6 = facts->ipv6;
	if (lists_add(ret_plan, lists, err) < 0)
		return -1;
	for (size_t i = 0; i < facts->own_count; i++) {
		const struct address_range range = range_at(&facts->own[i]);

		if (rule_add(ret_plan, &range, false, err) < 0)
			return -1;
	}
	rules_sort(ret_plan);
	if (resolvers_add(ret_plan, facts->resolv, err) < 0)
		return -1;
	for (size_t i = 0; i < facts->needed_count; i++)
		if (need(ret_plan, &facts->needed[i], err) < 0)
			return -1;
	rules_sort(ret_plan);
	return 0;
}

static void ports_print(const struct network_plan *plan, struct texts *args)
{
	_cleanup_(buf_release) struct buf list = BUF_INIT(NETWORK_PORTS_MAX * sizeof("65535,"));

	for (uint32_t i = 0; i < plan->port_count; i++)
		buf_printf(&list, "%s%u", i ? "," : "", plan->ports[i]);
	TEXTS_ADD(args, "-T", plan->port_count ? buf_str(&list) : "none");
}

void network_plan_arguments(const struct network_plan *plan, struct texts *args)
{
	/* By default, pasta of 2024 and later ends when the path of its namespace is gone. The process of that path
	 * ends at once, and the holder ends pasta. */
	static const char *const always[] = {"--config-net", "--no-netns-quit", "--quiet", "--no-map-gw", "--no-icmp",
		"--no-dhcp", "--no-dhcpv6", "--no-ra", "-I", "net0", "-t", "none", "-u", "none", "-U", "none"};
	static const char *const four[] = {"-a", OWN4, "-n", "29", "-g", GATEWAY4};
	static const char *const six[] = {"-a", OWN6, "-g", GATEWAY6};
	/* pasta needs an interface if there is no default route. Its sockets still follow the machine's routes. */
	static const char *const unrouted[] = {"-4", "-i", "lo", "-M", "02:00:00:00:00:01"};

	for (size_t i = 0; i < ARRAY_LEN(always); i++)
		texts_add(args, "%s", always[i]);
	for (size_t i = 0; (plan->ipv4 || !plan->ipv6) && i < ARRAY_LEN(four); i++)
		texts_add(args, "%s", four[i]);
	for (size_t i = 0; plan->ipv6 && i < ARRAY_LEN(six); i++)
		texts_add(args, "%s", six[i]);
	for (size_t i = 0; !plan->ipv4 && !plan->ipv6 && i < ARRAY_LEN(unrouted); i++)
		texts_add(args, "%s", unrouted[i]);
	if (plan->ipv4 != plan->ipv6)
		texts_add(args, "%s", plan->ipv4 ? "-4" : "-6");
	if (plan->resolver4) {
		TEXTS_ADD(args, "--dns-forward", RESOLVER4);
	}
	if (plan->resolver6) {
		TEXTS_ADD(args, "--dns-forward", RESOLVER6);
	}
	ports_print(plan, args);
}
