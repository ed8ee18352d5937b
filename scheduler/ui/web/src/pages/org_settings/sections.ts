// SPDX-License-Identifier: MPL-2.0
// The settings pages of an organization, in the order of the side list.

export type Section = {
	readonly key: string;
	readonly word: string;
	readonly right?: string; // of the organization; without it, the page is not in the list
};

export const sections: readonly Section[] = [
	{ key: "general", word: "General" },
	{ key: "teams", word: "Teams" },
	{ key: "members", word: "Members", right: "can-manage-memberships" },
	{ key: "agent-pools", word: "Agent pools" },
	{ key: "run-tasks", word: "Run tasks" },
	{ key: "policy-sets", word: "Policy sets" },
	{ key: "policies", word: "Policies" },
	{ key: "variable-sets", word: "Variable sets" },
	{ key: "vcs-connections", word: "VCS connections" },
	{ key: "ssh-keys", word: "SSH keys" },
	{ key: "tokens", word: "Tokens", right: "can-update-api-token" },
	{ key: "notifications", word: "Notifications" },
	{ key: "audit-trail", word: "Audit trail", right: "can-read-audit-trail" },
];
