/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/openapi/operations.h"

#include <stdio.h>
#include <string.h>

#include "scheduler/api/api.h"
#include "scheduler/api/openapi/schemas.h"
#include "scheduler/rights/rights.h"

#define JSON_API "application/vnd.api+json"

enum { MAX_NAME = 128 };

/* ---- operations.def ---- */

enum row_kind { ROW_ONE, ROW_PAGE, ROW_LIST, ROW_JSON, ROW_BYTES, ROW_NOTHING, ROW_TAKES, ROW_INCLUDES, ROW_QUERY };
enum input { INPUT_NONE, INPUT_DOCUMENT, INPUT_DOCUMENTS, INPUT_LINKS, INPUT_OBJECT, INPUT_FORM, INPUT_BYTES };

struct row {
	handler_fn handler;
	enum row_kind kind;
	int status;
	enum input input;
	const char *of, *included;
};

static const struct row rows[] = {
#define ONE(handler, status, of)           {handler, ROW_ONE, status, INPUT_NONE, of, NULL},
#define PAGE(handler, of)                  {handler, ROW_PAGE, 200, INPUT_NONE, of, NULL},
#define LIST(handler, of)                  {handler, ROW_LIST, 200, INPUT_NONE, of, NULL},
#define JSON(handler, status, of)          {handler, ROW_JSON, status, INPUT_NONE, of, NULL},
#define BYTES(handler, type)               {handler, ROW_BYTES, 200, INPUT_NONE, type, NULL},
#define PART(handler, type)                {handler, ROW_BYTES, 206, INPUT_NONE, type, NULL},
#define NOTHING(handler, status)           {handler, ROW_NOTHING, status, INPUT_NONE, NULL, NULL},
#define TAKES(handler, input, of)          {handler, ROW_TAKES, 0, INPUT_##input, of, NULL},
#define INCLUDES(handler, names, included) {handler, ROW_INCLUDES, 0, INPUT_NONE, names, included},
#define QUERY(handler, names)              {handler, ROW_QUERY, 0, INPUT_NONE, names, NULL},
#include "scheduler/api/openapi/operations.def"
};

/* The handlers' names, in the order of `routes`. */
static const char *const handlers[] = {
#define SITE(method, path, handler, ...) #handler,
#define API                              SITE
#define SIGNED                           SITE
#define WORKER                           SITE
#define NOTIFIER                         SITE
#define SCIM                             SITE
#define REGISTRY                         SITE
#define REGISTRY_KEYS                    SITE
#include "scheduler/api/routes.def"
};

/* The first row of the handler with a kind from `first` to `last`, or NULL. */
static const struct row *handler_row_of(handler_fn handler, enum row_kind first, enum row_kind last)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].handler == handler && rows[i].kind >= first && rows[i].kind <= last)
			return &rows[i];
	return NULL;
}

/* ---- parameters ---- */

static json_t *parameter(const char *name, size_t len, const char *in)
{
	return json_pack("{ss% ss sb s{ss}}", "name", name, len, "in", in, "required", text_equal(in, "path"), "schema",
		"type", "string");
}

static void path_parameters(const char *pattern, json_t *list)
{
	for (const char *at = strchr(pattern, ':'); at; at = strchr(at, ':')) {
		size_t len = strcspn(++at, "/");

		json_array_append_new(list, parameter(at, len, "path"));
	}
}

static json_t *include_parameter(const char *names)
{
	return json_pack("{ss ss ss sb s{ss s{so}}}", "name", "include", "in", "query", "style", "form", "explode", 0,
		"schema", "type", "array", "items", "enum", schema_words(names));
}

static void query_parameters(handler_fn handler, json_t *list)
{
	const struct row *includes = handler_row_of(handler, ROW_INCLUDES, ROW_INCLUDES);
	const struct row *query = handler_row_of(handler, ROW_QUERY, ROW_QUERY);
	json_auto_t *names = schema_words(query ? query->of : "");
	json_t *name;
	size_t i;

	if (handler_row_of(handler, ROW_PAGE, ROW_PAGE)) {
		json_array_append_new(list, json_pack("{ss}", "$ref", "#/components/parameters/page-number"));
		json_array_append_new(list, json_pack("{ss}", "$ref", "#/components/parameters/page-size"));
	}
	if (includes && *includes->of)
		json_array_append_new(list, include_parameter(includes->of));
	json_array_foreach(names, i, name)
		json_array_append_new(list, parameter(json_string_value(name), json_string_length(name), "query"));
}

static json_t *parameters(const struct route *route)
{
	json_t *list = json_array();

	path_parameters(route->pattern, list);
	query_parameters(route->handler, list);
	return list;
}

/* ---- requests ---- */

static json_t *content(const char *type, json_t *schema)
{
	return json_pack("{s{s{so}}}", "content", type, "schema", schema);
}

static json_t *list_of(json_t *item)
{
	return json_pack("{ss so}", "type", "array", "items", item);
}

static json_t *data_of(json_t *data)
{
	return json_pack("{ss s{so}}", "type", "object", "properties", "data", data);
}

static json_t *input_content(json_t *schemas, const struct row *row)
{
	switch (row->input) {
	case INPUT_DOCUMENT:
		return content(JSON_API, data_of(schemas_ref(schemas, row->of, SCHEMA_REQUEST)));
	case INPUT_DOCUMENTS:
		return content(JSON_API, data_of(list_of(schemas_ref(schemas, row->of, SCHEMA_REQUEST))));
	case INPUT_LINKS:
		return content(JSON_API, data_of(list_of(schema_linkage(row->of, false))));
	case INPUT_FORM:
		return content("application/x-www-form-urlencoded", schemas_ref(schemas, row->of, SCHEMA_REQUEST));
	case INPUT_OBJECT:
		return content(JSON_API, schemas_ref(schemas, row->of, SCHEMA_REQUEST));
	default:
		return content(row->of, json_object());
	}
}

static json_t *request_body(json_t *schemas, const struct route *route)
{
	const struct row *row = handler_row_of(route->handler, ROW_TAKES, ROW_TAKES);
	json_t *body = row ? input_content(schemas, row) : NULL;

	if (body)
		json_object_set_new(body, "description", json_sprintf("At most %zu bytes.", route->limit));
	return body;
}

/* ---- answers ---- */

/* An `include` without effect still gives an empty list. */
static json_t *included_schema(json_t *schemas, handler_fn handler)
{
	const struct row *includes = handler_row_of(handler, ROW_INCLUDES, ROW_INCLUDES);

	return includes && *includes->included ? list_of(schemas_ref(schemas, includes->included, SCHEMA_ANSWER))
					       : json_pack("{ss si}", "type", "array", "maxItems", 0);
}

/* A JSON:API document. */
static json_t *document_schema(json_t *schemas, const struct row *row)
{
	json_t *data = schemas_ref(schemas, row->of, SCHEMA_ANSWER);
	json_t *properties = json_pack("{so so}", "data", row->kind == ROW_ONE ? data : list_of(data), "included",
		included_schema(schemas, row->handler));
	json_t *required = json_pack("[s]", "data");

	if (row->kind == ROW_PAGE) {
		json_object_set_new(properties, "links", schemas_ref(schemas, "page-links", SCHEMA_ANSWER));
		json_object_set_new(properties, "meta", schemas_ref(schemas, "page-meta", SCHEMA_ANSWER));
		json_array_append_new(required, json_string("links"));
		json_array_append_new(required, json_string("meta"));
	}
	return json_pack("{ss so so sb}", "type", "object", "required", required, "properties", properties,
		"additionalProperties", 0);
}

static json_t *answer_content(json_t *schemas, const struct row *row)
{
	switch (row->kind) {
	case ROW_NOTHING:
		return json_object();
	case ROW_BYTES:
		return content(row->of, json_object());
	case ROW_JSON:
		return content(
			"application/json", row->of ? schemas_ref(schemas, row->of, SCHEMA_ANSWER) : json_object());
	default:
		return content(JSON_API, document_schema(schemas, row));
	}
}

/* The media type's object in a response with a JSON:API document. Borrowed. */
static json_t *media_of(json_t *answer)
{
	return json_object_get(json_object_get(answer, "content"), JSON_API);
}

/* A second row with the same status is an alternative to the first: a list with and without pages, or another media
 * type. */
static void answer_add(json_t *answers, const struct row *row, json_t *answer)
{
	static const char *const texts[] = {[ROW_ONE] = "A resource.",
		[ROW_PAGE] = "A page of a list.",
		[ROW_LIST] = "A list.",
		[ROW_JSON] = "A JSON document.",
		[ROW_BYTES] = "The content.",
		[ROW_NOTHING] = "No body."};
	char status[16];
	json_t *before;

	snprintf(status, sizeof(status), "%d", row->status);
	before = json_object_get(answers, status);
	if (!before) {
		json_object_set_new(answer, "description", json_string(texts[row->kind]));
		json_object_set_new(answers, status, answer);
		return;
	}
	if (media_of(before) && media_of(answer))
		json_object_set_new(media_of(before), "schema",
			json_pack("{s[OO]}", "anyOf", json_object_get(media_of(before), "schema"),
				json_object_get(media_of(answer), "schema")));
	else
		json_object_update(json_object_get(before, "content"), json_object_get(answer, "content"));
	json_decref(answer);
}

static json_t *responses(json_t *schemas, handler_fn handler)
{
	static const char *const failures[] = {"4XX", "5XX"};
	json_t *answers = json_object();

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].handler == handler && rows[i].kind <= ROW_NOTHING)
			answer_add(answers, &rows[i], answer_content(schemas, &rows[i]));
	for (size_t i = 0; i < ARRAY_LEN(failures); i++)
		json_object_set_new(answers, failures[i], json_pack("{ss}", "$ref", "#/components/responses/failure"));
	return answers;
}

/* ---- operations ---- */

static bool handler_shared(handler_fn handler)
{
	size_t count = 0;

	for (size_t i = 0; i < routes_count; i++)
		count += routes[i].handler == handler;
	return count > 1;
}

/* The path below /api/v2, or the whole path if it is elsewhere. */
static const char *path_below(const struct route *route)
{
	static const char api[] = "/api/v2";

	return route->pattern + (text_starts(route->pattern, api) ? strlen(api) : 0);
}

/* The handler's name. If it has several routes, the method and the path's fixed segments follow. */
static json_t *operation_id(size_t at)
{
	_cleanup_(buf_release) struct buf id = BUF_INIT(MAX_NAME);
	const char *path = path_below(&routes[at]);

	buf_text(&id, handlers[at]);
	if (!handler_shared(routes[at].handler))
		return json_string(buf_str(&id));
	buf_printf(&id, "_%s", routes[at].method);
	for (size_t len; *path; path += len) {
		len = strcspn(path + 1, "/") + 1;
		if (path[1] != ':')
			buf_append(&id, path, len);
	}
	for (size_t i = 0; i < id.len; i++)
		id.data[i] = strchr("-./", id.data[i]) ? '_' : id.data[i];
	return json_string(buf_str(&id));
}

static bool without_token(enum permission permission)
{
	return permission == CAN_WITHOUT_TOKEN || permission == CAN_WITH_SIGNATURE;
}

static json_t *permission_text(enum permission permission)
{
	static const char *const places[] = {
		[ORGANIZATION] = "organization", [PROJECT] = "project", [WORKSPACE] = "workspace"};
	const struct permission_row *row = &permission_rows[permission];

	if (row->where == ANYWHERE)
		return json_sprintf("Needs %s: %s.", row->name, row->text);
	return json_sprintf("Needs %s in the %s: %s.", row->name, places[row->where], row->text);
}

json_t *operation_of(json_t *schemas, size_t at)
{
	const struct route *route = &routes[at];
	const char *tag = path_below(route) + 1;
	json_t *operation, *body;

	if (!handler_row_of(route->handler, ROW_ONE, ROW_NOTHING))
		return NULL;
	operation = json_pack("{so s[s%] so so so}", "operationId", operation_id(at), "tags", tag, strcspn(tag, "/"),
		"description", permission_text(route->permission), "parameters", parameters(route), "responses",
		responses(schemas, route->handler));
	if (without_token(route->permission))
		json_object_set_new(operation, "security", json_array());
	body = request_body(schemas, route);
	if (body)
		json_object_set_new(operation, "requestBody", body);
	return operation;
}
