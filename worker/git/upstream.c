/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/git/upstream.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/http/guard.h"

static struct upstream upstream_read(const char *record)
{
	struct upstream upstream = {.login = ""};
	size_t len = strcspn(record, " ");
	char port[8] = "";
	long long number;

	text_copy(upstream.host, len < sizeof(upstream.host) ? len + 1 : sizeof(upstream.host), record);
	record += len + (record[len] == ' ');
	len = strcspn(record, " ");
	text_copy(port, len < sizeof(port) ? len + 1 : sizeof(port), record);
	if (text_number(port, 1, 65535, &number) == 0)
		upstream.port = (int)number;
	upstream.login = record + len + (record[len] == ' ');
	return upstream;
}

struct upstreams upstreams_read(struct bytes order)
{
	return (struct upstreams){.https = upstream_read(record_value(order, UPSTREAM_HTTPS)),
		.http = upstream_read(record_value(order, UPSTREAM_HTTP)),
		.no_proxy = record_value(order, UPSTREAM_NONE)};
}

/* ---- NO_PROXY ---- */

/* True if the entry matches the host. An entry is DOMAIN, .DOMAIN or *.DOMAIN, with :PORT if it is for one port only.
 */
static bool name_fits(char *entry, const char *host, int port)
{
	char *colon = strrchr(entry, ':');
	size_t len, host_len = strlen(host);
	long long number;

	if (colon && (text_number(colon + 1, 1, 65535, &number) < 0 || number != port))
		return false;
	if (colon)
		*colon = '\0';
	entry += *entry == '*';
	entry += *entry == '.';
	len = strlen(entry);
	if (!len || len > host_len || strcasecmp(host + host_len - len, entry) != 0)
		return false;
	return len == host_len || host[host_len - len - 1] == '.';
}

/* `address`: the host's address; NULL if the host is a name. */
static bool entry_fits(char *entry, const struct address_range *address, const char *host, int port)
{
	struct address_range range;

	if (text_equal(entry, "*"))
		return true;
	if (address_range_parse(entry, &range) == 0)
		return address && address_range_has(&range, address->address, port);
	return !address && name_fits(entry, host, port);
}

static bool is_direct(const char *no_proxy, const char *host, int port)
{
	static const char loopback[] = "localhost,127.0.0.0/8,::1,";
	_cleanup_(freep) char *list = mem_printf("%s%s", loopback, no_proxy);
	struct address_range address;
	bool literal = address_range_parse(host, &address) == 0;
	char *rest = list, *entry;

	while ((entry = strsep(&rest, ", \t")))
		if (*entry && entry_fits(entry, literal ? &address : NULL, host, port))
			return true;
	return false;
}

const struct upstream *upstream_for(
	const struct upstreams *upstreams, enum remote_scheme scheme, const char *host, int port)
{
	const struct upstream *upstream = scheme == REMOTE_HTTPS ? &upstreams->https
		: scheme == REMOTE_HTTP                          ? &upstreams->http
								 : NULL;

	return upstream && *upstream->host && !is_direct(upstreams->no_proxy, host, port) ? upstream : NULL;
}

/* ---- CONNECT ---- */

char *upstream_request(const struct upstream *upstream, const char *host, int port)
{
	bool six = strchr(host, ':') != NULL, with_login = *upstream->login;
	_cleanup_(freep) char *server = mem_printf("%s%s%s:%d", six ? "[" : "", host, six ? "]" : "", port);

	return mem_printf("CONNECT %s HTTP/1.1\r\nHost: %s\r\n%s%s%s\r\n", server, server,
		with_login ? "Proxy-Authorization: Basic " : "", upstream->login, with_login ? "\r\n" : "");
}

int upstream_status(const char *answer, size_t *ret_len)
{
	const char *end = strstr(answer, "\r\n\r\n"), *digits;

	if (!end)
		return 0;
	*ret_len = (size_t)(end + 4 - answer);
	if (!text_starts(answer, "HTTP/1.0 ") && !text_starts(answer, "HTTP/1.1 "))
		return -1;
	digits = answer + strlen("HTTP/1.1 ");
	if (*digits < '1' || strspn(digits, "0123456789") != 3)
		return -1;
	return (digits[0] - '0') * 100 + (digits[1] - '0') * 10 + digits[2] - '0';
}
