/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/runs/unrecorded.h"

#include "scheduler/api/api.h"

#include "common/terraform/applied.h"
#include "scheduler/api/kinds.h"
#include "scheduler/api/runs/runs.h"
#include "scheduler/runs/holds.h"
#include "scheduler/store/runs/unrecorded.h"
#include "scheduler/store/runs/unrecorded.sql.h"

enum { ID_LIMIT = 64 << 10, BLOCKS_LIMIT = 16 << 20 };

/* ---- output ---- */

static int resource_make(struct store *store, const struct rows *rows, int row, json_t **ret_resource, struct err *err)
{
	_cleanup_(buf_release) struct buf id = BUF_INIT(ID_LIMIT);
	bool open = !row_of(unrecorded, rows, row)->dismissed_at;

	if (unrecorded_resource_id(store, rows, row, &id, err) < 0)
		return -1;
	*ret_resource = resource_new("unrecorded-resources", row_of(unrecorded, rows, row)->id,
		json_pack("{so so so so so ss so so}", "address",
			json_string_or_null(row_of(unrecorded, rows, row)->address), "resource-type",
			json_string_or_null(row_of(unrecorded, rows, row)->type), "provider",
			json_string_or_null(row_of(unrecorded, rows, row)->provider), "action",
			json_string_or_null(row_of(unrecorded, rows, row)->action), "resource-id",
			json_string_or_null(id.len ? buf_str(&id) : NULL), "status", open ? "open" : "dismissed",
			"created-at", time_shown(row_of(unrecorded, rows, row)->created_at), "dismissed-at",
			time_shown(row_of(unrecorded, rows, row)->dismissed_at)),
		json_pack("{so so}", "run", to_one("runs", row_of(unrecorded, rows, row)->run_id), "dismissed-by",
			to_one("users", row_of(unrecorded, rows, row)->dismissed_by)));
	return 0;
}

static const struct resource_kind kind_unrecorded = {.type = "unrecorded-resources", .make = resource_make};

static int of_run_in_path(struct request *req, struct rows *ret_rows, struct err *err)
{
	_cleanup_(rows_release) struct rows run = ROWS_INIT;

	return run_in_path(req, &run, err) < 0 ? -1
					       : unrecorded_of_run(req->store, row_text(&run, 0, "id"), ret_rows, err);
}

int unrecorded_index(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	json_auto_t *data = json_array();

	if (of_run_in_path(req, &rows, err) < 0 || rows_show(req->store, &kind_unrecorded, &rows, data, err) < 0)
		return -1;
	return respond_resource(res, 200, json_incref(data));
}

static int in_path(struct request *req, struct rows *ret_rows, struct err *err)
{
	if (unrecorded_view(req->store, param(req, "unrecorded"), ret_rows, err) < 0)
		return -1;
	return may(req, place_of(ret_rows), "unrecorded resource", err);
}

static int show(struct request *req, struct response *res, const struct rows *rows, struct err *err)
{
	json_t *resource = NULL;

	if (resource_make(req->store, rows, 0, &resource, err) < 0)
		return -1;
	return respond_resource(res, 200, resource);
}

int unrecorded_read(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	return in_path(req, &rows, err) < 0 ? -1 : show(req, res, &rows, err);
}

/* ---- import blocks ---- */

static int import_block(struct store *store, const struct rows *rows, int row, struct buf *out, struct err *err)
{
	_cleanup_(buf_release) struct buf id = BUF_INIT(ID_LIMIT);

	if (unrecorded_resource_id(store, rows, row, &id, err) < 0)
		return -1;
	if (!id.len) {
		buf_printf(out, "# %s: its id is not known.\n\n", row_of(unrecorded, rows, row)->address);
		return 0;
	}
	buf_printf(out, "import {\n  to = %s\n  id = ", row_of(unrecorded, rows, row)->address);
	applied_quote(out, buf_str(&id));
	buf_text(out, "\n}\n\n");
	return 0;
}

int unrecorded_import_blocks(struct store *store, const struct rows *rows, struct buf *out, struct err *err)
{
	for (int i = 0; i < rows->count; i++)
		if (!row_of(unrecorded, rows, i)->dismissed_at &&
			!text_equal(row_of(unrecorded, rows, i)->action, "delete") &&
			import_block(store, rows, i, out, err) < 0)
			return -1;
	return 0;
}

int unrecorded_imports(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct buf text = BUF_INIT(BLOCKS_LIMIT);

	if (of_run_in_path(req, &rows, err) < 0 || unrecorded_import_blocks(req->store, &rows, &text, err) < 0) {
		buf_release(&text);
		return -1;
	}
	return respond_bytes(res, "text/plain; charset=utf-8", &text);
}

/* ---- dismissing ---- */

int unrecorded_dismiss_one(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows before = ROWS_INIT, after = ROWS_INIT;

	if (in_path(req, &before, err) < 0 ||
		hold_dismiss(req->store, row_of(unrecorded, &before, 0)->run_id,
			row_of(unrecorded, &before, 0)->id, req->actor.user.text, err) < 0 ||
		unrecorded_view(req->store, param(req, "unrecorded"), &after, err) < 0)
		return -1;
	return show(req, res, &after, err);
}

int unrecorded_dismiss_all(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows run = ROWS_INIT;

	if (run_in_path(req, &run, err) < 0 ||
		hold_dismiss(req->store, row_text(&run, 0, "id"), NULL, req->actor.user.text, err) < 0)
		return -1;
	return respond_empty(res, 204);
}
