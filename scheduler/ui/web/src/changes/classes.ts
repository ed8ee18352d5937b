// SPDX-License-Identifier: MPL-2.0
// What a change does, in the order in which a reader must see it: the destructive ones first.

import type { ChangeRow, CheckRow } from "./summary.ts";

export type ClassKey =
	| "destroy"
	| "replace"
	| "other"
	| "update"
	| "create"
	| "read"
	| "state"
	| "deferred"
	| "drift"
	| "outputs"
	| "checks";

export type Tone = "failure" | "replace" | "running" | "success" | "wait" | "muted";

type ClassRow = { readonly key: ClassKey; readonly word: string; readonly title: string; readonly tone: Tone };

export const classes: readonly ClassRow[] = [
	{ key: "destroy", word: "destroy", title: "Destroy", tone: "failure" },
	{ key: "replace", word: "replace", title: "Replace", tone: "replace" },
	{ key: "other", word: "other", title: "Other actions", tone: "wait" },
	{ key: "update", word: "update", title: "Update", tone: "running" },
	{ key: "create", word: "create", title: "Create", tone: "success" },
	{ key: "read", word: "read", title: "Read", tone: "muted" },
	{ key: "state", word: "state only", title: "State only", tone: "muted" },
	{ key: "deferred", word: "deferred", title: "Deferred", tone: "wait" },
	{ key: "drift", word: "drift", title: "Changed outside Terraform", tone: "wait" },
	{ key: "outputs", word: "outputs", title: "Outputs", tone: "muted" },
	{ key: "checks", word: "checks", title: "Checks", tone: "wait" },
];

const ranks = new Map(classes.map((row, rank) => [row.key, rank]));

type ActionRow = { readonly key: ClassKey; readonly glyph: string; readonly word: string; readonly tone: Tone };

const actions: Readonly<Record<string, ActionRow>> = {
	delete: { key: "destroy", glyph: "−", word: "destroy", tone: "failure" },
	"delete,create": { key: "replace", glyph: "−/+", word: "replace", tone: "replace" },
	"create,delete": { key: "replace", glyph: "+/−", word: "replace, create first", tone: "replace" },
	update: { key: "update", glyph: "~", word: "update", tone: "running" },
	create: { key: "create", glyph: "+", word: "create", tone: "success" },
	read: { key: "read", glyph: "←", word: "read", tone: "muted" },
	forget: { key: "state", glyph: "", word: "remove from state", tone: "wait" },
	import: { key: "state", glyph: "", word: "import only", tone: "muted" },
	move: { key: "state", glyph: "", word: "move only", tone: "muted" },
	"no-op": { key: "state", glyph: "", word: "no change", tone: "muted" },
};

// An action without a row is shown as its text.
export function actionOf(row: ChangeRow): ActionRow {
	const only = row.badges.includes("import") ? "import" : row.badges.includes("move") ? "move" : "no-op";
	const name = row.action === "no-op" ? only : row.action;
	return Object.hasOwn(actions, name) ? (actions[name] as ActionRow) : { key: "other", glyph: "", word: name, tone: "wait" };
}

export function classOf(row: ChangeRow | CheckRow): ClassKey {
	return row.list === "resource-changes" ? actionOf(row).key : row.list;
}

export function rankOf(key: ClassKey): number {
	return ranks.get(key) ?? classes.length;
}

// terraform's action_reason in words; a reason without a row is shown as its text.
const reasons: Readonly<Record<string, string>> = {
	replace_because_tainted: "it is tainted",
	replace_because_cannot_update: "it can't be changed in place",
	replace_by_request: "the run asks for its replacement",
	replace_by_triggers: "a resource in replace_triggered_by changes",
	delete_because_no_resource_config: "it is not in the configuration",
	delete_because_no_module: "its module is not in the configuration",
	delete_because_wrong_repetition: "count or for_each was added or removed",
	delete_because_count_index: "its index is beyond count",
	delete_because_each_key: "its key is not in for_each",
	delete_because_no_move_target: "its new address is not in the configuration",
	read_because_config_unknown: "its configuration is known after apply",
	read_because_dependency_pending: "it depends on a change of this plan",
	read_because_check_nested: "it belongs to a check",
	instance_count_unknown: "count or for_each is known after apply",
	resource_config_unknown: "its configuration is known after apply",
	provider_config_unknown: "the provider's configuration is known after apply",
	deferred_prereq: "it depends on a deferred change",
	absent_prereq: "what it depends on is absent",
};

export function reasonText(reason: string): string {
	return Object.hasOwn(reasons, reason) ? (reasons[reason] ?? "") : reason.replaceAll("_", " ");
}
