// SPDX-License-Identifier: MPL-2.0
// What a team may do in a workspace.

type Options = readonly (readonly [value: string, word: string])[];

export const levels: Options = [
	["read", "Read: see runs, variables and states"],
	["plan", "Plan: also queue runs"],
	["write", "Write: also apply, change variables and states, lock"],
	["admin", "Admin: also settings, team access, force-unlock, deletion"],
	["custom", "Custom"],
];

export function levelWord(level: string): string {
	return levels.find(([value]) => value === level)?.[1] ?? level;
}

export type Detail = { readonly name: string; readonly word: string; readonly options: Options | undefined }; // none: a flag

export const customDetails: readonly Detail[] = [
	{
		name: "runs",
		word: "Runs",
		options: [
			["read", "read"],
			["plan", "plan"],
			["apply", "apply"],
		],
	},
	{
		name: "variables",
		word: "Variables",
		options: [
			["none", "none"],
			["read", "read"],
			["write", "write"],
		],
	},
	{
		name: "state-versions",
		word: "States",
		options: [
			["none", "none"],
			["read-outputs", "read outputs"],
			["read", "read"],
			["write", "write"],
		],
	},
	{
		name: "sentinel-mocks",
		word: "Sentinel mocks",
		options: [
			["none", "none"],
			["read", "read"],
		],
	},
	{ name: "workspace-locking", word: "Lock the workspace", options: undefined },
	{ name: "run-tasks", word: "Manage run tasks", options: undefined },
	{ name: "policy-overrides", word: "Override policies", options: undefined },
];

// detailWord: "variables: write"; "" for what the team may not.
export function detailWord(detail: Detail, value: unknown): string {
	if (!detail.options) {
		return value === true ? detail.word.toLowerCase() : "";
	}
	return value === "none" || typeof value !== "string" ? "" : `${detail.word.toLowerCase()}: ${value.replace("-", " ")}`;
}

export const leastDetails: Readonly<Record<string, unknown>> = {
	runs: "read",
	variables: "none",
	"state-versions": "none",
	"sentinel-mocks": "none",
	"workspace-locking": false,
	"run-tasks": false,
	"policy-overrides": false,
};
