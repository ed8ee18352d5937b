// SPDX-License-Identifier: MPL-2.0
// The attributes of a change as rows of a tree: what was, what will be, and how they differ. The values are hostile:
// the depth has a bound, and nothing here recurses deeper than it.

import type { Change, Json, Path } from "./summary.ts";

export type Side =
	| { readonly kind: "absent" }
	| { readonly kind: "unknown" }
	| { readonly kind: "sensitive"; readonly changed: boolean }
	| { readonly kind: "value"; readonly value: Json };
export type State = "same" | "changed" | "added" | "removed";

export type Node = {
	readonly key: string; // name or index
	readonly path: Path;
	readonly state: State;
	readonly before: Side;
	readonly after: Side;
	readonly children: readonly Node[] | undefined; // of a container
	readonly shape: "object" | "list" | "json" | "leaf"; // json: a string that holds an object or a list
	readonly labels: readonly string[];
	readonly forces: boolean; // forces replacement
};

const deepest = 40;
const longestJson = 200_000;
const maxCompared = 300; // items of lists that are compared with each other

// The values of both sides and of the masks at one place.
type Part = {
	readonly before: Json | undefined;
	readonly after: Json | undefined;
	readonly sensitive: Json | undefined;
	readonly changed: Json | undefined;
	readonly unknown: Json | undefined;
};

type Container = { readonly [name: string]: Json } | readonly Json[];

export const isObject = (value: unknown): value is { readonly [name: string]: Json } =>
	value !== null && typeof value === "object" && !Array.isArray(value);
const isList = (value: unknown): value is readonly Json[] => Array.isArray(value);
const nothing = (value: Json | undefined) => value === undefined || value === null;

// marks: whether the mask marks any part.
export function marks(mask: Json | undefined): boolean {
	return mask === true || (isList(mask) ? mask.some(marks) : isObject(mask) && Object.values(mask).some(marks));
}

export function equal(a: Json | undefined, b: Json | undefined): boolean {
	if (a === b) {
		return true;
	}
	if (isList(a) && isList(b)) {
		return a.length === b.length && a.every((item, i) => equal(item, b[i]));
	}
	if (!isObject(a) || !isObject(b)) {
		return false;
	}
	const names = Object.keys(a);
	return names.length === Object.keys(b).length && names.every((name) => Object.hasOwn(b, name) && equal(a[name], b[name]));
}

export function member(value: Json | undefined, step: string | number): Json | undefined {
	if (isList(value)) {
		return value[step as number];
	}
	return isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
}

const itemAt = (value: Json | undefined, at: string | number | undefined) => (at === undefined ? undefined : member(value, at));

// The part of a name, or of an item that has another index on each side or is on one side only.
function partAt(part: Part, before: string | number | undefined, after: string | number | undefined): Part {
	const step = after ?? before ?? 0;
	return {
		before: itemAt(part.before, before),
		after: itemAt(part.after, after),
		sensitive: member(part.sensitive, step),
		changed: member(part.changed, step),
		unknown: itemAt(part.unknown, after),
	};
}

// ---- leaves ----

function sidesOf(part: Part): { before: Side; after: Side } {
	if (part.sensitive === true) {
		const changed = part.changed === true;
		return {
			before: part.before === undefined ? { kind: "absent" } : { kind: "sensitive", changed: false },
			after: part.after === undefined && part.unknown !== true ? { kind: "absent" } : { kind: "sensitive", changed },
		};
	}
	const side = (value: Json | undefined): Side => (value === undefined ? { kind: "absent" } : { kind: "value", value });
	return { before: side(part.before), after: part.unknown === true ? { kind: "unknown" } : side(part.after) };
}

function stateOf(before: Side, after: Side): State {
	if (before.kind === "absent") {
		return after.kind === "absent" ? "same" : "added";
	}
	if (after.kind === "absent") {
		return "removed";
	}
	if (before.kind === "value" && after.kind === "value") {
		return equal(before.value, after.value) ? "same" : "changed";
	}
	return after.kind === "sensitive" && before.kind === "sensitive" ? (after.changed ? "changed" : "same") : "changed";
}

export function typeName(value: Json): string {
	return value === null ? "null" : isList(value) ? "list" : isObject(value) ? "object" : typeof value === "boolean" ? "bool" : typeof value;
}

const withoutSpace = (text: string) => text.replace(/\s+/g, "");

function labelsOf(before: Side, after: Side): readonly string[] {
	if (before.kind !== "value" || after.kind !== "value" || before.value === null || after.value === null) {
		return [];
	}
	const types = [typeName(before.value), typeName(after.value)] as const;
	if (types[0] !== types[1]) {
		return [`type: ${types[0]} → ${types[1]}`];
	}
	const both = typeof before.value === "string" && typeof after.value === "string" && before.value !== after.value;
	return both && withoutSpace(String(before.value)) === withoutSpace(String(after.value)) ? ["whitespace only"] : [];
}

// jsonOf: the object or list in a string, or undefined.
export function jsonOf(value: Json | undefined): Container | undefined {
	if (typeof value !== "string" || value.length > longestJson || !/^\s*[[{]/.test(value)) {
		return undefined;
	}
	try {
		const parsed = JSON.parse(value) as Json;
		return isObject(parsed) || isList(parsed) ? parsed : undefined;
	} catch {
		return undefined;
	}
}

// ---- lists ----

type Pair = readonly [before: number | undefined, after: number | undefined];

// The longest common subsequence of two lists, as pairs of equal items; the items between them are single.
function commonPairs(before: readonly Json[], after: readonly Json[]): readonly Pair[] {
	const texts = [before, after].map((items) => items.map((item) => JSON.stringify(item)));
	const [a = [], b = []] = texts;
	const width = b.length + 1;
	const lengths = new Uint16Array((a.length + 1) * width);
	for (let i = a.length - 1; i >= 0; i--) {
		for (let k = b.length - 1; k >= 0; k--) {
			lengths[i * width + k] =
				a[i] === b[k]
					? (lengths[(i + 1) * width + k + 1] ?? 0) + 1
					: Math.max(lengths[(i + 1) * width + k] ?? 0, lengths[i * width + k + 1] ?? 0);
		}
	}
	const pairs: Pair[] = [];
	let i = 0;
	let k = 0;
	while (i < a.length || k < b.length) {
		if (i < a.length && k < b.length && a[i] === b[k]) {
			pairs.push([i++, k++]);
		} else if (k >= b.length || (i < a.length && (lengths[(i + 1) * width + k] ?? 0) >= (lengths[i * width + k + 1] ?? 0))) {
			pairs.push([i++, undefined]);
		} else {
			pairs.push([undefined, k++]);
		}
	}
	return pairs;
}

// Single items of one gap become pairs, in their order: an object that changed is compared inside.
function gapsPaired(pairs: readonly Pair[]): readonly Pair[] {
	const paired: Pair[] = [];
	let before: number[] = [];
	let after: number[] = [];
	const flush = () => {
		for (let i = 0; i < Math.max(before.length, after.length); i++) {
			paired.push([before[i], after[i]]);
		}
		before = [];
		after = [];
	};
	for (const [first, second] of pairs) {
		if (first !== undefined && second !== undefined) {
			flush();
			paired.push([first, second]);
		} else if (first !== undefined) {
			before.push(first);
		} else if (second !== undefined) {
			after.push(second);
		}
	}
	flush();
	return paired;
}

const byIndex = (count: number): readonly Pair[] => Array.from({ length: count }, (_, i) => [i, i] as const);

// Plain values are compared by value, which fits sets, too. Masks belong to an index, so masked lists are compared by
// index.
function itemPairs(part: Part): readonly Pair[] {
	const before = isList(part.before) ? part.before : [];
	const after = isList(part.after) ? part.after : [];
	const unknown = isList(part.unknown) ? part.unknown.length : 0;
	const longest = Math.max(before.length, after.length, unknown);
	if (marks(part.sensitive) || marks(part.unknown) || Math.min(before.length, after.length) === 0 || longest > maxCompared) {
		return byIndex(longest);
	}
	const pairs = commonPairs(before, after);
	const isPlain = [...before, ...after].every((item) => !isObject(item) && !isList(item));
	return isPlain ? pairs : gapsPaired(pairs);
}

// ---- nodes ----

type Walk = { readonly replacePaths: readonly Path[] };

const forcedBy = (walk: Walk, path: Path) =>
	walk.replacePaths.some((forced) => forced.length === path.length && forced.every((step, i) => step === path[i]));

function childState(children: readonly Node[], part: Part): State {
	if (part.before === undefined && (part.after !== undefined || marks(part.unknown))) {
		return "added";
	}
	if (part.after === undefined && part.before !== undefined && !marks(part.unknown)) {
		return "removed";
	}
	const differs = nothing(part.before) !== nothing(part.after) || children.some((child) => child.state !== "same");
	return differs ? "changed" : "same";
}

function container(part: Part, key: string, path: Path, walk: Walk, shape: "object" | "list"): Node {
	let children: Node[];
	if (shape === "object") {
		const names = new Set([part.before, part.after, part.unknown].flatMap((side) => (isObject(side) ? Object.keys(side) : [])));
		children = [...names].map((name) => nodeOf(partAt(part, name, name), name, [...path, name], walk));
	} else {
		children = itemPairs(part).map(([before, after]) => {
			const index = after ?? before ?? 0;
			const moved = before !== undefined && after !== undefined && before !== after;
			const name = moved ? `${before} → ${after}` : String(index);
			return nodeOf(partAt(part, before, after), name, [...path, index], walk);
		});
	}
	const { before, after } = sidesOf({ ...part, unknown: undefined });
	return { key, path, state: childState(children, part), before, after, children, shape, labels: [], forces: forcedBy(walk, path) };
}

function leaf(part: Part, key: string, path: Path, walk: Walk): Node {
	const { before, after } = sidesOf(part);
	const state = stateOf(before, after);
	return {
		key,
		path,
		state,
		before,
		after,
		children: undefined,
		shape: "leaf",
		labels: labelsOf(before, after),
		forces: forcedBy(walk, path),
	};
}

// A string with JSON whose sides are both JSON, or on one side only.
function jsonNode(part: Part, key: string, path: Path, walk: Walk): Node | undefined {
	const before = jsonOf(part.before);
	const after = jsonOf(part.after);
	const fits = (text: Json | undefined, parsed: Container | undefined) => parsed !== undefined || nothing(text);
	if ((!before && !after) || !fits(part.before, before) || !fits(part.after, after) || part.unknown !== undefined) {
		return undefined;
	}
	const plain = leaf(part, key, path, walk);
	const inner = nodeOf({ before, after, sensitive: undefined, changed: undefined, unknown: undefined }, key, path, walk);
	if (!inner.children) {
		return undefined;
	}
	const labels = plain.state === "changed" && inner.state === "same" ? ["formatting only"] : plain.labels;
	return { ...plain, children: inner.children, shape: "json", labels };
}

function nodeOf(part: Part, key: string, path: Path, walk: Walk): Node {
	const isLeaf = part.sensitive === true || part.unknown === true || path.length > deepest;
	if (!isLeaf) {
		const sides = [part.before, part.after, part.unknown].filter((side) => !nothing(side));
		if (sides.length > 0 && sides.every(isObject)) {
			return container(part, key, path, walk, "object");
		}
		if (sides.length > 0 && sides.every(isList)) {
			return container(part, key, path, walk, "list");
		}
		const json = jsonNode(part, key, path, walk);
		if (json) {
			return json;
		}
	}
	return leaf(part, key, path, walk);
}

// treeOf: the change's attributes; an output has one node, its value. The absent side of a creation or a deletion is
// null in the plan.
export function treeOf(change: Change): readonly Node[] {
	const walk = { replacePaths: change.replacePaths };
	const { before, after, sensitive, changed, unknown } = change;
	const isResource = change.row.list !== "outputs";
	const absent = (side: Json | undefined, other: Json | undefined) => (side === null && other !== null && isResource ? undefined : side);
	const part = { before: absent(before, after), after: absent(after, before), sensitive, changed, unknown };
	if (sensitive === true && isResource) {
		return [leaf({ ...part, before, after }, change.name || "value", [], walk)];
	}
	const root = nodeOf(part, "value", [], walk);
	return isResource && root.children && root.shape === "object" ? root.children : [root];
}

// ---- rows ----

export type Row =
	| { readonly kind: "node"; readonly node: Node; readonly id: string; readonly depth: number; readonly open: boolean }
	| { readonly kind: "unchanged"; readonly id: string; readonly depth: number; readonly count: number; readonly open: boolean };

const identity = new Set(["id", "name", "arn"]);

// Shown also without a change: id, name, arn and tags.Name.
const isIdentity = (path: Path) =>
	(path.length === 1 && identity.has(String(path[0]))) || (path.length === 2 && path[0] === "tags" && path[1] === "Name");

// A null of a created or destroyed object says nothing.
const isEmpty = (node: Node) =>
	(node.state === "added" && node.after.kind === "value" && node.after.value === null) ||
	(node.state === "removed" && node.before.kind === "value" && node.before.value === null);

const isQuiet = (node: Node) => node.state === "same" || isEmpty(node);

function isShown(node: Node): boolean {
	if (!isQuiet(node)) {
		return true;
	}
	const named = node.key === "tags" && node.path.length === 1 && node.children?.some((child) => isIdentity(child.path));
	return Boolean(named) || (isIdentity(node.path) && node.after.kind !== "absent" && !isEmpty(node));
}

// rowsOf: the rows to show. `toggled` has the ids of the rows that are not in their usual state: containers are open,
// unchanged attributes are not, unless `whole`.
export function rowsOf(nodes: readonly Node[], toggled: ReadonlySet<string>, whole: boolean): readonly Row[] {
	const rows: Row[] = [];
	const visit = (list: readonly Node[], parent: string, depth: number) => {
		const rest = `${parent}/unchanged`;
		const all = toggled.has(rest) !== whole;
		let quiet = 0;
		list.forEach((node, at) => {
			const shown = isShown(node);
			quiet += shown ? 0 : 1;
			if (!shown && !all) {
				return;
			}
			const id = `${parent}/${at}`;
			const open = node.children !== undefined && !toggled.has(id);
			rows.push({ kind: "node", node, id, depth, open });
			if (open && node.children) {
				visit(node.children, id, depth + 1);
			}
		});
		if (quiet > 0) {
			rows.push({ kind: "unchanged", id: rest, depth, count: quiet, open: all });
		}
	};
	visit(nodes, "", 0);
	return rows;
}
