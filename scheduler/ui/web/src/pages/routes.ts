// SPDX-License-Identifier: MPL-2.0
// The pages of the bundle. Each is a module that loads when its address is opened. The server answers every address of
// the web UI (scheduler/api/routes.def); an address without a row here reads as not found.

import type { Route } from "../core/router.ts";

export const routes: readonly Route[] = [
	{ pattern: "/app", load: () => import("./organizations/organizations.tsx") },
	{ pattern: "/app/:org/workspaces", load: () => import("./workspaces/workspaces.tsx") },
	{ pattern: "/app/:org/runs", load: () => import("./runs/organization_runs.tsx") },
	{ pattern: "/app/:org/projects/:project", load: () => import("./projects/project.tsx") },
	{ pattern: "/app/:org/workspaces/:ws", load: () => import("./workspace/overview.tsx") },
	{ pattern: "/app/:org/workspaces/:ws/runs", load: () => import("./workspace/runs.tsx") },
	{ pattern: "/app/:org/workspaces/:ws/runs/:run", load: () => import("./run/run.tsx") },
	{ pattern: "/app/:org/workspaces/:ws/states", load: () => import("./workspace_states/states.tsx") },
	{ pattern: "/app/:org/workspaces/:ws/states/:state", load: () => import("./workspace_states/state.tsx") },
	{ pattern: "/app/:org/workspaces/:ws/variables", load: () => import("./workspace_variables/variables.tsx") },
	{ pattern: "/app/:org/workspaces/:ws/settings/general", load: () => import("./workspace_settings/general.tsx") },
	{ pattern: "/app/:org/workspaces/:ws/settings/locking", load: () => import("./workspace_settings/locking.tsx") },
	{ pattern: "/app/:org/workspaces/:ws/settings/run-tasks", load: () => import("./workspace_settings/run_tasks.tsx") },
	{ pattern: "/app/:org/workspaces/:ws/settings/team-access", load: () => import("./workspace_settings/team_access.tsx") },
	{ pattern: "/app/:org/workspaces/:ws/settings/notifications", load: () => import("./workspace_settings/notifications.tsx") },
	{ pattern: "/app/:org/workspaces/:ws/settings/remote-state", load: () => import("./workspace_settings/remote_state.tsx") },
	{ pattern: "/app/:org/workspaces/:ws/settings/destruction", load: () => import("./workspace_settings/destruction.tsx") },
	{ pattern: "/app/admin/queue", load: () => import("./queue/admin_queue.tsx") },
	{ pattern: "/app/settings/keyboard", load: () => import("./user_settings/keyboard.tsx") },
	{ pattern: "/app/settings/theme", load: () => import("./user_settings/theme.tsx") },
	{ pattern: "/app/:org/queue", load: () => import("./queue/queue.tsx") },
	{ pattern: "/app/:org/settings/general", load: () => import("./org_settings/general.tsx") },
	{ pattern: "/app/:org/settings/teams", load: () => import("./org_settings/teams.tsx") },
	{ pattern: "/app/:org/settings/members", load: () => import("./org_settings/members.tsx") },
	{ pattern: "/app/:org/settings/agent-pools", load: () => import("./org_settings/agent_pools.tsx") },
	{ pattern: "/app/:org/settings/run-tasks", load: () => import("./org_settings/run_tasks.tsx") },
	{ pattern: "/app/:org/settings/policy-sets", load: () => import("./org_settings/policy_sets.tsx") },
	{ pattern: "/app/:org/settings/policies", load: () => import("./org_settings/policies.tsx") },
	{ pattern: "/app/:org/settings/variable-sets", load: () => import("./org_settings/variable_sets.tsx") },
	{ pattern: "/app/:org/settings/tokens", load: () => import("./org_settings/tokens.tsx") },
	{ pattern: "/app/:org/settings/notifications", load: () => import("./org_settings/notifications.tsx") },
	{ pattern: "/app/:org/settings/audit-trail", load: () => import("./org_settings/audit_trail.tsx") },
];
