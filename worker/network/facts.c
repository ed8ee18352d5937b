/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/network/facts.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
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
	memcpy(ret_address, "\0\0\0\0\0\0\0\0\0\0\xff\xff", 12);
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

static bool any_line(const char *path, bool (*is_default)(const char *line))
{
	FILE *file = fopen(path, "re");
	char line[512];
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file))
		found = is_default(line);
	if (file)
		fclose(file);
	return found;
}

/* /proc/net/route: interface, destination, gateway, flags, three counters, mask. */
static bool is_default4(const char *line)
{
	unsigned destination, flags, mask;

	return sscanf(line, "%*s %x %*x %x %*d %*d %*d %x", &destination, &flags, &mask) == 3 && destination == 0 &&
		mask == 0 && (flags & 1);
}

/* /proc/net/ipv6_route: destination, length, ..., flags, interface. An unreachable default stands at lo. */
static bool is_default6(const char *line)
{
	char destination[33], interface[32];
	unsigned length;

	return sscanf(line, "%32s %x %*s %*s %*s %*s %*s %*s %*s %31s", destination, &length, interface) == 3 &&
		length == 0 && strspn(destination, "0") == 32 && !text_equal(interface, "lo");
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
