/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/includes.h"

#include "scheduler/api/account.h"
#include "scheduler/api/configurations.h"
#include "scheduler/api/organizations.h"
#include "scheduler/api/projects.h"
#include "scheduler/api/runs.h"
#include "scheduler/api/states.h"
#include "scheduler/store/configurations.h"
#include "scheduler/store/organizations.h"
#include "scheduler/store/run_views.h"
#include "scheduler/store/states.h"
#include "scheduler/store/users.h"

const char *const workspace_includes_known[] = {"organization", "project", "current-run", "current-run.plan",
	"current-run.configuration-version", "current-run.configuration-version.ingress-attributes",
	"current-configuration-version", "current-configuration-version.ingress-attributes", "current-state-version",
	"locked-by", "outputs", "readme", "effective-tag-bindings", NULL};

/* Each makes the resource that a relation points to. */

static int organization_included(struct store *store, const char *id, json_t **ret_resource, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (organization_read(store, id, &rows, err) < 0)
		return -1;
	*ret_resource = organization_resource(&rows, 0);
	return 0;
}

static int state_included(struct store *store, const char *id, json_t **ret_resource, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (state_read(store, id, &rows, err) < 0)
		return -1;
	*ret_resource = state_resource(store, &rows, 0);
	return 0;
}

static int configuration_included(struct store *store, const char *id, json_t **ret_resource, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (configuration_read(store, id, &rows, err) < 0)
		return -1;
	*ret_resource = configuration_resource(&rows, 0);
	return 0;
}

static int user_included(struct store *store, const char *id, json_t **ret_resource, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (user_read(store, id, &rows, err) < 0)
		return -1;
	*ret_resource = user_resource(&rows, 0);
	return 0;
}

static int run_included(struct store *store, const char *id, json_t **ret_resource, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (run_view(store, id, &rows, err) < 0)
		return -1;
	return run_resource(store, &rows, 0, ret_resource, err);
}

static int plan_included(struct store *store, const char *id, json_t **ret_resource, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (operation_view(store, id, &rows, err) < 0)
		return -1;
	*ret_resource = operation_resource(store, &rows);
	return 0;
}

static const struct include {
	const char *name;     /* in the request */
	const char *relation; /* of what was included before it (the workspace, or its run) */
	const char *type;     /* that the relation points to */
	int (*make)(struct store *store, const char *id, json_t **ret_resource, struct err *err);
} of_workspace[] =
	{
		{"organization", "organization", "organizations", organization_included},
		{"project", "project", "projects", project_included},
		{"current-state-version", "current-state-version", "state-versions", state_included},
		{"current-configuration-version", "current-configuration-version", "configuration-versions",
			configuration_included},
		{"locked-by", "locked-by", "users", user_included},
		{"locked-by", "locked-by", "runs", run_included},
		{"current-run", "current-run", "runs", run_included},
},
  of_run[] = {
	  {"current-run.plan", "plan", "plans", plan_included},
	  {"current-run.configuration-version", "configuration-version", "configuration-versions",
		  configuration_included},
};

static bool holds(const json_t *list, const char *type, const char *id)
{
	const json_t *item;
	size_t i;

	json_array_foreach(list, i, item)
	{
		if (text_equal(json_string_at(item, "type"), type) && text_equal(json_string_at(item, "id"), id))
			return true;
	}
	return false;
}

/* Adds what a resource's relation points to, if it is asked for and not there yet. */
static int include_related(const struct request *req, const struct include *include, const json_t *resource,
	json_t *included, struct err *err)
{
	const json_t *relation = json_object_get(json_at(resource, "relationships"), include->relation);
	const char *id = json_string_at(relation, "data.id");
	json_t *related;

	if (!id || !query_includes(req, include->name) || holds(included, include->type, id) ||
		!text_equal(json_string_at(relation, "data.type"), include->type))
		return 0;
	if (include->make(req->store, id, &related, err) < 0)
		return -1;
	json_array_append_new(included, related);
	return 0;
}

/* Outputs of a workspace have a type of their own, with fewer attributes (API 5.2). */
static int include_outputs(const struct request *req, json_t *workspace, json_t *included, struct err *err)
{
	const char *state = json_string_at(workspace, "relationships.current-state-version.data.id");
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	json_t *links = json_array();

	json_object_set_new(json_object_get(workspace, "relationships"), "outputs", json_pack("{s:o}", "data", links));
	if (!state || state_outputs(req->store, state, &rows, err) < 0)
		return state ? -1 : 0;
	for (int i = 0; i < rows.count; i++) {
		const char *id = row_text(&rows, i, "id");
		bool sensitive = row_bool(&rows, i, "sensitive");
		json_t *value = NULL;

		if (!sensitive && state_output_value(req->store, &rows, i, &value, err) < 0)
			return -1;
		json_array_append_new(links, linkage("workspace-outputs", id));
		json_array_append_new(included,
			resource_new("workspace-outputs", id,
				json_pack("{s:o, s:b, s:o, s:o}", "name", row_string(&rows, i, "name"), "sensitive",
					sensitive, "output-type", row_string(&rows, i, "type"), "value",
					value ? value : json_null()),
				NULL));
	}
	return 0;
}

/* What the workspace's run points to; the run itself may not be asked for. */
static int include_of_run(const struct request *req, const json_t *workspace, json_t *included, struct err *err)
{
	const char *id = json_string_at(workspace, "relationships.current-run.data.id");
	json_t *run;
	int result = 0;

	if (!id || (!query_includes(req, of_run[0].name) && !query_includes(req, of_run[1].name)))
		return 0;
	if (run_included(req->store, id, &run, err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(of_run) && result == 0; i++)
		result = include_related(req, &of_run[i], run, included, err);
	if (result == 0 && !holds(included, "runs", id))
		json_array_append(included, run);
	json_decref(run);
	return result;
}

static int include_one(const struct request *req, json_t *workspace, json_t *included, struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(of_workspace); i++)
		if (include_related(req, &of_workspace[i], workspace, included, err) < 0)
			return -1;
	if (query_includes(req, "outputs") && include_outputs(req, workspace, included, err) < 0)
		return -1;
	return include_of_run(req, workspace, included, err);
}

/* What one included resource links back to would lead clients in circles (API 4). */
static void circles_cut(json_t *included)
{
	json_t *item;
	size_t i;

	json_array_foreach(included, i, item)
	{
		if (text_equal(json_string_at(item, "type"), "state-versions"))
			json_object_del(json_object_get(item, "relationships"), "run");
	}
}

int workspace_includes(const struct request *req, json_t *workspaces, json_t **ret_included, struct err *err)
{
	json_auto_t *included = json_array();
	json_t *workspace;
	size_t i;

	*ret_included = NULL;
	if (!query(req, "include"))
		return 0;
	json_array_foreach(workspaces, i, workspace)
	{
		if (include_one(req, workspace, included, err) < 0)
			return -1;
	}
	circles_cut(included);
	*ret_included = json_incref(included);
	return 0;
}
