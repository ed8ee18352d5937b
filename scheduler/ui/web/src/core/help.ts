// SPDX-License-Identifier: MPL-2.0
// Which section of the documentation explains a page.

import { patternMatch } from "./router.ts";

// Patterns with the page and the section below /app/docs. The longest pattern that begins an address counts.
export const helpRows: readonly (readonly [pattern: string, section: string])[] = [
	["/app", ""],
	["/app/:org/workspaces", "users#your-first-workspace"],
	["/app/:org/workspaces/:ws/runs", "users#read-a-run"],
	["/app/:org/workspaces/:ws/states", "users#use-the-state"],
	["/app/:org/workspaces/:ws/variables", "users#variables"],
	["/app/:org/workspaces/:ws/health", "scheduler-api#health"],
	["/app/:org/workspaces/:ws/change-requests", "scheduler-api#change-requests"],
	["/app/:org/workspaces/:ws/queries", "scheduler-api#queries"],
	["/app/:org/workspaces/:ws/settings", "platform#how-do-i-organize-workspaces"],
	["/app/:org/workspaces/:ws/settings/version-control", "users-vcs#connect-the-workspace"],
	["/app/:org/workspaces/:ws/settings/locking", "users#why-does-my-run-wait"],
	["/app/:org/workspaces/:ws/settings/run-tasks", "users-checks#attach-a-run-task"],
	["/app/:org/workspaces/:ws/settings/team-access", "platform#who-may-do-what"],
	["/app/:org/workspaces/:ws/settings/notifications", "scheduler-api#notifications"],
	["/app/:org/workspaces/:ws/settings/remote-state", "users#use-the-state"],
	["/app/:org/workspaces/:ws/settings/identity", "deploy-identity-workload"],
	["/app/:org/workspaces/:ws/settings/schedules", "scheduler-api#schedules"],
	["/app/:org/workspaces/:ws/settings/destruction", "users#destroy"],
	["/app/:org/runs", "users#approve-or-discard"],
	["/app/:org/projects", "platform#how-do-i-organize-workspaces"],
	["/app/:org/vcs/events", "users-vcs#why-did-no-run-start"],
	["/app/:org/explorer", "scheduler-api#the-explorer"],
	["/app/:org/modules", "scheduler-api#the-registry"],
	["/app/:org/queue", "users#why-does-my-run-wait"],
	["/app/:org/settings", "platform"],
	["/app/:org/settings/teams", "platform#who-may-do-what"],
	["/app/:org/settings/members", "platform#how-do-people-get-in"],
	["/app/:org/settings/sso", "deploy-identity"],
	["/app/:org/settings/agent-pools", "platform#how-do-runs-reach-a-private-network"],
	["/app/:org/settings/run-tasks", "integrators#a-run-task-of-your-own"],
	["/app/:org/settings/policy-sets", "platform#how-do-i-enforce-rules"],
	["/app/:org/settings/policies", "users-checks#write-a-policy"],
	["/app/:org/settings/variable-sets", "platform#how-do-i-give-values-to-many-workspaces"],
	["/app/:org/settings/provider-sets", "platform#how-do-i-configure-providers-of-no-code-workspaces"],
	["/app/:org/settings/vcs-connections", "users-vcs#connect-the-server"],
	["/app/:org/settings/maintenance-windows", "scheduler-api#maintenance-windows"],
	["/app/:org/settings/tokens", "integrators#which-token"],
	["/app/:org/settings/notifications", "scheduler-api#notifications"],
	["/app/:org/settings/audit-trail", "scheduler-api#the-audit-trail"],
	["/app/admin", "operators"],
	["/app/admin/oidc", "deploy-identity"],
	["/app/admin/saml", "deploy-identity-saml"],
	["/app/admin/scim", "deploy-identity-scim"],
	["/app/admin/versions", "worker#engines"],
	["/app/admin/general", "deploy#settings-of-the-site"],
	["/app/admin/mail", "deploy#settings-of-the-site"],
	["/app/admin/costs", "worker-cost"],
	["/app/admin/texts", "deploy#settings-of-the-site"],
	["/app/admin/maintenance", "operators#how-do-i-stop-new-runs-for-a-while"],
	["/app/admin/audit-trail", "scheduler-api#the-audit-trail"],
	["/app/admin/queue", "scheduler-api#the-queue"],
	["/app/settings", "deploy-identity-your-account"],
];

const length = (path: string) => path.split("/").length;

// helpFor: the address of the section for the page at that path.
export function helpFor(path: string): string {
	const given = path.split("/");
	let best: readonly [string, string] = ["", ""];
	for (const row of helpRows) {
		const beginning = given.slice(0, length(row[0])).join("/");
		// A fixed word wins over a name in its place.
		if (length(row[0]) >= length(best[0]) && patternMatch(row[0], beginning)) {
			best = row;
		}
	}
	return best[1] ? `/app/docs/${best[1]}` : "/app/docs";
}
