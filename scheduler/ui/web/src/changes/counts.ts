// SPDX-License-Identifier: MPL-2.0
// The counts and the destroyed addresses of a plan, from its list of changes.

import { flag, list, number, type Resource } from "../core/resource.ts";

export type Counted = {
	readonly create: number;
	readonly update: number;
	readonly replace: number;
	readonly delete: number;
	readonly import: number;
	readonly move: number;
};
export type Lost = { readonly address: string; readonly replaced: boolean };

type Row = { readonly action?: unknown; readonly address?: unknown; readonly badges?: unknown };

const replacing = new Set(["delete,create", "create,delete"]);

function rowsOf(changes: Resource | undefined): readonly Row[] {
	return list(changes, "resource-changes").filter((row) => row !== null && typeof row === "object") as readonly Row[];
}

// countsOf: from the changes if they are there, else from the plan, which counts a replacement as added and destroyed.
export function countsOf(plan: Resource | undefined, changes: Resource | undefined): Counted {
	const rows = rowsOf(changes);
	if (!changes || flag(changes, "truncated")) {
		return {
			create: number(plan, "resource-additions") ?? 0,
			update: number(plan, "resource-changes") ?? 0,
			replace: 0,
			delete: number(plan, "resource-destructions") ?? 0,
			import: number(plan, "resource-imports") ?? 0,
			move: 0,
		};
	}
	const acted = (action: string) => rows.filter((row) => row.action === action).length;
	const marked = (badge: string) => rows.filter((row) => Array.isArray(row.badges) && row.badges.includes(badge)).length;
	return {
		create: acted("create"),
		update: acted("update"),
		replace: rows.filter((row) => replacing.has(String(row.action))).length,
		delete: acted("delete"),
		import: marked("import"),
		move: marked("move"),
	};
}

// lostOf: the addresses that the plan destroys or replaces, destroyed ones first.
export function lostOf(changes: Resource | undefined): readonly Lost[] {
	const rows = rowsOf(changes).map((row) => ({ address: String(row.address ?? ""), action: String(row.action) }));
	const of = (test: (action: string) => boolean, replaced: boolean) =>
		rows.filter((row) => test(row.action)).map((row) => ({ address: row.address, replaced }));
	return [...of((action) => action === "delete", false), ...of((action) => replacing.has(action), true)];
}
