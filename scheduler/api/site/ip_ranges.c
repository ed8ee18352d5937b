/* SPDX-License-Identifier: MPL-2.0 */
#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include <curl/curl.h>

#include "common/base.h"
#include "scheduler/api/api.h"

/* The addresses at which the API is reached, and from which the site calls services (--egress-ranges). */

static void address_add(json_t *list, const struct sockaddr *address)
{
	char text[INET6_ADDRSTRLEN] = "";
	bool six = address->sa_family == AF_INET6;
	const void *bytes = six ? (const void *)&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr
				: (const void *)&((const struct sockaddr_in *)(const void *)address)->sin_addr;
	_cleanup_(freep) char *range = NULL;
	const json_t *item;
	size_t i;

	if ((!six && address->sa_family != AF_INET) || !inet_ntop(address->sa_family, bytes, text, sizeof(text)))
		return;
	range = mem_printf("%s/%d", text, six ? 128 : 32);
	json_array_foreach(list, i, item) if (text_equal(json_string_value(item), range)) return;
	json_array_append_new(list, json_string(range));
}

static char *url_host(const char *url)
{
	CURLU *parts = mem_check(curl_url());
	char *host = NULL, *copy;

	if (curl_url_set(parts, CURLUPART_URL, url, 0) == CURLUE_OK)
		curl_url_get(parts, CURLUPART_HOST, &host, 0);
	copy = mem_text(text_or_empty(host));
	curl_free(host);
	curl_url_cleanup(parts);
	return copy;
}

/* The addresses of the public URL's host. May wait for the resolver. */
static json_t *api_ranges(const struct store *store)
{
	_cleanup_(freep) char *host = url_host(store->settings->public_url);
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	size_t len = strlen(host);
	struct addrinfo *found = NULL;
	json_t *list = json_array();
	const char *name = host;

	if (*host == '[' && len > 1) {
		host[len - 1] = '\0';
		name = host + 1;
	}
	if (getaddrinfo(name, NULL, &hints, &found) == 0)
		for (const struct addrinfo *at = found; at; at = at->ai_next)
			address_add(list, at->ai_addr);
	if (found)
		freeaddrinfo(found);
	return list;
}

static json_t *egress_ranges(const struct store *store, json_t *api)
{
	const char *at = store->settings->egress_ranges;
	json_t *list;

	if (!*at)
		return json_incref(api);
	list = json_array();
	while (*at) {
		size_t len = strcspn(at, ",");

		json_array_append_new(list, json_stringn(at, len));
		at += len + (at[len] == ',');
	}
	return list;
}

/* The ranges change with the process's options: since its start. */
static bool is_unmodified(const struct request *req)
{
	const char *since = http_header(req->http, "If-Modified-Since");
	struct tm parts = {0};

	if (!since || !strptime(since, "%a, %d %b %Y %H:%M:%S GMT", &parts))
		return false;
	return timegm(&parts) >= req->store->settings->started_at;
}

int site_ip_ranges(struct request *req, struct response *res, struct err *err)
{
	json_auto_t *api = NULL, *egress = NULL;

	(void)err;
	if (is_unmodified(req))
		return respond_empty(res, 304);
	api = api_ranges(req->store);
	egress = egress_ranges(req->store, api);
	return respond_json(res, 200,
		json_pack("{sO sO sO sO}", "api", api, "notifications", egress, "sentinel", egress, "vcs", egress));
}
