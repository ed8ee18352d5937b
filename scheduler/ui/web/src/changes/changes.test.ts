// SPDX-License-Identifier: MPL-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Resource } from "../core/resource.ts";
import { actionOf, reasonText } from "./classes.ts";
import { countsOf, entriesOf, filterItems, groupKeys, itemsOf, modulePath, placeFragment, placeId } from "./items.ts";
import { riskText } from "./risk_hints.ts";
import { Stack } from "./stack.ts";
import { summaryOf } from "./summary.ts";

type Fields = Readonly<Record<string, unknown>>;

function summary(parts: Readonly<Record<string, readonly unknown[]>>): ReturnType<typeof summaryOf> {
	const resource: Resource = { type: "plan-changes", id: "plan-1", attributes: { truncated: false, ...parts } };
	return summaryOf(resource);
}

const change = (address: string, action: string, more: Fields = {}) => ({ index: 0, address, action, type: "t", ...more });

const plan = summary({
	"resource-changes": [
		change("t.new", "create"),
		change("t.moved", "no-op", { badges: ["move"], "previous-address": "t.old" }),
		change("t.changed", "update", { changed: ["tags"], "changed-count": 1, badges: ["import"] }),
		change("module.a.t.gone", "delete", { module: "module.a" }),
		change("t.strange", "create,forget"),
		change('module.a.module.b["x.module.y"].t.swap', "delete,create", { module: 'module.a.module.b["x.module.y"]', type: "u" }),
		change("t.forgotten", "forget"),
		change("data.t.read", "read"),
		change("t.first", "create,delete", { deposed: "abcd" }),
	],
	drift: [change("t.x", "update"), change("t.y", "update", { relevant: true })],
	outputs: [change("said", "update")],
	deferred: [change("t.later", "create", { "deferred-reason": "deferred_prereq" })],
	checks: [{ address: "check.young", kind: "check", status: "fail", problems: ["it is old"] }],
});

test("destructive rows come first, then the other classes in their order", () => {
	const items = itemsOf(plan);
	assert.deepEqual(
		items.map((item) => item.id),
		[
			"change:module.a.t.gone",
			'change:module.a.module.b["x.module.y"].t.swap',
			"change:t.first deposed abcd",
			"change:t.strange",
			"change:t.changed",
			"change:t.new",
			"change:data.t.read",
			"change:t.moved",
			"change:t.forgotten",
			"deferred:t.later",
			"drift:t.y",
			"drift:t.x",
			"output:said",
			"check:check.young",
		],
	);
	const counts = countsOf(items);
	assert.deepEqual([counts.get("replace"), counts.get("drift"), counts.get("import"), counts.get("move")], [2, 2, 1, 1]);
});

test("an unknown action is shown as text, and so is an unknown reason", () => {
	const words = plan.rows.slice(0, 9).map((row) => actionOf(row).word);
	assert.deepEqual(words, [
		"create",
		"move only",
		"update",
		"destroy",
		"create,forget",
		"replace",
		"remove from state",
		"read",
		"replace, create first",
	]);
	const strange = summary({ "resource-changes": [change("a", "constructor"), change("b", "__proto__"), change("c", "")] });
	assert.deepEqual(
		strange.rows.map((row) => actionOf(row).word),
		["constructor", "__proto__", "unknown"],
	);
	assert.equal(reasonText("replace_because_tainted"), "it is tainted");
	assert.equal(reasonText("some_new_reason"), "some new reason");
	assert.equal(reasonText("toString"), "toString");
});

test("rows of wrong shapes are read as far as possible", () => {
	const odd = summary({
		"resource-changes": [null, 7, { address: 3, changed: [1, "a"], badges: "x" }],
		checks: [null],
		drift: "no" as unknown as [],
	});
	assert.deepEqual([odd.rows.length, odd.checks.length], [3, 1]);
	assert.deepEqual(odd.rows[2]?.changed, ["a"]);
	assert.equal(itemsOf(odd).length, 4);
});

test("filters take classes, badges and words of the address, type and attributes", () => {
	const items = itemsOf(plan);
	const ids = (text: string, ...keys: string[]) => filterItems(items, { classes: new Set(keys), text }).map((item) => item.id);
	assert.deepEqual(ids("", "destroy", "create"), ["change:module.a.t.gone", "change:t.new"]);
	assert.deepEqual(ids("", "import"), ["change:t.changed"]);
	assert.deepEqual(ids("TAGS"), ["change:t.changed"]);
	assert.deepEqual(ids("module.a swap"), ['change:module.a.module.b["x.module.y"].t.swap']);
	assert.deepEqual(ids("t.old"), ["change:t.moved"]);
	assert.equal(ids("").length, items.length);
});

test("groups by module are a tree with counts, and closed groups hide their rows", () => {
	assert.deepEqual(modulePath('module.a.module.b["x.module.y"].module.c[0]'), ["module.a", 'module.b["x.module.y"]', "module.c[0]"]);
	assert.deepEqual(modulePath('module.b["a\\".module.x"]'), ['module.b["a\\".module.x"]']);
	assert.deepEqual(modulePath(""), []);
	const items = itemsOf(plan);
	const shown = (closed: ReadonlySet<string>) =>
		entriesOf(items, "module", closed).map((entry) =>
			entry.kind === "head" ? `${" ".repeat(entry.depth)}${entry.title} (${entry.count})` : entry.item.row.address,
		);
	const all = shown(new Set());
	assert.deepEqual(all.slice(0, 4), [
		"module.a (2)",
		"module.a.t.gone",
		' module.b["x.module.y"] (1)',
		'module.a.module.b["x.module.y"].t.swap',
	]);
	assert.ok(all.includes("Root module (7)"));
	const swap = items[1];
	assert.ok(swap);
	assert.deepEqual(groupKeys(swap, "module"), ["\nmodule.a", '\nmodule.a\nmodule.b["x.module.y"]']);
	assert.deepEqual(shown(new Set(["\nmodule.a"])).slice(0, 2), ["module.a (2)", "Root module (7)"]);
});

test("groups by type and by the only changed attribute", () => {
	const heads = (grouping: "type" | "attribute" | "class") =>
		entriesOf(itemsOf(plan), grouping, new Set()).flatMap((entry) => (entry.kind === "head" ? [`${entry.title} ${entry.count}`] : []));
	assert.deepEqual(heads("type").slice(0, 2), ["t 8", "u 1"]);
	assert.ok(heads("attribute").includes("Only tags changed 1"));
	assert.deepEqual(heads("class").slice(0, 3), ["Destroy 1", "Replace 2", "Other actions 1"]);
});

test("risk hints name what is destroyed or replaced", () => {
	const { risks } = summary({
		"risk-hints": [
			{ type: "aws_db_instance", action: "replace", count: 2 },
			{ type: "terraform_data", action: "delete", count: 1 },
		],
	});
	assert.deepEqual(risks.map(riskText), [
		"2 databases (aws_db_instance) will be replaced",
		"1 resource (terraform_data) will be destroyed",
	]);
	assert.deepEqual(plan.risks, []);
});

test("20,000 rows are ordered, filtered and grouped fast", () => {
	const rows = Array.from({ length: 20_000 }, (_, i) =>
		change(`module.m${i % 50}.t.r[${i}]`, i % 3 ? "create" : "delete", { module: `module.m${i % 50}` }),
	);
	const items = itemsOf(summary({ "resource-changes": rows }));
	const began = process.cpuUsage().user / 1000;
	const entries = entriesOf(filterItems(items, { classes: new Set(), text: "r[1" }), "module", new Set());
	assert.ok(entries.length > 10_000);
	assert.ok(process.cpuUsage().user / 1000 - began < 1000);
});

test("a fragment names a row, whatever its address", () => {
	for (const item of itemsOf(plan)) {
		assert.equal(placeId(placeFragment(item)), item.id);
	}
	const odd = itemsOf(summary({ "resource-changes": [change('t.a["#50% <b>"]', "create")] }))[0];
	assert.ok(odd);
	assert.equal(placeId(placeFragment(odd)), odd.id);
	const broken = itemsOf(summary({ "resource-changes": [change("t.a\ud800", "create")] }))[0];
	assert.ok(broken);
	assert.equal(placeFragment(broken), "#change:t.a%EF%BF%BD");
	assert.equal(placeId("#plan:L1"), "");
	assert.equal(placeId("#change:%"), "change:%");
});

test("a stack finds the rows in view, with rows of any height", () => {
	const heights = [40, 500, 40, 0, 40];
	const stack = new Stack(5, (i) => heights[i] ?? 0);
	assert.deepEqual([stack.height, stack.top(0), stack.top(2), stack.top(5)], [620, 0, 540, 620]);
	assert.deepEqual(
		[0, 39, 40, 539, 540, 579, 580, 9999].map((at) => stack.at(at)),
		[0, 0, 1, 1, 2, 2, 4, 4],
	);
	assert.deepEqual(stack.rows(100, 100, 0), { first: 1, last: 2 });
	assert.deepEqual(new Stack(0, () => 40).rows(0, 100, 10), { first: 0, last: 0 });
});
