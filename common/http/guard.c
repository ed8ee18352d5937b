/* SPDX-License-Identifier: MPL-2.0 */
#include "common/http/guard.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "common/err.h"

/* A refused range, and the reason. */
struct refusal {
	struct address_range range;
	const char *what;
};

/* A host name of the allow-list. */
struct allowed_host {
	char *name; /* ".example.com": every subdomain */
	int port;   /* 0: any port */
};

static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};

/* The ranges that are not public: IANA's special-purpose address registries, and the clouds' metadata services
 * outside of these. The first range that contains the address gives the reason. */
static const struct {
	const char *range, *what;
} refused[] = {
	{"127.0.0.0/8", "a loopback address"},
	{"169.254.169.254/32", "a cloud's metadata service"},
	{"168.63.129.16/32", "a cloud's metadata service"},
	{"100.100.100.200/32", "a cloud's metadata service"},
	{"169.254.0.0/16", "a link-local address"},
	{"0.0.0.0/8", "an address of this machine"},
	{"10.0.0.0/8", "a private address"},
	{"172.16.0.0/12", "a private address"},
	{"192.168.0.0/16", "a private address"},
	{"100.64.0.0/10", "an address of carrier-grade NAT"},
	{"192.0.0.0/24", "a reserved address"},
	{"192.0.2.0/24", "a reserved address"},
	{"192.88.99.0/24", "a reserved address"},
	{"198.18.0.0/15", "a reserved address"},
	{"198.51.100.0/24", "a reserved address"},
	{"203.0.113.0/24", "a reserved address"},
	{"224.0.0.0/4", "a multicast address"},
	{"240.0.0.0/4", "a reserved address"},
	{"::1/128", "a loopback address"},
	{"::/128", "an address of this machine"},
	{"fd00:ec2::254/128", "a cloud's metadata service"},
	{"fd20:ce::254/128", "a cloud's metadata service"},
	{"fe80::/10", "a link-local address"},
	{"fec0::/10", "a private address"},
	{"fc00::/7", "a private address"},
	{"ff00::/8", "a multicast address"},
	{"64:ff9b:1::/48", "a private address"},
	{"100::/64", "a reserved address"},
	{"2001::/23", "a reserved address"},
	{"2001:db8::/32", "a reserved address"},
	{"3fff::/20", "a reserved address"},
	{"5f00::/16", "a reserved address"},
};

/* IPv6 ranges that embed IPv4 addresses, and the offset of the IPv4 address in bytes. */
static const struct {
	const char *range;
	int at;
} wrappers[] = {
	{"::/96", 12},
	{"::ffff:0:0:0/96", 12},
	{"64:ff9b::/96", 12},
	{"2002::/16", 2},
};

struct guard {
	struct refusal refused[ARRAY_LEN(refused)];
	struct address_range wrappers[ARRAY_LEN(wrappers)];
	struct address_range *allowed;
	size_t allowed_count;
	struct allowed_host *hosts;
	size_t host_count;
};

static int address_read(const char *text, unsigned char ret_address[16])
{
	if (inet_pton(AF_INET6, text, ret_address) == 1)
		return 128;
	if (inet_pton(AF_INET, text, ret_address + 12) != 1)
		return -1;
	memcpy(ret_address, mapped, sizeof(mapped));
	return 32;
}

/* Splits "REST:PORT" in place. Without a port *ret_port is 0. -1 if the port is not a number from 1 to 65535. */
static int port_split(char *text, int *ret_port)
{
	char *colon = strrchr(text, ':');
	long long port = 0;

	if (colon && text_number(colon + 1, 1, 65535, &port) < 0)
		return -1;
	if (colon)
		*colon = '\0';
	*ret_port = (int)port;
	return 0;
}

/* Removes the brackets and the port of "[ADDRESS]/PREFIX:PORT" in place. */
static int brackets_split(char *text, int *ret_port)
{
	char *end = strchr(text, ']');

	if (!end || memchr(text, '/', (size_t)(end - text)) || (end[1] && !strchr("/:", end[1])) ||
		port_split(end, ret_port) < 0 || strchr(end, ':'))
		return -1;
	memmove(end, end + 1, strlen(end + 1) + 1);
	memmove(text, text + 1, strlen(text));
	return strchr(text, ':') ? 0 : -1; /* IPv6 only */
}

int address_range_parse(const char *text, struct address_range *ret_range)
{
	char copy[INET6_ADDRSTRLEN + sizeof("[]/128:65535")];
	struct address_range range = {.port = 0};
	const char *colon = strchr(text, ':');
	long long bits;
	char *slash;
	int width;

	if (strlen(text) >= sizeof(copy))
		return -1;
	text_copy(copy, sizeof(copy), text);
	/* An IPv6 address without brackets can't have a port. */
	if (*copy == '[') {
		if (brackets_split(copy, &range.port) < 0)
			return -1;
	} else if (colon && !strchr(colon + 1, ':') && port_split(copy, &range.port) < 0) {
		return -1;
	}
	slash = strchr(copy, '/');
	if (slash)
		*slash++ = '\0';
	bits = width = address_read(copy, range.address);
	if (width < 0 || (slash && text_number(slash, 0, width, &bits) < 0))
		return -1;
	range.bits = 128 - width + (int)bits;
	*ret_range = range;
	return 0;
}

bool address_range_has(const struct address_range *range, const unsigned char address[16], int port)
{
	size_t whole = (size_t)range->bits / 8;
	unsigned mask = 0xff00u >> (range->bits % 8) & 0xff;

	if ((range->port && range->port != port) || memcmp(range->address, address, whole) != 0)
		return false;
	return !mask || !((range->address[whole] ^ address[whole]) & mask);
}

/* ---- the allow-list ---- */

static bool is_host_name(const char *text)
{
	return *text && strlen(text) < 256 &&
		text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._")] == '\0';
}

static int allow_host(struct guard *guard, const char *entry, struct err *err)
{
	_cleanup_(freep) char *name = mem_text(entry);
	int port;

	if (port_split(name, &port) < 0 || !is_host_name(name))
		return err_set(err, ERR_INVALID,
			"'%s' is no ADDRESS[/PREFIX][:PORT], [IPV6-ADDRESS][/PREFIX]:PORT or HOST[:PORT]", entry);
	guard->hosts = mem_resize(guard->hosts, guard->host_count + 1, sizeof(*guard->hosts));
	guard->hosts[guard->host_count++] = (struct allowed_host){name, port};
	name = NULL;
	return 0;
}

static int allow_entry(struct guard *guard, const char *entry, struct err *err)
{
	struct address_range range;

	if (address_range_parse(entry, &range) < 0)
		return allow_host(guard, entry, err);
	guard->allowed = mem_resize(guard->allowed, guard->allowed_count + 1, sizeof(range));
	guard->allowed[guard->allowed_count++] = range;
	return 0;
}

static int allow_list(struct guard *guard, const char *allow, struct err *err)
{
	char entry[300];

	while (*allow) {
		size_t len = strcspn(allow, ",");
		const char *begin = allow + strspn(allow, " ");
		size_t own = begin < allow + len ? (size_t)(allow + len - begin) : 0;

		allow += len + (allow[len] == ',');
		if (own >= sizeof(entry))
			return err_set(err, ERR_INVALID, "an entry is longer than any address or host name");
		text_copy(entry, own + 1, begin);
		while (own > 0 && entry[own - 1] == ' ')
			entry[--own] = '\0';
		if (own > 0 && allow_entry(guard, entry, err) < 0)
			return -1;
	}
	return 0;
}

int guard_parse(const char *allow, struct guard **ret_guard, struct err *err)
{
	struct guard *guard = mem_new(1, sizeof(*guard));

	for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
		if (address_range_parse(refused[i].range, &guard->refused[i].range) < 0)
			abort(); /* an error in the table above */
		guard->refused[i].what = refused[i].what;
	}
	for (size_t i = 0; i < ARRAY_LEN(wrappers); i++)
		if (address_range_parse(wrappers[i].range, &guard->wrappers[i]) < 0)
			abort();
	if (allow_list(guard, allow, err) < 0) {
		guard_free(guard);
		return -1;
	}
	*ret_guard = guard;
	return 0;
}

void guard_free(struct guard *guard)
{
	if (!guard)
		return;
	for (size_t i = 0; i < guard->host_count; i++)
		free(guard->hosts[i].name);
	free(guard->hosts);
	free(guard->allowed);
	free(guard);
}

/* ---- decisions ---- */

static bool host_fits(const char *entry, const char *host)
{
	size_t entry_len = strlen(entry), len = strlen(host);

	if (*entry != '.')
		return strcasecmp(entry, host) == 0;
	return len > entry_len && strcasecmp(entry, host + len - entry_len) == 0;
}

static bool host_allowed(const struct guard *guard, const struct guard_target *target)
{
	for (size_t i = 0; target->host && i < guard->host_count; i++)
		if ((!guard->hosts[i].port || guard->hosts[i].port == target->port) &&
			host_fits(guard->hosts[i].name, target->host))
			return true;
	return false;
}

static bool range_allowed(const struct guard *guard, const unsigned char address[16], int port)
{
	for (size_t i = 0; i < guard->allowed_count; i++)
		if (address_range_has(&guard->allowed[i], address, port))
			return true;
	return false;
}

/* IPv4 is read as ::ffff:0:0/96. False if it is neither IPv4 nor IPv6. */
static bool sockaddr_read(const struct sockaddr *address, unsigned char ret_address[16], int *ret_port)
{
	if (address->sa_family == AF_INET6) {
		const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)address;

		memcpy(ret_address, &in6->sin6_addr, 16);
		*ret_port = ntohs(in6->sin6_port);
		return true;
	}
	if (address->sa_family == AF_INET) {
		const struct sockaddr_in *in = (const struct sockaddr_in *)address;

		memcpy(ret_address, mapped, sizeof(mapped));
		memcpy(ret_address + 12, &in->sin_addr, 4);
		*ret_port = ntohs(in->sin_port);
		return true;
	}
	return false;
}

static const char *range_refuses(const struct guard *guard, const unsigned char address[16])
{
	for (size_t i = 0; i < ARRAY_LEN(refused); i++)
		if (address_range_has(&guard->refused[i].range, address, 0))
			return guard->refused[i].what;
	return NULL;
}

/* Judges the address and an IPv4 address that is embedded in it. */
static struct guard_verdict address_judge(const struct guard *guard, const unsigned char address[16], int port)
{
	struct guard_verdict verdict = {.listed = range_allowed(guard, address, port)};
	unsigned char inner[16];

	if (verdict.listed)
		return verdict;
	verdict.refusal = range_refuses(guard, address);
	for (size_t i = 0; !verdict.refusal && i < ARRAY_LEN(wrappers); i++) {
		if (!address_range_has(&guard->wrappers[i], address, 0))
			continue;
		memcpy(inner, mapped, sizeof(mapped));
		memcpy(inner + 12, address + wrappers[i].at, 4);
		if (range_allowed(guard, inner, port))
			verdict.listed = true;
		else
			verdict.refusal = range_refuses(guard, inner);
	}
	return verdict;
}

struct guard_verdict guard_judge(const struct guard *guard, const char *host, const struct sockaddr *address)
{
	struct guard_target target = {.host = host};
	unsigned char bytes[16];

	if (!sockaddr_read(address, bytes, &target.port))
		return (struct guard_verdict){.refusal = "no internet address"};
	if (host_allowed(guard, &target))
		return (struct guard_verdict){.listed = true};
	return address_judge(guard, bytes, target.port);
}

struct guard_verdict guard_judge_text(const struct guard *guard, const struct guard_target *target)
{
	unsigned char bytes[16];

	if (host_allowed(guard, target))
		return (struct guard_verdict){.listed = true};
	if (address_read(target->address, bytes) < 0)
		return (struct guard_verdict){.listed = false};
	return address_judge(guard, bytes, target->port);
}

bool guard_is_address(const char *text)
{
	unsigned char bytes[16];

	return address_read(text, bytes) >= 0;
}

bool guard_allows(const struct guard *guard, const char *address)
{
	unsigned char bytes[16];

	return address_read(address, bytes) >= 0 && range_allowed(guard, bytes, 0);
}

bool guard_names_ports(const struct guard *guard)
{
	for (size_t i = 0; i < guard->allowed_count; i++)
		if (guard->allowed[i].port)
			return true;
	for (size_t i = 0; i < guard->host_count; i++)
		if (guard->hosts[i].port)
			return true;
	return false;
}
