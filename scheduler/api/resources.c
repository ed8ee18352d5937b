/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/resources.h"

#include <stdlib.h>

#include "scheduler/api/include_resolver.h"

static int include(const struct request *req, const struct resource_kind *kind, json_t *resources,
	json_t **ret_included, struct err *err)
{
	if (kind->include)
		return kind->include(req, resources, ret_included, err);
	return includes_follow(req, kind, resources, ret_included, err);
}

/* A column of the first row, which every list must have. */
static const void *list_cell(const struct rows *rows, const char *name)
{
	const struct db_field *column = shape_column(rows->shape, name);

	if (!column)
		abort();
	return (const char *)row_cells(rows, 0) + column->at;
}

static long long rows_total(const struct rows *rows)
{
	return *(const long long *)list_cell(rows, "total");
}

/* Whether the first row is one of the list: an empty page has a row of nulls. */
static bool rows_listed(const struct rows *rows)
{
	return *(const char *const *)list_cell(rows, "id");
}

int respond_row(
	struct request *req, struct response *res, int status, const struct resource_rows *rows, struct err *err)
{
	json_auto_t *data = json_array();
	json_t *included = NULL;

	if (rows_show(req->store, rows->kind, rows->rows, data, err) < 0 ||
		include(req, rows->kind, data, &included, err) < 0)
		return -1;
	return respond_including(res, status, json_incref(json_array_get(data, 0)), included);
}

int respond_rows(
	struct request *req, struct response *res, struct page *page, const struct resource_rows *rows, struct err *err)
{
	json_auto_t *data = json_array();
	json_t *included = NULL;

	page->total = rows_total(rows->rows);
	page->none = rows->kind->no_page;
	if ((rows_listed(rows->rows) && rows_show(req->store, rows->kind, rows->rows, data, err) < 0) ||
		include(req, rows->kind, data, &included, err) < 0)
		return -1;
	return respond_page(req, res, page, json_incref(data), included);
}

/* Reads the page into ret_rows. */
static int page_of_list(const struct request *req, const struct resource_list *list, const struct page *page,
	struct rows *ret_rows, struct err *err)
{
	struct scope scope = {.workspace_name = ""};

	if (list->scope && list->scope(req, &scope, err) < 0)
		return -1;
	return list->read(req, &scope, page, ret_rows, err);
}

int respond_list(struct request *req, struct response *res, const struct resource_list *list, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct page page;

	if ((list->kind->includes && includes_check(req, list->kind, err) < 0) || page_read(req, &page, err) < 0 ||
		page_of_list(req, list, &page, &rows, err) < 0)
		return -1;
	return respond_rows(req, res, &page, &(struct resource_rows){list->kind, &rows}, err);
}

int respond_whole_list(struct request *req, struct response *res, const struct resource_list *list, struct err *err)
{
	static const struct page all = {.number = 1, .size = MAX_WHOLE_LIST};
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	json_auto_t *data = json_array();
	json_t *included = NULL;

	if (query(req, "page[number]") || query(req, "page[size]"))
		return respond_list(req, res, list, err);
	if ((list->kind->includes && includes_check(req, list->kind, err) < 0) ||
		page_of_list(req, list, &all, &rows, err) < 0 ||
		(rows_listed(&rows) && rows_show(req->store, list->kind, &rows, data, err) < 0) ||
		include(req, list->kind, data, &included, err) < 0)
		return -1;
	return respond_including(res, 200, json_incref(data), included);
}
