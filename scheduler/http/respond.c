/* SPDX-License-Identifier: MPL-2.0 */
#include <stdio.h>
#include <string.h>

#include "scheduler/http/audit_note.h"
#include "scheduler/http/request.h"

#define JSON_API "application/vnd.api+json"

/* Large enough for a page of a hundred workspaces with their included resources, or for a plan's JSON in a document. */
enum { ANSWER_LIMIT = 1 << 30 };

/* Serializes `document` into the answer. Takes the document. */
static void answer_document(struct response *res, int status, const char *type, json_t *document)
{
	struct buf body = {.limit = ANSWER_LIMIT};

	body.data = json_text_len(document, &body.len);
	body.cap = body.len + 1;
	buf_release(&res->http->body);
	res->http->body = body;
	res->http->status = status;
	res->http->content_type = type;
	json_decref(document);
}

int respond_including(struct response *res, int status, json_t *resource, json_t *included)
{
	json_t *document = json_pack("{s:o}", "data", resource);

	audit_note_document(res->audit, resource);
	if (included)
		json_object_set_new(document, "included", included);
	answer_document(res, status, JSON_API, document);
	return 0;
}

int respond_resource(struct response *res, int status, json_t *resource)
{
	return respond_including(res, status, resource, NULL);
}

int respond_empty(struct response *res, int status)
{
	res->http->status = status;
	return 0;
}

int respond_bytes(struct response *res, const char *content_type, struct buf *body)
{
	struct buf empty = BUF_INIT(body->limit);

	buf_release(&res->http->body);
	res->http->body = *body;
	res->http->content_type = content_type;
	*body = empty;
	return 0;
}

int respond_json(struct response *res, int status, json_t *value)
{
	answer_document(res, status, "application/json", value);
	return 0;
}

void response_reset(struct response *res, size_t headers)
{
	struct http_answer *answer = res->http;

	buf_cut(&answer->own, headers);
	buf_release(&answer->body);
	http_source_release(&answer->source);
	*answer = (struct http_answer){
		.status = 200, .body = BUF_INIT(SIZE_MAX / 2), .extra = answer->extra, .own = answer->own};
}

static json_t *error_shown(const struct err *err, const char *status, const char *detail)
{
	json_t *error = json_pack("{s:s, s:s, s:s}", "status", status, "title", err_title(err), "detail", detail);

	if (!error) /* the detail has bytes of the request that are not UTF-8 */
		error = json_pack("{s:s, s:s}", "status", status, "title", err_title(err));
	if (err->pointer[0])
		json_object_set_new(error, "source", json_pack("{s:s}", "pointer", err->pointer));
	return error;
}

void respond_error(struct response *res, const struct err *err)
{
	struct err shown = *err;
	/* Each line of the message about a field is an error of its own. */
	const char *lines = shown.pointer[0] ? "\n" : "";
	char status[16], *rest = shown.message, *detail;
	json_t *errors;

	/* Internal errors are not shown to clients. The log has the message. */
	if (shown.kind == ERR_NONE || shown.kind == ERR_INTERNAL) {
		shown.kind = ERR_INTERNAL;
		text_copy(shown.message, sizeof(shown.message), "The server failed. Its log says why.");
	}
	if (shown.kind == ERR_UNAVAILABLE) {
		if (text_starts(shown.message, "PostgreSQL"))
			text_copy(shown.message, sizeof(shown.message), "service unavailable: try again");
		text_copy(res->http->retry_after, sizeof(res->http->retry_after), "2");
	}
	snprintf(status, sizeof(status), "%d", err_http_status(shown.kind));
	errors = json_array();
	while ((detail = strsep(&rest, lines)))
		json_array_append_new(errors, error_shown(&shown, status, detail));
	answer_document(res, err_http_status(shown.kind), JSON_API, json_pack("{s:o}", "errors", errors));
}

/* ---- pages ---- */

struct page_links {
	struct buf rest; /* the query without page[number] and page[size], each parameter preceded by '&' */
};

static void keep_parameter(void *data, const char *name, const char *value)
{
	struct page_links *links = data;

	if (text_equal(name, "page[number]") || text_equal(name, "page[size]"))
		return;
	buf_text(&links->rest, "&");
	buf_url(&links->rest, name);
	buf_text(&links->rest, "=");
	buf_url(&links->rest, value);
}

static json_t *page_link(
	const struct request *req, const struct page_links *links, const struct page *page, long long number)
{
	_cleanup_(freep) char *url = NULL;

	if (number < 1)
		return json_null();
	url = mem_printf("%s%s?page%%5Bnumber%%5D=%lld&page%%5Bsize%%5D=%lld%s", req->store->settings->public_url,
		req->http->path, number, page->size, buf_str(&links->rest));
	return json_string(url);
}

static json_t *number_or_null(long long number)
{
	return number < 1 ? json_null() : json_integer(number);
}

int respond_page(
	const struct request *req, struct response *res, const struct page *page, json_t *data, json_t *included)
{
	bool counted = page->total >= 0;
	long long pages = counted && page->total ? (page->total + page->size - 1) / page->size : 1;
	long long prev = page->number > 1 ? page->number - 1 : 0;
	long long next = (counted ? page->number < pages : page->more) ? page->number + 1 : 0;
	struct page_links links = {BUF_INIT(1 << 16)};
	json_t *document, *pagination;

	http_query_each(req->http, keep_parameter, &links);
	pagination = json_pack("{s:I, s:I, s:o, s:o}", "current-page", (json_int_t)page->number, "page-size",
		(json_int_t)page->size, "prev-page", number_or_null(prev), "next-page", number_or_null(next));
	if (counted) {
		json_object_set_new(pagination, "total-pages", json_integer(page->none && !page->total ? 0 : pages));
		json_object_set_new(pagination, "total-count", json_integer(page->total));
	}
	document = json_pack("{s:o, s:{s:o, s:o, s:o, s:o, s:o}, s:{s:o}}", "data", data, "links", "self",
		page_link(req, &links, page, page->number), "first", page_link(req, &links, page, 1), "prev",
		page_link(req, &links, page, prev), "next", page_link(req, &links, page, next), "last",
		page_link(req, &links, page, counted ? pages : 0), "meta", "pagination", pagination);
	if (page->meta)
		json_object_update(json_object_get(document, "meta"), page->meta);
	if (included)
		json_object_set_new(document, "included", included);
	buf_release(&links.rest);
	answer_document(res, 200, JSON_API, document);
	return 0;
}

int respond_slice(
	const struct request *req, struct response *res, struct page *page, const json_t *list, json_t *included)
{
	json_t *data = json_array();

	page->total = (long long)json_array_size(list);
	for (long long i = page->offset; i < page->total && i < page->offset + page->size; i++)
		json_array_append(data, json_array_get(list, (size_t)i));
	return respond_page(req, res, page, data, included);
}

/* ---- JSON:API pieces ---- */

json_t *linkage(const char *type, const char *id)
{
	json_t *link;

	if (!id)
		return json_null();
	link = json_object();
	json_object_set_new_nocheck(link, "id", json_string(id));
	json_object_set_new_nocheck(link, "type", json_string(type));
	return link;
}

static json_t *relation_of(json_t *data)
{
	json_t *relation = json_object();

	json_object_set_new_nocheck(relation, "data", data);
	return relation;
}

json_t *relation_linked(json_t *relation, const char *collection, const char *id, const char *name)
{
	_cleanup_(freep) char *url = mem_printf("/api/v2/%s/%s%s%s", collection, id, *name ? "/" : "", name);
	json_t *links = json_object();

	json_object_set_new_nocheck(links, "related", json_string(url));
	json_object_set_new_nocheck(relation, "links", links);
	return relation;
}

/* Types whose resources are at /api/v2/<type>/<id>. */
static const char *const addressed[] = {"agent-pools", "agents", "applies", "assessment-results", "comments",
	"configuration-versions", "cost-estimates", "no-code-modules", "organizations", "plans", "policies",
	"policy-evaluations", "policy-set-versions", "policy-sets", "projects", "provider-sets", "registry-modules",
	"registry-providers", "runs", "ssh-keys", "state-versions", "task-results", "task-stages", "tasks", "teams",
	"users", "varsets", "workspaces", "oauth-clients", "oauth-tokens", "vcs-repositories"};

static bool has_address(const char *type)
{
	for (size_t i = 0; i < ARRAY_LEN(addressed); i++)
		if (text_equal(addressed[i], type))
			return true;
	return false;
}

json_t *to_one(const char *type, const char *id)
{
	json_t *relation = relation_of(linkage(type, id));

	return id && has_address(type) ? relation_linked(relation, type, id, "") : relation;
}

json_t *to_many(const char *type, const json_t *ids)
{
	json_t *list = json_array();
	const json_t *id;
	size_t i;

	json_array_foreach(ids, i, id) json_array_append_new(list, linkage(type, json_string_value(id)));
	return relation_of(list);
}

json_t *many_shown(const char *type, const char *ids)
{
	json_auto_t *list = json_shown(ids);

	return to_many(type, list);
}

json_t *resource_new(const char *type, const char *id, json_t *attributes, json_t *relationships)
{
	json_t *resource = json_pack("{s:s, s:s, s:o}", "id", id, "type", type, "attributes", attributes);

	if (relationships)
		json_object_set_new(resource, "relationships", relationships);
	return resource;
}

json_t *time_shown(const char *time)
{
	char millis[4] = "000";
	char shown[32];

	if (!time || strlen(time) < 19)
		return json_null();
	if (time[19] == '.')
		for (int i = 0; i < 3 && time[20 + i] >= '0' && time[20 + i] <= '9'; i++)
			millis[i] = time[20 + i];
	snprintf(shown, sizeof(shown), "%.10sT%.8s.%sZ", time, time + 11, millis);
	return json_string(shown);
}
