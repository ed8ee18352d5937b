/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/includes.h"

#include "scheduler/api/configurations.h"
#include "scheduler/api/organizations.h"
#include "scheduler/api/states.h"
#include "scheduler/store/configurations.h"
#include "scheduler/store/organizations.h"
#include "scheduler/store/states.h"

const char *const workspace_includes_known[] = {"organization", "project", "current-run", "current-run.plan",
	"current-run.configuration-version", "current-run.configuration-version.ingress-attributes",
	"current-configuration-version", "current-configuration-version.ingress-attributes", "current-state-version",
	"locked-by", "outputs", "readme", "effective-tag-bindings", NULL};

/* Each makes the resource that a workspace's relation points to. */

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

static const struct {
	const char *relation;
	const char *type; /* what the relation must point to */
	int (*make)(struct store *store, const char *id, json_t **ret_resource, struct err *err);
} includes[] = {
	{"organization", "organizations", organization_included},
	{"current-state-version", "state-versions", state_included},
	{"current-configuration-version", "configuration-versions", configuration_included},
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

static int include_one(const struct request *req, const json_t *workspace, json_t *included, struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(includes); i++) {
		const json_t *relation = json_object_get(json_at(workspace, "relationships"), includes[i].relation);
		const char *id = json_string_at(relation, "data.id");
		json_t *resource;

		if (!query_includes(req, includes[i].relation) || !id || holds(included, includes[i].type, id))
			continue;
		if (includes[i].make(req->store, id, &resource, err) < 0)
			return -1;
		json_array_append_new(included, resource);
	}
	return 0;
}

int workspace_includes(const struct request *req, const json_t *workspaces, json_t **ret_included, struct err *err)
{
	json_auto_t *included = json_array();
	const json_t *workspace;
	size_t i;

	*ret_included = NULL;
	if (!query(req, "include"))
		return 0;
	json_array_foreach(workspaces, i, workspace)
	{
		if (include_one(req, workspace, included, err) < 0)
			return -1;
	}
	*ret_included = json_incref(included);
	return 0;
}
