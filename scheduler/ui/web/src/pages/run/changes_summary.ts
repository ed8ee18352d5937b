// SPDX-License-Identifier: MPL-2.0
// The counts and the destroyed addresses of a plan, from its list of changes.

import { useEffect, useState } from "preact/hooks";
import { address, read, segment } from "../../core/api.ts";
import { type ApiError, errorOf } from "../../core/errors.ts";
import { flag, list, number, type Resource, text } from "../../core/resource.ts";

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

export type Changes = { readonly item: Resource | undefined; readonly error: ApiError | undefined; readonly loading: boolean };

const againMs = 3000;
const maxTries = 20;
const nothing: Changes = { item: undefined, error: undefined, loading: false };

// useChanges keeps the answer of its own: the store's object may be that of a search in the list, which has fewer rows.
export function useChanges(plan: Resource | undefined): Changes {
	const there = text(plan, "status") === "finished" && flag(plan, "has-changes");
	const url = plan && there ? address(`/plans/${segment(plan.id)}/changes`) : undefined;
	const [changes, setChanges] = useState(nothing);
	useEffect(() => {
		if (url === undefined) {
			return;
		}
		const abort = new AbortController();
		let timer: ReturnType<typeof setTimeout> | undefined;
		let tries = 0;
		const load = async () => {
			setChanges({ ...nothing, loading: true });
			try {
				const { data } = await read(url, abort.signal);
				tries += 1;
				setChanges({ ...nothing, item: (data as Resource | null) ?? undefined });
				timer = data || tries >= maxTries ? undefined : setTimeout(load, againMs); // the plan's JSON is not there yet
			} catch (failure) {
				if (!abort.signal.aborted) {
					setChanges({ ...nothing, error: errorOf(failure) });
				}
			}
		};
		void load();
		return () => {
			abort.abort();
			clearTimeout(timer);
		};
	}, [url]);
	return changes;
}
