/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/http/path/path_object.h"

#include "scheduler/store/access/organizations.h"
#include "scheduler/store/runs/run_views.h"
#include "scheduler/store/workspaces/workspaces.h"

static int organization_ask(const struct request *req, struct rows *ret_rows, struct err *err)
{
	return organization_lookup_ask(req->store, param(req, "organization"), ret_rows, err);
}

static int workspace_ask(const struct request *req, struct rows *ret_rows, struct err *err)
{
	return workspace_read_ask(req->store, param(req, "workspace"), ret_rows, err);
}

static int workspace_named_ask(const struct request *req, struct rows *ret_rows, struct err *err)
{
	return workspace_read_named_ask(req->store, param(req, "organization"), param(req, "name"), ret_rows, err);
}

static int run_ask(const struct request *req, struct rows *ret_rows, struct err *err)
{
	return run_view_ask(req->store, param(req, "run"), ret_rows, err);
}

/* The first row whose pattern fits. */
static const struct {
	const char *pattern;
	bool below; /* also the patterns that begin with it */
	enum path_object_kind kind;
	int (*ask)(const struct request *req, struct rows *ret_rows, struct err *err);
} objects[] = {
	{"/api/v2/runs/:run", true, PATH_RUN, run_ask},
	{"/api/v2/workspaces/:workspace", false, PATH_WORKSPACE, workspace_ask},
	{"/api/v2/organizations/:organization/workspaces/:name", false, PATH_WORKSPACE, workspace_named_ask},
	{"/api/v2/organizations/:organization", true, PATH_ORGANIZATION, organization_ask},
};

static bool object_fits(const struct route *route, size_t i)
{
	return objects[i].below ? text_starts(route->pattern, objects[i].pattern)
				: text_equal(route->pattern, objects[i].pattern);
}

int path_object_ask(struct request *req, const struct response_scope *guess, struct err *err)
{
	struct path_object *object = req->object;
	size_t i = 0;
	int result;

	if (!object || !text_equal(req->route->method, "GET"))
		return 0;
	while (i < ARRAY_LEN(objects) && !object_fits(req->route, i))
		i++;
	if (i == ARRAY_LEN(objects))
		return 0;
	object->kind = objects[i].kind;
	req->store->scope = guess;
	result = objects[i].ask(req, &object->rows, err);
	req->store->scope = NULL;
	return result;
}

bool path_object_take(const struct request *req, enum path_object_kind kind, struct rows *ret_rows)
{
	struct path_object *object = req->object;

	if (!object || object->kind != kind)
		return false;
	*ret_rows = object->rows;
	*object = (struct path_object){.kind = PATH_NOTHING};
	return true;
}

void path_object_release(struct path_object *object)
{
	if (!object)
		return;
	rows_release(&object->rows);
	object->kind = PATH_NOTHING;
}
