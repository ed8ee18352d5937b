// SPDX-License-Identifier: MPL-2.0
// What the Queue Plan dialog asks for, as a request for a run, and what follows from it.

import { counted } from "../../core/format.ts";

export type QueueMode = "apply" | "plan" | "refresh" | "destroy" | "empty" | "save";

export type QueueVariable = { readonly key: string; readonly value: string };

export type QueueOrder = {
	readonly mode: QueueMode;
	readonly message: string;
	readonly typedName: string; // of the workspace, for a destroy plan
	readonly targets: readonly string[];
	readonly replaced: readonly string[];
	readonly typedTarget: string; // in the field, not added to the targets yet: it counts as one
	readonly typedReplaced: string;
	readonly variables: readonly QueueVariable[];
	readonly skipRefresh: boolean;
	readonly debugging: boolean;
	readonly version: string; // of terraform; plan-only runs may have another than the workspace
};

export const modes: readonly (readonly [mode: QueueMode, word: string, hint: string])[] = [
	["apply", "Plan and apply", "The plan is applied after a confirmation, or at once with auto-apply."],
	["plan", "Plan only", "It can't be applied. It waits for no other run and for no lock."],
	["refresh", "Refresh only", "Updates the state to what exists, and changes no resource."],
	["destroy", "Destroy plan", "Plans the destruction of everything in the state."],
	["empty", "Allow empty apply", "Applies even without changes, for example to upgrade the format of the state."],
	["save", "Save plan", "The plan is kept. Other runs can go first until somebody confirms it."],
];

export const emptyOrder: QueueOrder = {
	mode: "apply",
	message: "",
	typedName: "",
	targets: [],
	replaced: [],
	typedTarget: "",
	typedReplaced: "",
	variables: [],
	skipRefresh: false,
	debugging: false,
	version: "",
};

const modeFlags: Readonly<Record<QueueMode, object>> = {
	apply: {},
	plan: { "plan-only": true },
	refresh: { "refresh-only": true },
	destroy: { "is-destroy": true },
	empty: { "allow-empty-apply": true },
	save: { "save-plan": true },
};

const targetsOf = (order: QueueOrder) => listWith(order.targets, order.typedTarget);
const replacedOf = (order: QueueOrder) => listWith(order.replaced, order.typedReplaced);

// A mode other than plan-only says so: without it, a speculative configuration would make the run plan-only.
export function runBody(order: QueueOrder, workspace: string) {
	const targets = targetsOf(order);
	const replaced = replacedOf(order);
	const variables = order.variables.filter(({ key }) => key);
	return {
		data: {
			type: "runs",
			attributes: {
				"plan-only": false,
				...modeFlags[order.mode],
				...(order.message && { message: order.message }),
				...(targets.length > 0 && { "target-addrs": targets }),
				...(replaced.length > 0 && { "replace-addrs": replaced }),
				...(variables.length > 0 && { variables }),
				...(order.skipRefresh && { refresh: false }),
				...(order.debugging && { "debugging-mode": true }),
				...(order.version && order.mode === "plan" && { "terraform-version": order.version }),
			},
			relationships: { workspace: { data: { type: "workspaces", id: workspace } } },
		},
	};
}

export type QueueFacts = {
	readonly name: string;
	readonly autoApply: boolean;
	readonly mayApply: boolean;
	readonly destroyable: boolean;
	readonly before: number | undefined; // runs that are in progress or pending; undefined: not known yet
	readonly lock: string; // "Locked by ada: reason", or ""
};

// whatFollows: what happens to the run that the order makes.
export function whatFollows(order: QueueOrder, facts: QueueFacts): readonly string[] {
	const code = "Code and variables are fixed now. Later changes affect later runs only.";
	if (order.mode === "plan") {
		return ["It starts as soon as a worker is free, and never changes anything.", ...addressTexts(order), code];
	}
	const waits = facts.lock ? [`${facts.lock}. The run will wait until it is unlocked.`] : [];
	const queue =
		facts.before === undefined
			? []
			: facts.before === 0
				? waits.length > 0
					? []
					: ["No run is before this one."]
				: [`${counted(facts.before, "run")} before this one.`];
	return [...waits, ...queue, ...addressTexts(order), applyText(order, facts), code];
}

function addressTexts(order: QueueOrder): readonly string[] {
	const targets = targetsOf(order);
	const replaced = replacedOf(order);
	return [
		...(targets.length > 0 ? [`The plan is limited to these targets: ${targets.join(", ")}.`] : []),
		...(replaced.length > 0 ? [`The plan replaces ${replaced.join(", ")}.`] : []),
	];
}

function applyText(order: QueueOrder, facts: QueueFacts): string {
	if (order.mode === "save") {
		return "The plan waits for a confirmation.";
	}
	if (!facts.mayApply) {
		return "You may not apply: a person with that right must confirm the plan.";
	}
	if (!facts.autoApply) {
		return "Auto-apply is off: the plan waits for a confirmation.";
	}
	if (order.mode !== "destroy") {
		return "Auto-apply is on: the plan is applied without confirmation.";
	}
	const destroyed = targetsOf(order).length > 0 ? "the plan of the targets is applied" : "everything is destroyed";
	return `Auto-apply is on: ${destroyed} without another question.`;
}

// orderReason: why the run can't be queued yet.
export function orderReason(order: QueueOrder, facts: QueueFacts): string | undefined {
	if (order.variables.some(({ key, value }) => value && !key)) {
		return "a variable for this run has a value and no name (Advanced)";
	}
	if (order.mode !== "destroy") {
		return undefined;
	}
	if (!facts.destroyable) {
		return "destroy plans are not allowed here (Settings, General)";
	}
	return order.typedName === facts.name ? undefined : "type the name of the workspace";
}

// listOf: addresses with one more, without duplicates.
export function listWith(list: readonly string[], text: string): readonly string[] {
	const added = text.trim();
	return !added || list.includes(added) ? list : [...list, added];
}
