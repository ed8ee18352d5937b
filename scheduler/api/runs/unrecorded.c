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

static int resource_make(struct store *store, const void *of_row, json_t **ret_resource, struct err *err)
{
	const struct unrecorded_row *resource = of_row;
	_cleanup_(buf_release) struct buf id = BUF_INIT(ID_LIMIT);

	if (unrecorded_resource_id(store, resource, &id, err) < 0)
		return -1;
	*ret_resource = resource_new("unrecorded-resources", resource->id,
		json_pack("{ss ss ss ss so ss so so}", "address", resource->address, "resource-type", resource->type,
			"provider", resource->provider, "action", resource->action, "resource-id",
			json_string_or_null(id.len ? buf_str(&id) : NULL), "status",
			resource->dismissed_at ? "dismissed" : "open", "created-at", time_shown(resource->created_at),
			"dismissed-at", time_shown(resource->dismissed_at)),
		json_pack("{so so}", "run", to_one("runs", resource->run_id), "dismissed-by",
			to_one("users", resource->dismissed_by)));
	return 0;
}

static const struct resource_kind kind_unrecorded = {.type = "unrecorded-resources", .make = resource_make};

static int of_run_in_path(struct request *req, struct rows *ret_rows, struct err *err)
{
	_cleanup_(rows_release) struct rows run = ROWS_INIT;

	return run_in_path(req, &run, err) < 0 ? -1 : unrecorded_of_run(req->store, run_of(&run)->id, ret_rows, err);
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
	return may(req, place_of(row_of(unrecorded, ret_rows, 0)), "unrecorded resource", err);
}

static int show(struct request *req, struct response *res, const struct rows *rows, struct err *err)
{
	json_t *resource = NULL;

	if (resource_make(req->store, row_of(unrecorded, rows, 0), &resource, err) < 0)
		return -1;
	return respond_resource(res, 200, resource);
}

int unrecorded_read(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	return in_path(req, &rows, err) < 0 ? -1 : show(req, res, &rows, err);
}

/* ---- import blocks ---- */

static int import_block(struct store *store, const struct unrecorded_row *resource, struct buf *out, struct err *err)
{
	_cleanup_(buf_release) struct buf id = BUF_INIT(ID_LIMIT);

	if (unrecorded_resource_id(store, resource, &id, err) < 0)
		return -1;
	if (!id.len) {
		buf_printf(out, "# %s: its id is not known.\n\n", resource->address);
		return 0;
	}
	buf_printf(out, "import {\n  to = %s\n  id = ", resource->address);
	applied_quote(out, buf_str(&id));
	buf_text(out, "\n}\n\n");
	return 0;
}

int unrecorded_import_blocks(struct store *store, const struct rows *rows, struct buf *out, struct err *err)
{
	for (int i = 0; i < rows->count; i++) {
		const struct unrecorded_row *resource = row_of(unrecorded, rows, i);

		if (!resource->dismissed_at && !text_equal(resource->action, "delete") &&
			import_block(store, resource, out, err) < 0)
			return -1;
	}
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
	const char *id = param(req, "unrecorded");

	if (in_path(req, &before, err) < 0 ||
		hold_dismiss(req->store, row_of(unrecorded, &before, 0)->run_id, id, req->actor.user.text, err) < 0 ||
		unrecorded_view(req->store, id, &after, err) < 0)
		return -1;
	return show(req, res, &after, err);
}

int unrecorded_dismiss_all(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows run = ROWS_INIT;

	if (run_in_path(req, &run, err) < 0 ||
		hold_dismiss(req->store, run_of(&run)->id, NULL, req->actor.user.text, err) < 0)
		return -1;
	return respond_empty(res, 204);
}
