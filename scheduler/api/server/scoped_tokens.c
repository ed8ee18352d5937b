/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/server/scoped_tokens.h"

#include <string.h>

#include "scheduler/api/api.h"

/* Routes without a workspace that clients of one workspace call. */
static const handler_fn of_client[] = {
	account_details,
	organizations_read,
	organizations_entitlements,
	organizations_capacity,
};

/* Routes of a workspace that show other workspaces. */
static const handler_fn of_others[] = {
	consumers_index,
	workspace_consumers_add,
	workspace_consumers_replace,
	workspace_consumers_remove,
	run_triggers_index,
	run_triggers_create,
	run_triggers_read,
	run_triggers_delete,
	tags_bind,
};

/* Relations of a workspace's objects to objects of the same workspace, and to the people who made them. */
static const char *const own_relations[] = {"actor", "apply", "archived_by_user", "comment", "configuration_version",
	"configuration_version.ingress_attributes", "confirmed_by", "cost_estimate", "created_by", "current_run",
	"current_run.apply", "current_run.configuration_version", "current_run.cost_estimate", "current_run.plan",
	"current_configuration_version", "current_state_version", "current_state_version.outputs",
	"effective_tag_bindings", "ingress_attributes", "last_run", "locked_by", "outputs", "plan", "policy_checks",
	"policy_evaluations", "readme", "run", "run.configuration_version", "run.created_by", "run_as", "run_events",
	"task_results", "task_stages", "workspace"};

static bool listed(const handler_fn *list, size_t count, handler_fn handler)
{
	for (size_t i = 0; i < count; i++)
		if (list[i] == handler)
			return true;
	return false;
}

static bool relation_is_own(const char *name, size_t len)
{
	for (size_t i = 0; i < ARRAY_LEN(own_relations); i++) {
		size_t at = 0;

		while (at < len && (name[at] == '-' ? '_' : name[at]) == own_relations[i][at])
			at++;
		if (at == len && !own_relations[i][len])
			return true;
	}
	return false;
}

static int includes_own(const struct request *req, struct err *err)
{
	const char *at = text_or_empty(query(req, "include"));

	while (*at) {
		size_t len = strcspn(at, ",");

		if (len && !relation_is_own(at, len))
			return err_set(err, ERR_NOT_FOUND,
				"not found: a token of one workspace includes only what belongs to it");
		at += len + (at[len] == ',');
	}
	return 0;
}

int scoped_token_check(const struct request *req, struct err *err)
{
	const struct actor *actor = &req->actor;
	handler_fn handler = req->route->handler;

	if (actor->read_only && !text_equal(req->route->method, "GET"))
		return err_set(err, ERR_FORBIDDEN, "the token only reads");
	if (!actor->only_workspace.text[0])
		return 0;
	if (!listed(of_client, ARRAY_LEN(of_client), handler) &&
		(permission_rows[req->route->permission].where != WORKSPACE ||
			listed(of_others, ARRAY_LEN(of_others), handler)))
		return err_set(err, ERR_NOT_FOUND, "not found");
	return includes_own(req, err);
}
