/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/openapi/openapi.h"

#include <pthread.h>
#include <string.h>

#include "common/build_info.h"
#include "common/err.h"
#include "scheduler/api/api.h"
#include "scheduler/api/openapi/operations.h"
#include "scheduler/api/openapi/schemas.h"

enum { DOCUMENT_LIMIT = 16 << 20, MAX_PATH = 256 };

/* "/runs/:run/plan" becomes "/runs/{run}/plan". The caller frees it. */
static char *path_template(const char *pattern)
{
	struct buf path = BUF_INIT(MAX_PATH);

	for (size_t len; *pattern; pattern += len) {
		len = strcspn(pattern + 1, "/") + 1;
		if (pattern[1] == ':')
			buf_printf(&path, "/{%.*s}", (int)len - 2, pattern + 2);
		else
			buf_append(&path, pattern, len);
	}
	return buf_take(&path);
}

static void operation_add(json_t *paths, json_t *schemas, size_t at)
{
	_cleanup_(freep) char *path = path_template(routes[at].pattern), *method = mem_text(routes[at].method);
	json_t *operation = operation_of(schemas, at), *item = json_object_get(paths, path);

	if (!operation)
		return;
	for (char *letter = method; *letter; letter++)
		*letter |= 0x20;
	if (!item) {
		item = json_object();
		json_object_set_new(paths, path, item);
	}
	json_object_set_new(item, method, operation);
}

/* ---- the document ---- */

static json_t *page_parameter(const char *name, const char *text)
{
	return json_pack("{ss ss ss s{ss si}}", "name", name, "in", "query", "description", text, "schema", "type",
		"integer", "minimum", 1);
}

static json_t *failure(json_t *schemas)
{
	return json_pack("{ss s{s{so}}}", "description", "The request failed, for the reasons in the errors.",
		"content", "application/vnd.api+json", "schema", schemas_ref(schemas, "errors", SCHEMA_ANSWER));
}

static json_t *components(json_t *schemas)
{
	return json_pack("{s{so} s{so so} s{s{ss ss}} so}", "responses", "failure", failure(schemas), "parameters",
		"page-number", page_parameter("page[number]", "The first page is 1."), "page-size",
		page_parameter("page[size]", "Items of a page: 20 by default, at most 100."), "securitySchemes",
		"token", "type", "http", "scheme", "bearer", "schemas", schemas);
}

char *openapi_text(void)
{
	json_t *paths = json_object(), *schemas = json_object();
	json_auto_t *document = NULL;

	for (size_t i = 0; i < routes_count; i++)
		operation_add(paths, schemas, i);
	document = json_pack("{ss s{ss ss ss} s[{ss}] s[{s[]}] so so}", "openapi", "3.1.0", "info", "title", "Runyard",
		"version", build_version, "description",
		"The API of Terraform Enterprise, version 2: JSON:API with bearer tokens.", "servers", "url", "/",
		"security", "token", "paths", paths, "components", components(schemas));
	return json_text(document);
}

static char *made;

static void make(void)
{
	made = openapi_text();
}

/* The document is made at the first request. */
int openapi_read(struct request *req, struct response *res, struct err *err)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct buf body = BUF_INIT(DOCUMENT_LIMIT);

	(void)req;
	pthread_once(&once, make);
	if (buf_text(&body, made) < 0)
		return err_set(err, ERR_INTERNAL, "the OpenAPI document is too large");
	return respond_bytes(res, "application/json", &body);
}
