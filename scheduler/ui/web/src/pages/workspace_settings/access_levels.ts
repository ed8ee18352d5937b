// SPDX-License-Identifier: MPL-2.0
// What a team may do in a workspace.

import { type Resource, text } from "../../core/resource.ts";
import type { FieldRow, Options } from "../../objects/fields.ts";

export const levels: Options = [
	["read", "Read: see runs, variables and states"],
	["plan", "Plan: also queue runs"],
	["write", "Write: also apply, change variables and states, lock"],
	["admin", "Admin: also settings, team access, force-unlock, deletion"],
	["custom", "Custom"],
];

const custom = { shown: (values: Readonly<Record<string, unknown>>) => values.access === "custom", always: true } as const;

// A detail with levels, of which a team has the first one if nothing is chosen.
const detail = (name: string, label: string, ...values: readonly string[]): FieldRow => ({
	...custom,
	name,
	label,
	kind: "choice",
	options: values.map((value) => [value, value.replace("-", " ")] as const),
	initial: values[0] ?? "",
});

const details: readonly FieldRow[] = [
	detail("runs", "Runs", "read", "plan", "apply"),
	detail("variables", "Variables", "none", "read", "write"),
	detail("state-versions", "States", "none", "read-outputs", "read", "write"),
	detail("sentinel-mocks", "Sentinel mocks", "none", "read"),
	{ ...custom, name: "workspace-locking", label: "Lock the workspace", kind: "flag" },
	{ ...custom, name: "run-tasks", label: "Manage run tasks", kind: "flag" },
	{ ...custom, name: "policy-overrides", label: "Override policies", kind: "flag" },
];

export const accessFields: readonly FieldRow[] = [
	{ name: "access", label: "Access", kind: "choice", options: levels, initial: "read" },
	...details,
];

// detailWords: "variables: write, override policies", without what the team may not.
export function detailWords(access: Resource): string {
	const words = details.map(({ name, label, kind }) => {
		const value = text(access, name);
		const word = kind === "flag" ? access.attributes[name] === true : value !== "" && value !== "none";
		return word && label.toLowerCase() + (kind === "flag" ? "" : `: ${value.replace("-", " ")}`);
	});
	return words.filter(Boolean).join(", ");
}
