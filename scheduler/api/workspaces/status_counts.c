/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/api.h"
#include "scheduler/http/scope.h"
#include "scheduler/store/workspaces/status_counts.h"
#include "scheduler/store/workspaces/status_counts.sql.h"

int workspaces_status_counts(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const char *projects = query(req, "filter[project][id]");
	long long total = 0, locked = 0, none = 0;
	struct scope scope;
	json_t *statuses;

	if (scope_organization(req, &scope, err) < 0 ||
		workspaces_count_statuses(req->store, scope.organization.text, text_or_null(projects), &rows, err) < 0)
		return -1;
	statuses = json_object();
	for (int i = 0; i < rows.count; i++) {
		const struct workspaces_count_statuses_row *row = row_of(workspaces_count_statuses, &rows, i);

		total += row->workspaces;
		locked += row->locked;
		if (!row->status)
			none = row->workspaces;
		else
			json_object_set_new(statuses, row->status, json_integer(row->workspaces));
	}
	return respond_resource(res, 200,
		resource_new("workspace-status-counts", scope.organization_name,
			json_pack("{sI sI sI so}", "total", (json_int_t)total, "locked", (json_int_t)locked,
				"without-runs", (json_int_t)none, "statuses", statuses),
			NULL));
}
