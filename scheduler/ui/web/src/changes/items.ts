// SPDX-License-Identifier: MPL-2.0
// The rows of a plan in their order, filtered, and in groups.

import { type ClassKey, classes, classOf, rankOf } from "./classes.ts";
import type { ChangeRow, CheckRow, Summary } from "./summary.ts";

export type Item = {
	readonly id: string; // of the fragment: "change:aws_instance.web"
	readonly key: ClassKey;
	readonly row: ChangeRow | CheckRow;
	readonly searched: string; // lower case
};

const prefixes = { "resource-changes": "change", drift: "drift", deferred: "deferred", outputs: "output", checks: "check" } as const;

export function itemId(row: ChangeRow | CheckRow): string {
	const deposed = row.list !== "checks" && row.deposed ? ` deposed ${row.deposed}` : "";
	return `${prefixes[row.list]}:${row.address}${deposed}`;
}

function itemOf(row: ChangeRow | CheckRow): Item {
	const more = row.list === "checks" ? row.problems : [row.type, row.previousAddress, ...row.changed];
	return { id: itemId(row), key: classOf(row), row, searched: [row.address, ...more].join("\n").toLowerCase() };
}

const isRelevant = (item: Item) => (item.row.list === "drift" && item.row.relevant ? 0 : 1);

// itemsOf: destructive rows first; inside of a class, the order of the plan, and relevant drift first.
export function itemsOf(summary: Summary): readonly Item[] {
	const items = [...summary.rows, ...summary.checks].map(itemOf);
	return items
		.map((item, at) => ({ item, at }))
		.sort((a, b) => rankOf(a.item.key) - rankOf(b.item.key) || isRelevant(a.item) - isRelevant(b.item) || a.at - b.at)
		.map(({ item }) => item);
}

// ---- filters ----

export type Filter = { readonly classes: ReadonlySet<string>; readonly text: string };

export const badgeKeys = ["import", "move"] as const;

const hasBadge = (item: Item, badge: string) => item.row.list !== "checks" && item.row.badges.includes(badge);

// The number of rows of each class and badge.
export function countsOf(items: readonly Item[]): ReadonlyMap<string, number> {
	const counts = new Map<string, number>();
	const add = (key: string) => counts.set(key, (counts.get(key) ?? 0) + 1);
	for (const item of items) {
		add(item.key);
		for (const badge of badgeKeys.filter((name) => hasBadge(item, name))) {
			add(badge);
		}
	}
	return counts;
}

// Each word of the text must be in the address, the type or the name of a changed attribute.
export function filterItems(items: readonly Item[], filter: Filter): readonly Item[] {
	const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
	const chosen = (item: Item) =>
		filter.classes.size === 0 ||
		filter.classes.has(item.key) ||
		badgeKeys.some((badge) => filter.classes.has(badge) && hasBadge(item, badge));
	return items.filter((item) => chosen(item) && words.every((word) => item.searched.includes(word)));
}

// ---- groups ----

export type Grouping = "class" | "module" | "type" | "attribute";
export const groupings: readonly (readonly [Grouping, string])[] = [
	["class", "By action"],
	["module", "By module"],
	["type", "By type"],
	["attribute", "By only changed attribute"],
];

export type Entry =
	| {
			readonly kind: "head";
			readonly key: string;
			readonly title: string;
			readonly depth: number;
			readonly count: number;
			readonly open: boolean;
	  }
	| { readonly kind: "item"; readonly item: Item; readonly depth: number };

type Group = { readonly key: string; readonly title: string; readonly items: Item[]; readonly groups: Map<string, Group>; count: number };

const groupNew = (key: string, title: string): Group => ({ key, title, items: [], groups: new Map(), count: 0 });

// modulePath: "module.a.module.b[\"x.y\"]" as ["module.a", "module.b[\"x.y\"]"].
export function modulePath(address: string): readonly string[] {
	const parts: string[] = [];
	let from = 0;
	let quoted = false;
	for (let at = 0; at < address.length; at++) {
		const char = address[at];
		if (quoted && char === "\\") {
			at += 1;
		} else if (char === '"') {
			quoted = !quoted;
		} else if (!quoted && char === "." && address.startsWith("module.", at + 1)) {
			parts.push(address.slice(from, at));
			from = at + 1;
		}
	}
	return [...parts, address.slice(from)].filter(Boolean);
}

const maxModules = 20; // levels that are shown as groups

function pathOf(item: Item, grouping: Grouping): readonly string[] {
	const { row } = item;
	const title = classes[rankOf(item.key)]?.title ?? item.key;
	if (grouping === "class" || row.list !== "resource-changes") {
		return [title];
	}
	if (grouping === "module") {
		return row.module ? modulePath(row.module).slice(0, maxModules) : ["Root module"];
	}
	if (grouping === "type") {
		return [row.type || "Without a type"];
	}
	return [item.key === "update" && row.changedCount === 1 ? `Only ${row.changed[0] ?? "one attribute"} changed` : title];
}

function groupsOf(items: readonly Item[], grouping: Grouping): Group {
	const root = groupNew("", "");
	for (const item of items) {
		let group = root;
		group.count += 1;
		for (const title of pathOf(item, grouping)) {
			const key = `${group.key}\n${title}`;
			let next = group.groups.get(title);
			if (!next) {
				next = groupNew(key, title);
				group.groups.set(title, next);
			}
			next.count += 1;
			group = next;
		}
		group.items.push(item);
	}
	return root;
}

// entriesOf: the rows and the heads of their groups. The groups in `closed` have no rows.
export function entriesOf(items: readonly Item[], grouping: Grouping, closed: ReadonlySet<string>): readonly Entry[] {
	const entries: Entry[] = [];
	const visit = (group: Group, depth: number) => {
		for (const item of group.items) {
			entries.push({ kind: "item", item, depth: Math.max(depth - 1, 0) });
		}
		for (const next of group.groups.values()) {
			const open = !closed.has(next.key);
			entries.push({ kind: "head", key: next.key, title: next.title, depth, count: next.count, open });
			if (open) {
				visit(next, depth + 1);
			}
		}
	};
	visit(groupsOf(items, grouping), 0);
	return entries;
}

// groupKeys: the groups that hold the item, which must be open for it to be shown.
export function groupKeys(item: Item, grouping: Grouping): readonly string[] {
	let key = "";
	return pathOf(item, grouping).map((title) => {
		key = `${key}\n${title}`;
		return key;
	});
}

// ---- places ----

export function placeFragment(item: Item): string {
	return `#${encodeURI(item.id.replace(/\p{Surrogate}/gu, "\ufffd")).replaceAll("#", "%23")}`;
}

// placeId: the item's id that the fragment names, or "".
export function placeId(fragment: string): string {
	if (!/^#(?:change|drift|deferred|output|check):/.test(fragment) || fragment.length > 10_000) {
		return "";
	}
	try {
		return decodeURIComponent(fragment.slice(1));
	} catch {
		return fragment.slice(1);
	}
}
