/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/api.h"
#include "scheduler/api/workspaces/projects.h"
#include "scheduler/http/relations.h"
#include "scheduler/store/workspaces/workspaces.h"

/* Each workspace may come from a different project, so the permission is checked for each. */
static int may_move_all(const struct request *req, struct place place, const json_t *ids, struct err *err)
{
	const json_t *id;
	size_t i;

	if (may_with(req, CAN_MOVE_WORKSPACE, place, "project", err) < 0)
		return -1;
	place.project = NULL;
	json_array_foreach(ids, i, id)
	{
		place.workspace = json_string_value(id);
		if (may_with(req, CAN_MOVE_WORKSPACE, place, "workspace", err) < 0)
			return -1;
	}
	return 0;
}

int project_workspaces_move(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	json_auto_t *ids = NULL;
	struct place place;

	if (project_in_path(req, &rows, err) < 0 || body_linkage(req, "workspaces", &ids, err) < 0)
		return -1;
	place = place_of_project(row_of(project, &rows, 0));
	if (may_move_all(req, place, ids, err) < 0 ||
		workspaces_move(req->store, place.organization, place.project, ids, err) < 0)
		return -1;
	return respond_empty(res, 204);
}
