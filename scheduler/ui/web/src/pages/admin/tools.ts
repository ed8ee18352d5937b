// SPDX-License-Identifier: MPL-2.0
// The programs whose versions site admins list.

export type Tool = {
	readonly key: string; // in the address
	readonly type: string; // of the versions in the API
	readonly word: string;
	readonly usage: string; // what selects a version
	readonly empty: string;
	readonly rule: string; // what the list decides
};

const listed = "No version matches. Without a list, all versions can be selected that workers have or can get.";

export const tools: readonly Tool[] = [
	{
		key: "",
		type: "terraform-versions",
		word: "Terraform",
		usage: "Workspaces",
		empty: listed,
		rule: "Workspaces can't select a disabled version, and no run starts with it.",
	},
	{
		key: "opa",
		type: "opa-versions",
		word: "OPA",
		usage: "Policy sets",
		empty: listed,
		rule: "The list is for clients that select a version.",
	},
	{
		key: "sentinel",
		type: "sentinel-versions",
		word: "Sentinel",
		usage: "Policy sets",
		empty: listed,
		rule: "The list is for clients that select a version.",
	},
];

export function toolOf(key: string | null): Tool {
	return tools.find((tool) => tool.key === key) ?? (tools[0] as Tool);
}
