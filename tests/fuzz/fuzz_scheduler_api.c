/* SPDX-License-Identifier: MPL-2.0 */
/*
 * The parts of an API request that are parsed before the database is used: "POST /api/v2/runs?include=plan\n{body}".
 * These are the route, the query, includes and pages, the document with its attributes and relations. Every answer
 * made from them must be one JSON document. The sanitizers find other errors.
 */
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>

#include "scheduler/http/fields.h"
#include "scheduler/http/relations.h"
#include "scheduler/http/request.h"

enum { MAX_QUERIES = 16 };

static struct {
	const char *name, *value;
} queries[MAX_QUERIES];
static size_t query_count;

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

/* ---- the server's side of a request: replaces libmicrohttpd's functions, which read the input ---- */

const char *MHD_lookup_connection_value(struct MHD_Connection *connection, enum MHD_ValueKind kind, const char *key)
{
	(void)connection;
	for (size_t i = 0; kind == MHD_GET_ARGUMENT_KIND && i < query_count; i++)
		if (text_equal(queries[i].name, key))
			return queries[i].value;
	return NULL;
}

int MHD_get_connection_values(
	struct MHD_Connection *connection, enum MHD_ValueKind kind, MHD_KeyValueIterator each, void *data)
{
	(void)connection;
	for (size_t i = 0; i < query_count; i++)
		each(data, kind, queries[i].name, queries[i].value);
	return (int)query_count;
}

/* Splits "a=b&c" in place, with + and %XX decoded as the server does it. */
static void split_query(char *text)
{
	char *next;

	query_count = 0;
	for (char *at = text; at && query_count < MAX_QUERIES; at = next) {
		char *value;

		next = strchr(at, '&');
		if (next)
			*next++ = '\0';
		value = strchr(at, '=');
		if (value) {
			*value++ = '\0';
			MHD_http_unescape(value);
		}
		MHD_http_unescape(at);
		queries[query_count].name = at;
		queries[query_count++].value = value;
	}
}

/* ---- handlers' uses of a request ---- */

static const struct field fields[] = {
	{"name", FIELD_TEXT, "null"},
	{"auto-apply", FIELD_BOOL, "false"},
	{"serial", FIELD_INT, "0"},
	{"stages", FIELD_TEXTS, "[]"},
};

static void check_answer(struct response *res)
{
	json_t *document = json_loadb(res->http->body.data, res->http->body.len, 0, NULL);

	if (!document)
		abort();
	json_decref(document);
	buf_release(&res->http->body);
}

static void refuse(const struct err *err)
{
	struct http_answer answer = {.status = 0, .body = BUF_INIT(1 << 20)};
	struct response res = {.http = &answer};

	respond_error(&res, err);
	if (answer.status < 400)
		abort();
	check_answer(&res);
}

static void use_query(struct request *req)
{
	static const char *const known[] = {"plan", "created_by", "configuration_version.ingress_attributes", NULL};
	struct http_answer answer = {.status = 0, .body = BUF_INIT(1 << 20)};
	struct response res = {.http = &answer};
	struct err err = ERR_INIT;
	struct page page;

	if (query_includes_check(req, known, &err) < 0)
		refuse(&err);
	query_includes(req, "created-by");
	if (page_read(req, &page, &err) < 0) {
		refuse(&err);
		return;
	}
	if (page.size < 1 || page.size > 100 || page.offset < 0)
		abort();
	page.total = 7;
	respond_page(req, &res, &page, json_array(), NULL);
	check_answer(&res);
}

static void use_body(struct request *req)
{
	json_auto_t *set = json_object(), *shown = json_object();
	json_t *ids = NULL;
	const json_t *list = NULL;
	const char *text = NULL;
	struct err err = ERR_INIT;

	if (body_check(req, "runs", &err) < 0)
		refuse(&err);
	if (fields_read(req, fields, ARRAY_LEN(fields), set, &err) < 0)
		refuse(&err);
	else
		fields_show(fields, ARRAY_LEN(fields), set, shown);
	if (body_comment(req, &text, &err) < 0 || body_texts(req, "target-addrs", &list, &err) < 0)
		refuse(&err);
	body_relation(req, "workspace");
	body_has(req, "name");
	if (body_linkage(req, "workspaces", &ids, &err) < 0)
		refuse(&err);
	json_decref(ids);
	ids = NULL;
	if (body_relations(req, "workspaces", "workspaces", &ids, &err) < 0)
		refuse(&err);
	json_decref(ids);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	_cleanup_(freep) char *input = mem_new(len + 1, 1);
	const struct store_settings settings = {.public_url = "http://runyard.test"};
	struct store store = {.settings = &settings};
	struct http_request http = {.method = input};
	struct request req = {.http = &http, .store = &store};
	struct err err = ERR_INIT;
	char *path, *query, *body;

	memcpy(input, bytes, len);
	body = strchr(input, '\n');
	path = strchr(input, ' ');
	if (!body || !path || path > body)
		return 0;
	*path++ = *body++ = '\0';
	query = strchr(path, '?');
	if (query)
		*query++ = '\0';
	MHD_http_unescape(path);
	http.path = path;
	split_query(query);
	req.route = route_find(routes, routes_count, http.method, path, &req.match);
	if (!req.route || query_text_check(&req, &err) < 0)
		return 0;
	if (json_parse(body, len - (size_t)(body - input), &req.body, &err) < 0)
		refuse(&err);
	use_query(&req);
	use_body(&req);
	json_decref(req.body);
	return 0;
}
