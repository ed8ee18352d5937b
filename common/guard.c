/* SPDX-License-Identifier: MPL-2.0 */
#include "common/guard.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "common/err.h"

/* Every address is 16 bytes here; IPv4 stands in ::ffff:0:0/96. */
struct range {
	unsigned char address[16];
	int bits;
	const char *what; /* of the refused ones */
};

static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};

/* What is not public, from IANA's special-purpose address registries, and the clouds' metadata services that stand
 * outside of them. The first that fits gives the reason. */
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

/* Where IPv4 is written inside IPv6, and at which byte it stands. */
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
	struct range refused[ARRAY_LEN(refused)];
	struct range wrappers[ARRAY_LEN(wrappers)];
	struct range *allowed;
	size_t allowed_count;
	char **hosts;
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

/* "10.0.0.0/8", or an address alone. -1 if it is neither. */
static int range_read(const char *text, struct range *ret_range)
{
	char address[INET6_ADDRSTRLEN];
	const char *slash = strchrnul(text, '/');
	long long bits;
	int width;

	if ((size_t)(slash - text) >= sizeof(address))
		return -1;
	text_copy(address, (size_t)(slash - text) + 1, text);
	width = address_read(address, ret_range->address);
	bits = width;
	if (width < 0 || (*slash && text_number(slash + 1, 0, width, &bits) < 0))
		return -1;
	ret_range->bits = 128 - width + (int)bits;
	return 0;
}

static bool range_has(const struct range *range, const unsigned char address[16])
{
	size_t whole = (size_t)range->bits / 8;
	unsigned mask = 0xff00u >> (range->bits % 8) & 0xff;

	if (memcmp(range->address, address, whole) != 0)
		return false;
	return !mask || !((range->address[whole] ^ address[whole]) & mask);
}

/* ---- the allow-list ---- */

static bool is_host_name(const char *text)
{
	return *text && strlen(text) < 256 &&
		text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._")] == '\0';
}

static int allow_entry(struct guard *guard, const char *entry, struct err *err)
{
	struct range range = {0};

	if (range_read(entry, &range) == 0) {
		guard->allowed = mem_resize(guard->allowed, guard->allowed_count + 1, sizeof(range));
		guard->allowed[guard->allowed_count++] = range;
		return 0;
	}
	if (!is_host_name(entry))
		return err_set(err, ERR_INVALID, "'%s' is no address, range or host name", entry);
	guard->hosts = mem_resize(guard->hosts, guard->host_count + 1, sizeof(*guard->hosts));
	guard->hosts[guard->host_count++] = mem_text(entry);
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
		if (range_read(refused[i].range, &guard->refused[i]) < 0)
			abort(); /* the table above is wrong */
		guard->refused[i].what = refused[i].what;
	}
	for (size_t i = 0; i < ARRAY_LEN(wrappers); i++)
		if (range_read(wrappers[i].range, &guard->wrappers[i]) < 0)
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
		free(guard->hosts[i]);
	free(guard->hosts);
	free(guard->allowed);
	free(guard);
}

/* ---- asking ---- */

static bool host_fits(const char *entry, const char *host)
{
	size_t entry_len = strlen(entry), len = strlen(host);

	if (*entry != '.')
		return strcasecmp(entry, host) == 0;
	return len > entry_len && strcasecmp(entry, host + len - entry_len) == 0;
}

static bool host_allowed(const struct guard *guard, const char *host)
{
	for (size_t i = 0; host && i < guard->host_count; i++)
		if (host_fits(guard->hosts[i], host))
			return true;
	return false;
}

static bool range_allowed(const struct guard *guard, const unsigned char address[16])
{
	for (size_t i = 0; i < guard->allowed_count; i++)
		if (range_has(&guard->allowed[i], address))
			return true;
	return false;
}

static const char *range_refuses(const struct guard *guard, const unsigned char address[16])
{
	if (range_allowed(guard, address))
		return NULL;
	for (size_t i = 0; i < ARRAY_LEN(refused); i++)
		if (range_has(&guard->refused[i], address))
			return guard->refused[i].what;
	return NULL;
}

static const char *address_refuses(const struct guard *guard, const unsigned char address[16])
{
	const char *what = range_refuses(guard, address);
	unsigned char inner[16];

	for (size_t i = 0; !what && i < ARRAY_LEN(wrappers); i++) {
		if (!range_has(&guard->wrappers[i], address))
			continue;
		memcpy(inner, mapped, sizeof(mapped));
		memcpy(inner + 12, address + wrappers[i].at, 4);
		what = range_refuses(guard, inner);
	}
	return what;
}

const char *guard_refuses(const struct guard *guard, const char *host, const struct sockaddr *address)
{
	unsigned char bytes[16];

	if (host_allowed(guard, host))
		return NULL;
	if (address->sa_family == AF_INET6) {
		memcpy(bytes, &((const struct sockaddr_in6 *)address)->sin6_addr, sizeof(bytes));
	} else if (address->sa_family == AF_INET) {
		memcpy(bytes, mapped, sizeof(mapped));
		memcpy(bytes + 12, &((const struct sockaddr_in *)address)->sin_addr, 4);
	} else {
		return "no internet address";
	}
	return address_refuses(guard, bytes);
}

const char *guard_refuses_text(const struct guard *guard, const char *host, const char *address)
{
	unsigned char bytes[16];

	if (host_allowed(guard, host) || address_read(address, bytes) < 0)
		return NULL;
	return address_refuses(guard, bytes);
}

bool guard_is_address(const char *text)
{
	unsigned char bytes[16];

	return address_read(text, bytes) >= 0;
}

bool guard_allows(const struct guard *guard, const char *address)
{
	unsigned char bytes[16];

	return address_read(address, bytes) >= 0 && range_allowed(guard, bytes);
}
