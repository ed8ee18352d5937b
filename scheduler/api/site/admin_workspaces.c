/* SPDX-License-Identifier: MPL-2.0 */
#include <string.h>

#include "scheduler/api/api.h"
#include "scheduler/api/include_resolver.h"
#include "scheduler/api/kinds.h"
#include "scheduler/api/resources.h"
#include "scheduler/store/workspaces/site_workspaces.h"
#include "scheduler/store/workspaces/site_workspaces.sql.h"
#include "scheduler/store/workspaces/workspaces.h"

/* All workspaces of the installation, for site admins. */

static json_t *admin_workspace_resource(const void *of_row)
{
	const struct site_workspace_row *row = of_row;
	_cleanup_(freep) char *self =
		mem_printf("/api/v2/organizations/%s/workspaces/%s", row->organization_name, row->name);
	json_t *repository = row->identifier ? json_pack("{ss}", "identifier", row->identifier) : json_null();
	json_t *resource = resource_new("workspaces", row->id,
		json_pack("{ss sb so}", "name", row->name, "locked", row->is_locked, "vcs-repo", repository),
		json_pack("{so so}", "organization", to_one("organizations", row->organization_name), "current-run",
			to_one("runs", row->run_id)));

	json_object_set_new(resource, "links", json_pack("{ss}", "self", self));
	return resource;
}

static const struct inclusion includes[] = {
	{"organization", "workspaces", "organization", &kind_organizations},
	{"organization.owners", "organizations", "owners", NULL},
	{"current_run", "workspaces", "current-run", &kind_runs},
};

static const struct resource_kind kind_admin_workspaces = {
	.type = "workspaces", .show = admin_workspace_resource, KIND_INCLUDES(includes)};

static int list_read(const struct request *req, struct site_workspaces *list, struct page *page, struct err *err)
{
	static const char *const orders[] = {"name", "current-run.created-at", "latest-change-at"};
	size_t known = 0;

	if (includes_check(req, &kind_admin_workspaces, err) < 0 || page_read(req, page, err) < 0)
		return -1;
	list->search = text_or_null(query(req, "q"));
	list->statuses = text_or_null(query(req, "filter[current_run][status]"));
	list->sort = text_or_null(query(req, "sort"));
	while (known < ARRAY_LEN(orders) && list->sort && !text_equal(list->sort + (*list->sort == '-'), orders[known]))
		known++;
	if (known == ARRAY_LEN(orders))
		return err_set(err, ERR_MALFORMED,
			"sort must be name, current-run.created-at or latest-change-at, or one of them after a hyphen");
	list->limit = page->size;
	list->offset = page->offset;
	return 0;
}

/* Adds the numbers of workspaces by status, which count all of them, to the document's `meta`. */
static int counts_add(struct store *store, json_t *meta, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	json_t *counts;
	long long total = 0;

	if (site_workspaces_count(store, &rows, err) < 0)
		return -1;
	counts = json_pack("{si}", "none", 0);
	for (int i = 0; i < rows.count; i++) {
		const struct site_workspaces_count_row *row = row_of(site_workspaces_count, &rows, i);
		_cleanup_(freep) char *name = mem_text(row->status ? row->status : "none");

		for (char *at = name; (at = strchr(at, '_'));)
			*at = '-';
		json_object_set_new(counts, name, json_integer(row->workspaces));
		total += row->workspaces;
	}
	json_object_set_new(counts, "total", json_integer(total));
	json_object_set_new(meta, "status-counts", counts);
	return 0;
}

int admin_workspaces_index(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct site_workspaces list = {.id = NULL};
	json_auto_t *meta = json_object();
	struct page page;

	if (list_read(req, &list, &page, err) < 0 || site_workspaces_list(req->store, &list, &rows, err) < 0 ||
		counts_add(req->store, meta, err) < 0)
		return -1;
	page.meta = meta;
	return respond_rows(req, res, &page, &(struct resource_rows){&kind_admin_workspaces, &rows}, err);
}

static int workspace_find(struct request *req, struct rows *ret_rows, struct err *err)
{
	const struct site_workspaces list = {.id = param(req, "workspace"), .limit = 1};

	if (site_workspaces_list(req->store, &list, ret_rows, err) < 0)
		return -1;
	if (!row_of(site_workspace, ret_rows, 0)->id)
		return err_set(err, ERR_NOT_FOUND, "workspace not found");
	return 0;
}

int admin_workspaces_read(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (includes_check(req, &kind_admin_workspaces, err) < 0 || workspace_find(req, &rows, err) < 0)
		return -1;
	return respond_row(req, res, 200, &(struct resource_rows){&kind_admin_workspaces, &rows}, err);
}

int admin_workspaces_delete(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (workspace_find(req, &rows, err) < 0 ||
		workspace_delete(req->store, param(req, "workspace"), false, err) < 0)
		return -1;
	return respond_empty(res, 204);
}
