/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/api.h"
#include "scheduler/api/kinds.h"
#include "scheduler/api/workspaces/workspaces.h"
#include "scheduler/http/relations.h"
#include "scheduler/http/scope.h"
#include "scheduler/store/workspaces/remote_state.h"
#include "scheduler/store/workspaces/remote_state.sql.h"
#include "scheduler/store/workspaces/workspaces.h"
#include "scheduler/store/workspaces/workspaces.sql.h"

int consumers_index(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows found = ROWS_INIT, rows = ROWS_INIT;
	_cleanup_(db_array_release) struct db_array ids = DB_ARRAY_INIT;
	struct scope scope;
	struct page page;
	json_t *data;

	if (page_read(req, &page, err) < 0 || scope_workspace(req, &scope, err) < 0 ||
		consumers_list(
			req->store, scope.workspace.text, (struct list_range){page.size, page.offset}, &found, err) < 0)
		return -1;
	page.total = row_of(consumers_list, &found, 0)->total;
	for (int i = 0; i < found.count; i++)
		db_array_add(&ids, row_of(consumers_list, &found, i)->id);
	if (kind_read(req->store, &kind_workspaces, &ids, &rows, err) < 0)
		return -1;
	data = json_array();
	for (int i = 0; i < rows.count; i++)
		json_array_append_new(data, workspace_resource(req->store, row_of(workspace_view, &rows, i)));
	return respond_page(req, res, &page, data, NULL);
}

static int consumers_change(struct request *req, struct response *res,
	int (*change)(struct store *store, const char *workspace_id, const json_t *ids, struct err *err),
	struct err *err)
{
	json_auto_t *ids = NULL;
	struct scope scope;

	if (scope_workspace(req, &scope, err) < 0 || body_linkage(req, "workspaces", &ids, err) < 0 ||
		change(req->store, scope.workspace.text, ids, err) < 0)
		return -1;
	return respond_empty(res, 204);
}

int workspace_consumers_add(struct request *req, struct response *res, struct err *err)
{
	return consumers_change(req, res, consumers_add, err);
}

int workspace_consumers_replace(struct request *req, struct response *res, struct err *err)
{
	return consumers_change(req, res, consumers_replace, err);
}

int workspace_consumers_remove(struct request *req, struct response *res, struct err *err)
{
	return consumers_change(req, res, consumers_remove, err);
}
