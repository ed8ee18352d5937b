/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/explorer/explorer_views.h"

#include <string.h>

#include "scheduler/api/explorer/explorer_answers.h"
#include "scheduler/api/resources.h"
#include "scheduler/http/columns.h"
#include "scheduler/http/scope.h"
#include "scheduler/store/explorer/explorer_views.sql.h"

/* Saved queries of the explorer. Owners, and the person who saved one, may change it. */

enum { MAX_NAME = 100 };

static const struct cell_shown attributes[] = {
	CELL("name", explorer_view, name),
	CELL("query-type", explorer_view, query_type),
	CELL_JSON("query", explorer_view, query),
	CELL("owner", explorer_view, creator),
	CELL_TIME("created-at", explorer_view, created_at),
	CELL_TIME("updated-at", explorer_view, updated_at),
};

static json_t *view_resource(const void *of_row)
{
	const struct explorer_view_row *row = of_row;

	return resource_new(
		"explorer-saved-queries", row->id, cells_shown(attributes, ARRAY_LEN(attributes), of_row), NULL);
}

static const struct resource_kind kind_views = {.type = "explorer-saved-queries", .show = view_resource};

static int page_of_views(const struct request *req, const struct scope *scope, const struct page *page,
	struct rows *ret_rows, struct err *err)
{
	return explorer_views_list(
		req->store, scope->organization.text, (struct list_range){page->size, page->offset}, ret_rows, err);
}

int explorer_views_index(struct request *req, struct response *res, struct err *err)
{
	return respond_list(req, res, &(struct resource_list){&kind_views, scope_organization, page_of_views}, err);
}

/* The view that the path names. */
static int view_in_path(const struct request *req, struct scope *ret_scope, struct rows *ret_rows, struct err *err)
{
	if (scope_organization(req, ret_scope, err) < 0)
		return -1;
	return explorer_view_read(req->store, ret_scope->organization.text, param(req, "explorer_view"), ret_rows, err);
}

static int view_show(struct request *req, struct response *res, int status, const struct rows *rows, struct err *err)
{
	return respond_row(req, res, status, &(struct resource_rows){&kind_views, rows}, err);
}

static int view_show_id(
	struct request *req, struct response *res, const struct scope *scope, const char *id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (explorer_view_read(req->store, scope->organization.text, id, &rows, err) < 0)
		return -1;
	return view_show(req, res, text_equal(req->http->method, "POST") ? 201 : 200, &rows, err);
}

int explorer_views_read(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct scope scope;

	if (view_in_path(req, &scope, &rows, err) < 0)
		return -1;
	return view_show(req, res, 200, &rows, err);
}

/* ---- changes ---- */

/* A member of the body: of the attributes, with either spelling, or beside them. */
static const json_t *body_member(const struct request *req, const char *name, const char *snake)
{
	const json_t *data = json_at(req->body, "data"), *inner = json_at(data, "attributes");
	const json_t *found = json_object_get(inner, name);

	if (!found)
		found = json_object_get(inner, snake);
	if (!found)
		found = json_object_get(data, name);
	return found ? found : json_object_get(data, snake);
}

static int name_read(const struct request *req, const char **name, struct err *err)
{
	static const char pointer[] = "/data/attributes/name";
	const json_t *value = body_member(req, "name", "name");

	if (value && !json_is_string(value))
		return err_at(err, pointer, "Name must be a text");
	if (value)
		*name = json_string_value(value);
	for (const char *at = text_or_empty(*name); *at; at++)
		if ((unsigned char)*at < ' ' || *at == 127)
			return err_at(err, pointer, "Name must not have control characters");
	if (!*text_or_empty(*name) || strlen(*name) > MAX_NAME)
		return err_at(err, pointer, "Name must have 1 to %d characters", MAX_NAME);
	return 0;
}

/* Reads the type, and makes a query of it. */
static int type_read(const struct request *req, const char **type, struct explorer_query *ret_query, struct err *err)
{
	static const char pointer[] = "/data/attributes/query-type";
	const json_t *value = body_member(req, "query-type", "query_type");
	const char *inner = json_string_at(body_member(req, "query", "query"), "type");
	struct err why = ERR_INIT;

	if (value && !json_is_string(value))
		return err_at(err, pointer, "Query type must be a text");
	if (value || inner)
		*type = value ? json_string_value(value) : inner;
	if (!*text_or_empty(*type))
		return err_at(err, pointer, "Query type can't be blank");
	return explorer_query_init(ret_query, *type, &why) < 0 ? err_at(err, pointer, "Query %s", why.message) : 0;
}

/* Values that the body does not have stay as they are. The query gets its type as a member. */
static int input_read(const struct request *req, struct explorer_view_input *input, json_t **query, struct err *err)
{
	const json_t *value = body_member(req, "query", "query");
	struct explorer_query compiled;
	struct err why = ERR_INIT;
	int result;

	if (body_check(req, "explorer-saved-queries", err) < 0 || name_read(req, &input->name, err) < 0 ||
		type_read(req, &input->query_type, &compiled, err) < 0)
		return -1;
	if (value) {
		json_decref(*query);
		*query = json_deep_copy(value);
	}
	result = explorer_query_document(&compiled, *query, &why);
	explorer_query_release(&compiled);
	if (result < 0)
		return err_at(err, "/data/attributes/query", "%s", why.message);
	json_object_set_new(*query, "type", json_string(input->query_type));
	input->query = *query;
	return 0;
}

int explorer_views_create(struct request *req, struct response *res, struct err *err)
{
	struct explorer_view_input input = {.created_by = text_or_null(req->actor.user.text)};
	json_auto_t *query = json_object();
	struct scope scope;
	struct id id;

	if (scope_organization(req, &scope, err) < 0 || input_read(req, &input, &query, err) < 0 ||
		explorer_view_create(req->store, scope.organization.text, &input, &id, err) < 0)
		return -1;
	return view_show_id(req, res, &scope, id.text, err);
}

/* The view that the path names, if the actor may change it. */
static int view_to_change(const struct request *req, struct scope *ret_scope, struct rows *ret_rows, struct err *err)
{
	if (view_in_path(req, ret_scope, ret_rows, err) < 0)
		return -1;
	if (text_equal(row_of(explorer_view, ret_rows, 0)->created_by, req->actor.user.text))
		return 0;
	return may_with(req, CAN_MANAGE_ORGANIZATION, (struct place){.organization = ret_scope->organization.text},
		"saved view", err);
}

int explorer_views_update(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct explorer_view_row *row;
	struct explorer_view_input input;
	json_auto_t *query = NULL;
	struct scope scope;

	if (view_to_change(req, &scope, &rows, err) < 0)
		return -1;
	row = row_of(explorer_view, &rows, 0);
	query = json_shown(row->query);
	input = (struct explorer_view_input){.name = row->name, .query_type = row->query_type};
	if (input_read(req, &input, &query, err) < 0 || explorer_view_update(req->store, row->id, &input, err) < 0)
		return -1;
	return view_show_id(req, res, &scope, row->id, err);
}

/* The answer has the view, as its documentation says. */
int explorer_views_delete(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct scope scope;

	if (view_to_change(req, &scope, &rows, err) < 0 ||
		explorer_view_delete(req->store, row_of(explorer_view, &rows, 0)->id, err) < 0)
		return -1;
	return view_show(req, res, 200, &rows, err);
}

/* ---- results ---- */

static int answer(struct request *req, struct response *res,
	int (*respond)(struct request *req, struct response *res, const char *organization_id,
		struct explorer_query *query, struct err *err),
	struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct explorer_view_row *row;
	json_auto_t *document = NULL;
	struct explorer_query query;
	struct scope scope;
	int result;

	if (view_in_path(req, &scope, &rows, err) < 0)
		return -1;
	row = row_of(explorer_view, &rows, 0);
	document = json_shown(row->query);
	if (explorer_query_init(&query, row->query_type, err) < 0)
		return -1;
	result = explorer_query_document(&query, document, err);
	if (result == 0)
		result = respond(req, res, scope.organization.text, &query, err);
	explorer_query_release(&query);
	return result;
}

int explorer_views_results(struct request *req, struct response *res, struct err *err)
{
	return answer(req, res, explorer_respond, err);
}

int explorer_views_csv(struct request *req, struct response *res, struct err *err)
{
	return answer(req, res, explorer_respond_csv, err);
}
