/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/kinds.h"

#include "scheduler/api/access/account.h"
#include "scheduler/api/access/memberships.h"
#include "scheduler/api/access/organizations.h"
#include "scheduler/api/access/teams.h"
#include "scheduler/api/policies/policies.h"
#include "scheduler/api/policies/policy_sets.h"
#include "scheduler/api/runs/cost_estimates.h"
#include "scheduler/api/runs/run_events.h"
#include "scheduler/api/runs/runs.h"
#include "scheduler/api/states/states.h"
#include "scheduler/api/tasks/task_stages.h"
#include "scheduler/api/variables/variables.h"
#include "scheduler/api/workers/pools.h"
#include "scheduler/api/workspaces/configurations.h"
#include "scheduler/api/workspaces/projects.h"
#include "scheduler/api/workspaces/workspaces.h"
#include "scheduler/store/access/memberships.h"
#include "scheduler/store/access/organizations.h"
#include "scheduler/store/access/teams.h"
#include "scheduler/store/access/users.h"
#include "scheduler/store/policies/policies.h"
#include "scheduler/store/policies/policy_set_versions.h"
#include "scheduler/store/runs/cost_estimates.h"
#include "scheduler/store/runs/run_events.h"
#include "scheduler/store/runs/run_views.h"
#include "scheduler/store/states/states.h"
#include "scheduler/store/tasks/task_views.h"
#include "scheduler/store/workspaces/configurations.h"
#include "scheduler/store/workspaces/projects.h"
#include "scheduler/store/workspaces/workspaces.h"

KIND_MAKE(user_make, user_resource)
KIND_MAKE(workspace_make, workspace_resource)
KIND_MAKE(configuration_make, configuration_resource)
KIND_MAKE(task_stage_make, task_stage_resource)
KIND_MAKE(cost_estimate_make, cost_estimate_resource)
KIND_MAKE(comment_make, comment_resource)
KIND_MAKE(team_make, team_resource)
KIND_MAKE(pool_make, pool_resource)
KIND_MAKE(agent_make, agent_resource)
KIND_MAKE(membership_make, membership_resource)
KIND_MAKE(project_make, project_resource)
KIND_MAKE(policy_make, policy_resource)
KIND_MAKE(organization_make, organization_resource)

static int operation_make(struct store *store, const struct rows *rows, int row, json_t **ret_resource, struct err *err)
{
	(void)err;
	*ret_resource = operation_resource(store, rows, row);
	return 0;
}

static int state_make(struct store *store, const struct rows *rows, int row, json_t **ret_resource, struct err *err)
{
	(void)err;
	*ret_resource = state_resource(store, rows, row);
	return 0;
}

static int output_make(struct store *store, const struct rows *rows, int row, json_t **ret_resource, struct err *err)
{
	return state_output_resource(store, rows, row, true, ret_resource, err);
}

static int policy_set_version_make(
	struct store *store, const struct rows *rows, int row, json_t **ret_resource, struct err *err)
{
	(void)err;
	*ret_resource = policy_set_version_resource(store, rows, row);
	return 0;
}

const struct resource_kind kind_users = {"users", users_read_all, user_make};
const struct resource_kind kind_runs = {"runs", run_views_ask, run_resource};
const struct resource_kind kind_plans = {"plans", operation_views_of, operation_make};
const struct resource_kind kind_applies = {"applies", operation_views_of, operation_make};
const struct resource_kind kind_workspaces = {"workspaces", workspaces_read_all, workspace_make};
const struct resource_kind kind_configurations = {
	"configuration-versions", configurations_read_all, configuration_make};
const struct resource_kind kind_states = {"state-versions", states_read_all, state_make};
const struct resource_kind kind_outputs = {"state-version-outputs", state_outputs_read_all, output_make};
const struct resource_kind kind_task_stages = {"task-stages", task_stage_views_of, task_stage_make};
const struct resource_kind kind_cost_estimates = {"cost-estimates", cost_estimate_views_of, cost_estimate_make};
const struct resource_kind kind_teams = {"teams", teams_read_all, team_make};
const struct resource_kind kind_memberships = {"organization-memberships", memberships_read_all, membership_make};
const struct resource_kind kind_comments = {"comments", comment_views_of, comment_make};
const struct resource_kind kind_projects = {"projects", projects_read_all, project_make};
const struct resource_kind kind_variables = {"vars", variables_read_all, variable_resource};
const struct resource_kind kind_policies = {"policies", policies_read_all, policy_make};
const struct resource_kind kind_policy_set_versions = {
	"policy-set-versions", policy_set_versions_read_all, policy_set_version_make};
const struct resource_kind kind_organizations = {"organizations", organizations_read_all, organization_make};
const struct resource_kind kind_pools = {"agent-pools", NULL, pool_make};
const struct resource_kind kind_agents = {"agents", NULL, agent_make};

int kind_read(struct store *store, const struct resource_kind *kind, struct db_array *ids, struct rows *ret_rows,
	struct err *err)
{
	db_gather(store->db);
	return db_gathered(store->db, kind->ask(store, ids, ret_rows, err), err);
}

int rows_show(
	struct store *store, const struct resource_kind *kind, const struct rows *rows, json_t *list, struct err *err)
{
	for (int i = 0; i < rows->count; i++) {
		json_t *resource = NULL;

		if (kind->make(store, rows, i, &resource, err) < 0)
			return -1;
		json_array_append_new(list, resource);
	}
	return 0;
}
