/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/explorer/explorer_answers.h"

#include <string.h>

#include "scheduler/store/explorer/explorer.h"
#include "scheduler/store/explorer/explorer.sql.h"

/* A list of names in an answer is cut off after this many bytes. An export has all of them. */
enum { MAX_LIST = 16 << 10, MAX_CSV = 256 << 20 };

/* ---- one page ---- */

/* The list up to its last comma within the limit, with an ellipsis. */
static json_t *list_cut(const char *list)
{
	size_t len = MAX_LIST;
	_cleanup_(freep) char *cut = NULL;

	while (len && list[len] != ',')
		len--;
	cut = mem_printf("%.*s, ...", (int)len, list);
	return json_string(cut);
}

static json_t *value_shown(const struct explorer_field *field, json_t *value)
{
	const char *text = json_string_value(value);

	if (!value)
		return json_null();
	if (field->kind == EXPLORER_TIME)
		return time_shown(text);
	if (text && strlen(text) > MAX_LIST)
		return list_cut(text);
	return json_incref(value);
}

static json_t *row_resource(const struct explorer_query *query, const struct explorer_row_row *row)
{
	json_auto_t *values = json_shown(row->attributes);
	json_t *attributes = json_object();

	for (size_t i = 0; i < query->shown_count; i++)
		json_object_set_new(attributes, query->shown[i]->shown,
			value_shown(query->shown[i], json_object_get(values, query->shown[i]->name)));
	return resource_new(query->view.type, row->id, attributes, NULL);
}

int explorer_respond(struct request *req, struct response *res, const char *organization_id,
	struct explorer_query *query, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct explorer_row_row *row;
	struct page page;
	json_t *data;

	if (page_read(req, &page, err) < 0 ||
		explorer_run(req->store, organization_id, query, (struct list_range){page.size + 1, page.offset}, &rows,
			err) < 0)
		return -1;
	row = row_of(explorer_row, &rows, 0);
	page.total = row->total_null ? -1 : row->total;
	page.more = rows.count > page.size;
	data = json_array();
	for (int i = 0; i < rows.count && i < page.size; i++) {
		row = row_of(explorer_row, &rows, i);
		if (row->id)
			json_array_append_new(data, row_resource(query, row));
	}
	return respond_page(req, res, &page, data, NULL);
}

/* ---- CSV ---- */

void explorer_cell(struct buf *csv, const char *text, bool defuse)
{
	buf_text(csv, defuse && *text && strchr("=+-@\t\r", *text) ? "\"'" : "\"");
	for (size_t len; *text; text += len) {
		len = strcspn(text, "\"");
		buf_append(csv, text, len);
		if (text[len] == '"') {
			buf_text(csv, "\"\"");
			len++;
		}
	}
	buf_text(csv, "\"");
}

static void value_cell(struct buf *csv, const struct explorer_field *field, json_t *value)
{
	json_auto_t *time = field->kind == EXPLORER_TIME ? time_shown(json_string_value(value)) : NULL;
	const json_t *shown = time ? time : value;
	_cleanup_(freep) char *other =
		!shown || json_is_null(shown) || json_is_string(shown) ? mem_text("") : json_text(shown);

	explorer_cell(csv, json_is_string(shown) ? json_string_value(shown) : other, json_is_string(shown));
}

static void row_cells_add(struct buf *csv, const struct explorer_query *query, const struct explorer_row_row *row)
{
	json_auto_t *values = json_shown(row->attributes);

	for (size_t i = 0; i < query->shown_count; i++) {
		buf_text(csv, i ? "," : "");
		value_cell(csv, query->shown[i], json_object_get(values, query->shown[i]->name));
	}
	buf_text(csv, "\r\n");
}

static int csv_write(const struct explorer_query *query, const struct rows *rows, struct buf *csv, struct err *err)
{
	for (size_t i = 0; i < query->shown_count; i++) {
		buf_text(csv, i ? "," : "");
		buf_text(csv, query->shown[i]->name);
	}
	buf_text(csv, "\r\n");
	for (int i = 0; i < rows->count; i++)
		if (row_of(explorer_row, rows, i)->id)
			row_cells_add(csv, query, row_of(explorer_row, rows, i));
	return csv->len < MAX_CSV ? 0 : err_set(err, ERR_TOO_LARGE, "the export is too large: use filters");
}

int explorer_respond_csv(struct request *req, struct response *res, const char *organization_id,
	struct explorer_query *query, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(buf_release) struct buf csv = BUF_INIT(MAX_CSV);

	if (explorer_run(req->store, organization_id, query, (struct list_range){EXPLORER_MAX_EXPORT + 1, 0}, &rows,
		    err) < 0)
		return -1;
	if (rows.count > EXPLORER_MAX_EXPORT)
		return err_set(err, ERR_MALFORMED,
			"the result has more than %d rows, which is the most of an export: use filters",
			EXPLORER_MAX_EXPORT);
	if (csv_write(query, &rows, &csv, err) < 0)
		return -1;
	http_add_header(res->http, "Content-Disposition", "attachment; filename=\"explorer.csv\"");
	return respond_bytes(res, "text/csv; charset=utf-8", &csv);
}
