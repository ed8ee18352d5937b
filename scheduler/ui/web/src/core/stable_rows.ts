// SPDX-License-Identifier: MPL-2.0
// Lists whose rows stay where they are while they change: nothing moves under the pointer.

import { useEffect, useState } from "preact/hooks";
import type { Loaded } from "./hooks.ts";
import type { Resource } from "./resource.ts";
import { store } from "./store.ts";

// stableOrder: what is shown stays. `changed` counts the rows that have another place, are new, or have left the list.
export function stableOrder(shown: readonly string[], fresh: readonly string[]): { ids: readonly string[]; changed: number } {
	if (shown.length === 0) {
		return { ids: fresh, changed: 0 };
	}
	const before = new Set(shown);
	const after = new Set(fresh);
	const come = fresh.filter((id) => !before.has(id)).length;
	const gone = shown.filter((id) => !after.has(id)).length;
	const stayed = shown.filter((id) => after.has(id));
	const moved = fresh.filter((id) => before.has(id)).filter((id, i) => stayed[i] !== id).length;
	return { ids: shown, changed: come + gone + moved };
}

export type StableRows = {
	readonly rows: readonly Resource[];
	readonly changed: number;
	readonly renew: () => void; // shows the list as it is on the server
};

// useStableRows: `view` names what is listed; another view begins anew.
export function useStableRows(list: Loaded, view: string): StableRows {
	const [kept, setKept] = useState<{ view: string; type: string; ids: readonly string[] }>({ view: "", type: "", ids: [] });
	const fresh = list.items.map((item) => item.id);
	const { ids, changed } = stableOrder(kept.view === view ? kept.ids : [], fresh);
	const key = ids.join(" ");
	const type = list.items[0]?.type ?? kept.type; // an empty answer has no type
	useEffect(() => setKept({ view, type, ids }), [view, type, key]);
	const byId = new Map(list.items.map((item) => [item.id, item]));
	const rows = ids.flatMap((id) => byId.get(id) ?? store.get({ type, id }) ?? []);
	return { rows, changed, renew: () => setKept({ view, type, ids: fresh }) };
}
