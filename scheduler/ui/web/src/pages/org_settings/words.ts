// SPDX-License-Identifier: MPL-2.0
// Words of choices that several pages use.

import type { Linked } from "./relation_list.tsx";

export const policyKinds = [
	["opa", "OPA"],
	["sentinel", "Sentinel"],
] as const;

export const executionModes = [
	["remote", "Remote: the workers of the shared pool"],
	["agent", "Agent: the workers of a pool of the organization"],
	["local", "Local: only the state is kept here"],
] as const;

export function workspacesOf(path: string, relation = "workspaces", many = "Workspaces"): Linked {
	return { relation, type: "workspaces", one: "workspace", many, listPath: `${path}/workspaces`, search: "search[name]" };
}

export function projectsOf(path: string, relation = "projects", many = "Projects"): Linked {
	return { relation, type: "projects", one: "project", many, listPath: `${path}/projects`, search: "q" };
}
