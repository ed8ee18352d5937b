// SPDX-License-Identifier: MPL-2.0
// The difference of two states, as changes that the drawer of a plan's changes shows.

import type { Change, Json } from "../../changes/summary.ts";
import { equal } from "../../changes/tree.ts";
import type { StatePart } from "./state_file.ts";

export type StateChange = { readonly change: Change; readonly kind: StatePart["kind"]; readonly action: "create" | "update" | "delete" };

const keyOf = (part: StatePart) => `${part.kind} ${part.address}`;

// A secret differs if its text does. Places whose secrets differ are marked.
function changedMask(before: StatePart, after: StatePart): Json | undefined {
	let mask: Json | undefined;
	for (const key of new Set([...before.secrets.keys(), ...after.secrets.keys()])) {
		if (before.secrets.get(key) !== after.secrets.get(key)) {
			mask = marked(mask, (JSON.parse(key) ?? []) as readonly (string | number)[]);
		}
	}
	return mask;
}

function marked(mask: Json | undefined, path: readonly (string | number)[]): Json {
	const [step, ...rest] = path;
	if (step === undefined || mask === true) {
		return true;
	}
	const members = mask !== null && typeof mask === "object" && !Array.isArray(mask) ? (mask as Readonly<Record<string, Json>>) : {};
	return { ...members, [step]: marked(members[step], rest) };
}

// A place that is sensitive on one side is masked on both.
function merged(a: Json | undefined, b: Json | undefined): Json | undefined {
	if (a === true || b === true || a === undefined || b === undefined) {
		return a === true || b === true ? true : (a ?? b);
	}
	const left = a as Readonly<Record<string, Json>>;
	const right = b as Readonly<Record<string, Json>>;
	const names = new Set([...Object.keys(left), ...Object.keys(right)]);
	return Object.fromEntries([...names].map((name) => [name, merged(left[name], right[name]) ?? null]));
}

function changeOf(before: StatePart | undefined, after: StatePart | undefined): Change {
	const part = (after ?? before) as StatePart;
	const isOutput = part.kind === "output";
	return {
		row: {
			list: isOutput ? "outputs" : "resource-changes",
			index: -1,
			action: "update",
			address: part.address,
			previousAddress: "",
			badges: [],
			type: part.type,
			module: "",
			reason: "",
			deposed: "",
			deferredReason: "",
			relevant: false,
			unreadable: false,
			changed: [],
			changedCount: 0,
		},
		name: part.address,
		mode: "",
		provider: "",
		importId: "",
		generated: "",
		replacePaths: [],
		before: before?.value,
		after: after?.value,
		sensitive: merged(before?.mask, after?.mask),
		changed: before && after ? changedMask(before, after) : undefined,
		unknown: undefined,
	};
}

const order = { delete: 0, update: 1, create: 2 } as const;

export function stateChanges(before: readonly StatePart[], after: readonly StatePart[]): readonly StateChange[] {
	const old = new Map(before.map((part) => [keyOf(part), part]));
	const next = new Map(after.map((part) => [keyOf(part), part]));
	const changes: StateChange[] = [];
	for (const key of new Set([...old.keys(), ...next.keys()])) {
		const [a, b] = [old.get(key), next.get(key)];
		const part = (b ?? a) as StatePart;
		if (!a || !b) {
			changes.push({ change: changeOf(a, b), kind: part.kind, action: a ? "delete" : "create" });
		} else if (!equal(a.value, b.value) || changedMask(a, b) !== undefined) {
			changes.push({ change: changeOf(a, b), kind: part.kind, action: "update" });
		}
	}
	return changes.sort(
		(a, b) => b.kind.localeCompare(a.kind) || order[a.action] - order[b.action] || a.change.row.address.localeCompare(b.change.row.address),
	);
}
