/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/network/facts.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "common/err.h"

enum { FILE_LIMIT = 1024 * 1024 };

static bool address_of(const struct sockaddr *from, unsigned char ret_address[16])
{
	if (from && from->sa_family == AF_INET6) {
		memcpy(ret_address, &((const struct sockaddr_in6 *)from)->sin6_addr, 16);
		return true;
	}
	if (!from || from->sa_family != AF_INET)
		return false;
	memset(ret_address, 0, 10);
	memset(ret_address + 10, 0xff, 2);
	memcpy(ret_address + 12, &((const struct sockaddr_in *)from)->sin_addr, 4);
	return true;
}

static void add_interfaces(struct network_facts *facts)
{
	struct ifaddrs *first = NULL;
	unsigned char address[16];

	if (getifaddrs(&first) < 0)
		return;
	for (const struct ifaddrs *at = first; at; at = at->ifa_next)
		if (address_of(at->ifa_addr, address))
			network_facts_add_own(facts, address);
	freeifaddrs(first);
}

/* ---- routes ---- */

enum { MAX_FIELDS = 16 };

static size_t fields_split(char *line, const char *ret_fields[MAX_FIELDS])
{
	size_t count = 0;
	char *rest = line, *field;

	while (count < MAX_FIELDS && (field = strsep(&rest, " \t\n")))
		if (*field)
			ret_fields[count++] = field;
	return count;
}

static bool any_line(const char *path, bool (*is_default)(const char *const *fields, size_t count))
{
	FILE *file = fopen(path, "re");
	const char *fields[MAX_FIELDS];
	char line[512];
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file))
		found = is_default(fields, fields_split(line, fields));
	if (file)
		fclose(file);
	return found;
}

static bool is_zero(const char *hex)
{
	return hex[strspn(hex, "0")] == '\0';
}

/* /proc/net/route: interface, destination, gateway, flags, three counters, mask. */
static bool is_default4(const char *const *fields, size_t count)
{
	enum { IS_UP = 1 };

	return count > 7 && is_zero(fields[1]) && is_zero(fields[7]) && (strtoul(fields[3], NULL, 16) & IS_UP);
}

/* /proc/net/ipv6_route: destination, length, ..., flags, interface. An unreachable default route is on lo. */
static bool is_default6(const char *const *fields, size_t count)
{
	return count > 9 && is_zero(fields[0]) && is_zero(fields[1]) && !text_equal(fields[9], "lo");
}

/* ---- names ---- */

static void add_host(const char *host, const char *port, struct network_facts *facts)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
	struct addrinfo *first = NULL;
	unsigned char address[16];
	long long number;

	if (text_number(port, 1, 65535, &number) < 0 || getaddrinfo(host, port, &hints, &first) != 0)
		return;
	for (const struct addrinfo *at = first; at; at = at->ai_next)
		if (address_of(at->ai_addr, address))
			network_facts_add_needed(facts, address, (int)number);
	freeaddrinfo(first);
}

static void add_url(const char *url, struct network_facts *facts)
{
	CURLU *parsed = curl_url();
	char *host = NULL, *port = NULL;

	if (parsed && curl_url_set(parsed, CURLUPART_URL, url, CURLU_GUESS_SCHEME | CURLU_NON_SUPPORT_SCHEME) == 0 &&
		curl_url_get(parsed, CURLUPART_HOST, &host, 0) == 0 &&
		curl_url_get(parsed, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) == 0) {
		size_t len = strlen(host);

		if (*host == '[' && host[len - 1] == ']') {
			host[len - 1] = '\0';
			add_host(host + 1, port, facts);
		} else {
			add_host(host, port, facts);
		}
	}
	curl_free(host);
	curl_free(port);
	curl_url_cleanup(parsed);
}

void network_facts_read(const struct texts *urls, struct network_facts *ret_facts)
{
	_cleanup_(buf_release) struct buf resolv = BUF_INIT(FILE_LIMIT);
	struct err err = ERR_INIT;

	*ret_facts = (struct network_facts){.ipv4 = any_line("/proc/net/route", is_default4),
		.ipv6 = any_line("/proc/net/ipv6_route", is_default6)};
	add_interfaces(ret_facts);
	if (buf_read_file(&resolv, "/etc/resolv.conf", &err) == 0)
		ret_facts->resolv = buf_take(&resolv);
	for (size_t i = 0; i < urls->count; i++)
		add_url(urls->items[i], ret_facts);
}
