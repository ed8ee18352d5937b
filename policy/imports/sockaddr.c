/* SPDX-License-Identifier: MPL-2.0 */
#include <arpa/inet.h>
#include <string.h>

#include "common/base.h"
#include "policy/imports/arguments.h"
#include "policy/imports/standard.h"

struct network {
	int family; /* AF_INET or AF_INET6 */
	unsigned char bytes[16];
	unsigned bits; /* of the prefix */
};

static unsigned family_bits(int family)
{
	return family == AF_INET ? 32 : 128;
}

static bool read_address(const char *text, struct network *network)
{
	for (size_t i = 0; i < 2; i++) {
		network->family = i == 0 ? AF_INET : AF_INET6;
		if (inet_pton(network->family, text, network->bytes) == 1)
			return true;
	}
	return false;
}

static bool read_prefix(const char *text, struct network *network)
{
	long long bits;

	if (text[0] < '0' || text[0] > '9' || text_number(text, 0, family_bits(network->family), &bits) < 0)
		return false;
	network->bits = (unsigned)bits;
	return true;
}

/* "10.0.0.1", "10.0.0.0/8", "2001:db8::/32" */
static bool network_read(struct value string, struct network *ret_network)
{
	char text[INET6_ADDRSTRLEN + sizeof("/128")];
	struct network network = {0};
	char *slash;

	if (string_len(string) >= sizeof(text) || memchr(string_bytes(string), '\0', string_len(string)))
		return false;
	memcpy(text, string_bytes(string), string_len(string));
	text[string_len(string)] = '\0';
	slash = strchr(text, '/');
	if (slash)
		*slash = '\0';
	if (!read_address(text, &network))
		return false;
	network.bits = family_bits(network.family);
	if (slash && !read_prefix(slash + 1, &network))
		return false;
	*ret_network = network;
	return true;
}

static struct network network_argument(struct run *run, const char *function, const struct value *args, size_t index)
{
	struct network network;

	if (!network_read(args[index], &network))
		run_fail(run, "argument %zu of %s is no IP address: %s", index + 1, function,
			run_text(run, "%.*s", string_len(args[index]) < 64 ? (int)string_len(args[index]) : 64,
				string_bytes(args[index])));
	return network;
}

static bool same_prefix(const struct network *a, const struct network *b, unsigned bits)
{
	const unsigned whole = bits / 8, rest = bits % 8;
	const unsigned char mask = (unsigned char)(0xff00u >> rest);

	return memcmp(a->bytes, b->bytes, whole) == 0 &&
		(rest == 0 || ((a->bytes[whole] ^ b->bytes[whole]) & mask) == 0);
}

static struct value call_is_contained(struct run *run, const struct value *args, size_t count, const void *data)
{
	struct network outer, inner;

	(void)data;
	arguments_check(run, "sockaddr.is_contained", "ss", args, count);
	outer = network_argument(run, "sockaddr.is_contained", args, 0);
	inner = network_argument(run, "sockaddr.is_contained", args, 1);
	return value_bool(
		outer.family == inner.family && outer.bits <= inner.bits && same_prefix(&outer, &inner, outer.bits));
}

static struct value call_is_equal(struct run *run, const struct value *args, size_t count, const void *data)
{
	struct network a, b;

	(void)data;
	arguments_check(run, "sockaddr.is_equal", "ss", args, count);
	a = network_argument(run, "sockaddr.is_equal", args, 0);
	b = network_argument(run, "sockaddr.is_equal", args, 1);
	return value_bool(a.family == b.family && a.bits == b.bits && same_prefix(&a, &b, family_bits(a.family)));
}

static bool is_family(struct value string, int family)
{
	struct network network;

	return network_read(string, &network) && network.family == family;
}

static struct value call_is_ipv4(struct run *run, const struct value *args, size_t count, const void *data)
{
	(void)data;
	arguments_check(run, "sockaddr.is_ipv4", "s", args, count);
	return value_bool(is_family(args[0], AF_INET));
}

static struct value call_is_ipv6(struct run *run, const struct value *args, size_t count, const void *data)
{
	(void)data;
	arguments_check(run, "sockaddr.is_ipv6", "s", args, count);
	return value_bool(is_family(args[0], AF_INET6));
}

static const struct native functions[] = {
	{"is_contained", 2, 2, false, call_is_contained},
	{"is_equal", 2, 2, false, call_is_equal},
	{"is_ipv4", 1, 1, false, call_is_ipv4},
	{"is_ipv6", 1, 1, false, call_is_ipv6},
};

const struct import import_sockaddr = {
	.name = "sockaddr",
	.functions = functions,
	.function_count = ARRAY_LEN(functions),
};
