/* SPDX-License-Identifier: MPL-2.0 */
#include <microhttpd.h>
#include <string.h>
#include <strings.h>

#include "common/http/guard.h"
#include "common/http/http_clients.h"
#include "common/http/httpd.h"
#include "common/ids.h"

const char *http_header(const struct http_request *request, const char *name)
{
	return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

const char *http_query(const struct http_request *request, const char *name)
{
	return MHD_lookup_connection_value(request->connection, MHD_GET_ARGUMENT_KIND, name);
}

void http_request_id_set(struct http_request *request)
{
	const char *sent = text_or_empty(http_header(request, "X-Request-Id"));
	size_t len = strspn(sent, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-");

	if (len && len < HTTP_REQUEST_ID_SIZE && !sent[len])
		text_copy(request->id, sizeof(request->id), sent);
	else
		text_copy(request->id, sizeof(request->id), id_new("req").text);
}

struct last_header {
	const char *name, *value;
};

static enum MHD_Result last_visit(void *cls, enum MHD_ValueKind kind, const char *name, const char *value)
{
	struct last_header *last = cls;

	(void)kind;
	if (strcasecmp(name, last->name) == 0)
		last->value = value;
	return MHD_YES;
}

const char *http_header_last(const struct http_request *request, const char *name)
{
	struct last_header last = {.name = name};

	MHD_get_connection_values(request->connection, MHD_HEADER_KIND, last_visit, &last);
	return last.value;
}

const char *http_cookie(const struct http_request *request, const char *name)
{
	return MHD_lookup_connection_value(request->connection, MHD_COOKIE_KIND, name);
}

struct each_query {
	void (*each)(void *data, const char *name, const char *value);
	void *data;
};

static enum MHD_Result query_visit(void *cls, enum MHD_ValueKind kind, const char *name, const char *value)
{
	const struct each_query *visit = cls;

	(void)kind;
	visit->each(visit->data, name, text_or_empty(value));
	return MHD_YES;
}

void http_query_each(
	const struct http_request *request, void (*each)(void *data, const char *name, const char *value), void *data)
{
	struct each_query visit = {each, data};

	MHD_get_connection_values(request->connection, MHD_GET_ARGUMENT_KIND, query_visit, &visit);
}

static const char *trim(char *entry)
{
	entry += strspn(entry, " \t");
	entry[strcspn(entry, " \t")] = '\0';
	return entry;
}

/* Each proxy appends the address of its client. Entries before the last one that is not a trusted proxy may have
 * been forged by the client. */
void http_forwarded_address(
	const struct http_request *request, const struct guard *proxies, char address[HTTP_ADDRESS_SIZE])
{
	_cleanup_(freep) char *list = mem_text(text_or_empty(http_header_last(request, "X-Forwarded-For")));
	bool more = true;

	while (more && guard_allows(proxies, address)) {
		char *comma = strrchr(list, ',');
		const char *entry = trim(comma ? comma + 1 : list);

		if (!guard_is_address(entry))
			return;
		text_copy(address, HTTP_ADDRESS_SIZE, entry);
		more = comma != NULL;
		if (comma)
			*comma = '\0';
	}
}
