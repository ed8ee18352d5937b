// SPDX-License-Identifier: MPL-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { changeHcl, hclString } from "./hcl.ts";
import { sideText } from "./side.ts";
import { type Change, changeOf, type Json } from "./summary.ts";
import { differLoad, linesOf, textPairs } from "./text_diff.ts";
import { type Node, rowsOf, treeOf } from "./tree.ts";

function change(before: unknown, after: unknown, more: Readonly<Record<string, unknown>> = {}): Change {
	const attributes = { list: "resource-changes", index: 0, action: "update", address: "t.a", type: "t", name: "a", before, after, ...more };
	return changeOf({ type: "plan-resource-changes", id: "plan-1-0", attributes });
}

// The tree as lines: "key: before -> after (labels)".
function lines(nodes: readonly Node[], indent = ""): string[] {
	return nodes.flatMap((node) => {
		const labels = [...node.labels, ...(node.forces ? ["forces"] : [])];
		const more = labels.length > 0 ? ` [${labels.join(", ")}]` : "";
		const values = node.shape === "object" || node.shape === "list" ? "" : `: ${sideText(node.before)} -> ${sideText(node.after)}`;
		return [`${indent}${node.state} ${node.key}${values}${more}`, ...lines(node.children ?? [], `${indent}  `)];
	});
}

const tree = (before: unknown, after: unknown, more = {}) => lines(treeOf(change(before, after, more)));

test("null, absent and empty differ, and types are named", () => {
	assert.deepEqual(tree({ a: null, b: "", c: "", d: 1, e: true, f: "1" }, { a: "", b: null, d: "1", e: true, f: ["1"] }), [
		'changed a: null -> ""',
		'changed b: "" -> null',
		'removed c: "" -> ',
		'changed d: 1 -> "1" [type: number → string]',
		"same e: true -> true",
		'changed f: "1" -> ["1"] [type: string → list]',
	]);
});

test("known after apply, sensitive and changed sensitive values, at each level", () => {
	const shown = tree(
		{ id: "i-1", password: null, same: null, block: { key: null, list: [null, "b"] } },
		{ password: null, same: null, block: { key: null, list: [null, "b"] } },
		{
			sensitive: { password: true, same: true, block: { key: true, list: [true] } },
			changed: { password: true, block: { list: [true] } },
			unknown: { id: true, block: { added: true } },
		},
	);
	assert.deepEqual(shown, [
		'changed id: "i-1" -> (known after apply)',
		"changed password: (sensitive) -> (sensitive, changed)",
		"same same: (sensitive) -> (sensitive)",
		"changed block",
		"  same key: (sensitive) -> (sensitive)",
		"  changed list",
		"    changed 0: (sensitive) -> (sensitive, changed)",
		'    same 1: "b" -> "b"',
		"  added added:  -> (known after apply)",
	]);
	assert.deepEqual(tree(null, null, { sensitive: true, changed: true, action: "create" }), [
		"changed a: (sensitive) -> (sensitive, changed)",
	]);
});

test("a value that looks like a mark is in quotes", () => {
	assert.deepEqual(tree({ a: "(sensitive)" }, { a: "(known after apply)" }), ['changed a: "(sensitive)" -> "(known after apply)"']);
});

test("replacement is forced at its path", () => {
	const shown = tree({ a: { b: [1, 2] }, c: 1 }, { a: { b: [1, 3] }, c: 2 }, { "replace-paths": [["a", "b", 1], ["c"], "junk", [{}]] });
	assert.deepEqual(shown, [
		"changed a",
		"  changed b",
		"    same 0: 1 -> 1",
		"    removed 1: 2 ->  [forces]",
		"    added 1:  -> 3 [forces]",
		"changed c: 1 -> 2 [forces]",
	]);
});

test("lists find what moved; plain values compare by value and objects inside", () => {
	assert.deepEqual(tree({ l: ["a", "b", "c", "d"] }, { l: ["b", "c", "x", "d"] }), [
		"changed l",
		'  removed 0: "a" -> ',
		'  same 1 → 0: "b" -> "b"',
		'  same 2 → 1: "c" -> "c"',
		'  added 2:  -> "x"',
		'  same 3: "d" -> "d"',
	]);
	assert.deepEqual(tree({ l: [{ n: 1 }, { n: 2 }, { n: 3 }] }, { l: [{ n: 2 }, { n: 4 }] }), [
		"changed l",
		"  removed 0",
		"    removed n: 1 -> ",
		"  same 1 → 0",
		"    same n: 2 -> 2",
		"  changed 2 → 1",
		"    changed n: 3 -> 4",
	]);
	assert.equal(tree({ l: [] }, { l: ["a"] })[1], '  added 0:  -> "a"');
});

test("strings with JSON are compared as structure; formatting and whitespace are named", () => {
	assert.deepEqual(tree({ p: '{"a":1,"b":[2]}' }, { p: '{"a": 1, "b": [3]}' }), [
		'changed p: "{\\"a\\":1,\\"b\\":[2]}" -> "{\\"a\\": 1, \\"b\\": [3]}"',
		"  same a: 1 -> 1",
		"  changed b",
		"    removed 0: 2 -> ",
		"    added 0:  -> 3",
	]);
	assert.match(tree({ p: '{"a":1}' }, { p: '{ "a": 1 }' })[0] ?? "", /\[formatting only\]$/);
	assert.match(tree({ p: "a b\n" }, { p: "a  b" })[0] ?? "", /\[whitespace only\]$/);
	assert.equal(tree({ p: '{"a":1}' }, { p: "{no json" }).length, 1);
	assert.equal(tree({ p: "[1" }, { p: '"x"' }).length, 1);
});

test("creations and deletions list what is known, without their nulls", () => {
	const created = treeOf(change(null, { a: 1, b: null, c: {} }, { action: "create", unknown: { id: true } }));
	const rows = rowsOf(created, new Set(), false);
	assert.deepEqual(
		rows.map((row) => (row.kind === "node" ? row.node.key : `${row.count} unchanged`)),
		["a", "c", "id", "1 unchanged"],
	);
	assert.deepEqual(
		treeOf(change({ a: 1 }, null, { action: "delete" })).map((node) => node.state),
		["removed"],
	);
});

test("unchanged attributes are folded but for the identity, and unfold", () => {
	const nodes = treeOf(
		change(
			{ id: "i", name: "n", x: 1, y: 2, tags: { Name: "N", a: "1" } },
			{ id: "i", name: "n", x: 1, y: 3, tags: { Name: "N", a: "1" } },
		),
	);
	const keys = (rows: ReturnType<typeof rowsOf>) => rows.map((row) => (row.kind === "node" ? row.node.key : `${row.count} unchanged`));
	const folded = rowsOf(nodes, new Set(), false);
	assert.deepEqual(keys(folded), ["id", "name", "y", "tags", "Name", "1 unchanged", "1 unchanged"]);
	const last = folded.at(-1);
	assert.ok(last?.kind === "unchanged");
	assert.ok(keys(rowsOf(nodes, new Set([last.id]), false)).includes("x"));
	assert.deepEqual(keys(rowsOf(nodes, new Set(), true)), ["id", "name", "x", "y", "tags", "Name", "a", "1 unchanged", "1 unchanged"]);
});

test("an output is one value", () => {
	assert.deepEqual(tree("a", "b", { list: "outputs" }), ['changed value: "a" -> "b"']);
	assert.deepEqual(tree(null, null, { list: "outputs", sensitive: true, changed: true }), [
		"changed value: (sensitive) -> (sensitive, changed)",
	]);
	assert.deepEqual(tree(undefined, { a: 1 }, { list: "outputs" }), ["added value", "  added a:  -> 1"]);
});

test("hostile values end: deep, wide, odd names and masks that do not fit", () => {
	const deep = (levels: number) => Array.from({ length: levels }).reduce<unknown>((inner) => ({ a: inner }), 1);
	assert.ok(tree(deep(2000), deep(1999)).length < 100);
	const wide = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, i]));
	assert.equal(treeOf(change(wide, {})).length, 20_000);
	const odd = JSON.parse('{"__proto__": 1, "constructor": "x", "": 2, "a\\n": 3}') as Json;
	assert.deepEqual(tree({}, odd), ["added __proto__:  -> 1", 'added constructor:  -> "x"', "added :  -> 2", "added a\n:  -> 3"]);
	assert.deepEqual(tree({ toString: 1 }, {}), ["removed toString: 1 -> "]);
	assert.doesNotThrow(() => tree({ a: 1 }, { a: [1] }, { sensitive: [true], unknown: "x", changed: { a: { b: true } } }));
	const long = Array.from({ length: 5000 }, (_, i) => i);
	const began = process.cpuUsage().user / 1000;
	tree({ l: long }, { l: long.slice(1) });
	assert.ok(process.cpuUsage().user / 1000 - began < 1000);
});

test("texts are compared line by line with their words", async () => {
	const differ = await differLoad();
	const side = (words: readonly { text: string; differs: boolean }[] | undefined) =>
		words?.map((word) => (word.differs ? `<${word.text}>` : word.text)).join("") ?? "none";
	const shown = (before: string, after: string) =>
		textPairs(before, after, differ)?.map((pair) =>
			pair.kind === "skipped" ? `${pair.count} same` : `${side(pair.before)} | ${side(pair.after)}`,
		);
	assert.deepEqual(shown("a\nport = 80\nc\n", "a\nport = 443\nc\nd\n"), ["a | a", "port = <80> | port = <443>", "c | c", "none | <d>"]);
	assert.deepEqual(shown("+ a\n- b\n", "+ a\n"), ["+ a | + a", "<- b> | none"]);
	const many = Array.from({ length: 100 }, (_, i) => `line ${i}\n`).join("");
	assert.deepEqual(shown(`${many}x\n`, `${many}y\n`)?.slice(0, 2), ["97 same", "line 97 | line 97"]);
	assert.equal(textPairs("x".repeat(15_000), "y".repeat(15_000), differ), undefined);
	assert.deepEqual(linesOf("a\n\n"), ["a", ""]);
});

test("comparing hostile texts ends soon", async () => {
	const differ = await differLoad();
	const noise = (seed: number) => Array.from({ length: 4900 }, (_, i) => "abcdefgh\n"[(i * i * seed + i) % 9]).join(" ");
	const began = process.cpuUsage().user / 1000;
	textPairs(noise(7), noise(13), differ);
	assert.ok(process.cpuUsage().user / 1000 - began < 5000);
});

test("HCL is escaped, and hides what is unknown or sensitive", () => {
	// biome-ignore lint/suspicious/noTemplateCurlyInString: it is HCL
	assert.equal(hclString('a"b\\${x} %{y}\n\u202e'), '"a\\"b\\\\$${x} %%{y}\\n\\u202e"');
	const shown = changeHcl(
		change(
			{ a: 1 },
			{ a: "x", "odd key": [1, null, { b: true }], secret: null, none: null, empty: {}, list: [null] },
			{ sensitive: { secret: true, list: [true] }, unknown: { id: true } },
		),
	);
	assert.equal(
		shown,
		[
			'resource "t" "a" {',
			'  a = "x"',
			'  "odd key" = [',
			"    1,",
			"    null,",
			"    {",
			"      b = true",
			"    },",
			"  ]",
			"  secret = null # sensitive",
			"  empty = {}",
			"  list = [",
			"    null, # sensitive",
			"  ]",
			"  id = null # known after apply",
			"}",
			"",
		].join("\n"),
	);
	assert.equal(changeHcl(change("x", "y", { list: "outputs", address: "o" })), 'output "o" {\n  value = "y"\n}\n');
});
