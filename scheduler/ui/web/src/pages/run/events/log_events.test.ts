// SPDX-License-Identifier: MPL-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { EventBytes, eventRead, problemsOfLog, progressNew, rowsSorted, slowest, tally } from "./log_events.ts";

const at = (second: number) => `2026-11-23T05:00:${String(second).padStart(2, "0")}.000000Z`;

function line(type: string, second: number, more: Record<string, unknown>): string {
	return JSON.stringify({ type, "@timestamp": at(second), "@message": "x", ...more });
}

const planned = (addr: string, action: string) => line("planned_change", 0, { change: { resource: { addr }, action } });
const hook = (type: string, second: number, addr: string, action: string, more = {}) =>
	line(type, second, { hook: { resource: { addr }, action, ...more } });

function read(...lines: string[]) {
	const progress = progressNew();
	for (const one of lines) {
		eventRead(progress, one);
	}
	return progress;
}

test("each resource of an apply has a row, what failed and what runs first", () => {
	const progress = read(
		planned("a.done", "create"),
		planned("a.never", "update"),
		planned("a.failed", "delete"),
		planned("a.tainted", "create"),
		planned("a.running", "create"),
		planned("a.moved", "move"),
		hook("apply_start", 1, "a.done", "create"),
		hook("apply_complete", 4, "a.done", "create", { id_key: "id", id_value: "i-1" }),
		hook("apply_start", 2, "a.failed", "delete"),
		hook("apply_errored", 3, "a.failed", "delete"),
		hook("apply_start", 2, "a.tainted", "create"),
		hook("provision_start", 2, "a.tainted", "create", { provisioner: "local-exec" }),
		hook("provision_errored", 5, "a.tainted", "create"),
		hook("apply_errored", 5, "a.tainted", "create"),
		hook("apply_start", 5, "a.running", "create"),
		hook("provision_start", 5, "a.running", "create", { provisioner: "remote-exec" }),
	);
	assert.deepEqual(
		rowsSorted(progress).map((row) => `${row.address} ${row.state}`),
		["a.failed failed", "a.tainted tainted", "a.running provisioning", "a.never pending", "a.done done"],
	);
	assert.deepEqual(tally(progress), { total: 5, done: 1, running: 1, failed: 2 });
	assert.equal(progress.rows.get("a.done")?.id, "i-1");
	assert.deepEqual(
		slowest(progress, 2).map((row) => row.address),
		["a.done", "a.tainted"],
	);
});

test("each resource that a query finds has a row, with its identity in the order of names", () => {
	const found = {
		address: "list.folder_file.all",
		display_name: "a",
		resource_type: "folder_file",
		identity: { region: "eu", id: 7, tags: ["x"] },
	};
	const progress = read(
		line("list_start", 0, { list_start: { address: "list.folder_file.all" } }),
		line("list_resource_found", 1, { list_resource_found: found }),
		line("list_resource_found", 1, { list_resource_found: { ...found, config: "resource {}", import_config: "import {}" } }),
		line("list_resource_found", 1, {}),
		line("list_complete", 2, { list_complete: { address: "list.folder_file.all", total: 3 } }),
	);
	const row = { address: "list.folder_file.all", type: "folder_file", identity: 'id=7, region=eu, tags=["x"]', name: "a", config: "" };
	assert.deepEqual(progress.queried, [
		row,
		{ ...row, config: "resource {}\n\nimport {}" },
		{ address: "", type: "", identity: "", name: "", config: "" },
	]);
	assert.equal(progress.queriedCount, 3);
});

test("a destruction whose provisioner fails has failed: the resource is not tainted", () => {
	const progress = read(
		planned("a.b", "replace"),
		hook("apply_start", 1, "a.b", "delete"),
		hook("provision_start", 1, "a.b", "delete", { provisioner: "local-exec" }),
		hook("provision_errored", 2, "a.b", "delete"),
		hook("apply_errored", 2, "a.b", "delete"),
	);
	assert.equal(progress.rows.get("a.b")?.state, "failed");
});

test("a replacement is done after its destruction and its creation", () => {
	const progress = read(planned("a.b", "replace"), hook("apply_start", 1, "a.b", "delete"), hook("apply_complete", 2, "a.b", "delete"));
	assert.equal(progress.rows.get("a.b")?.state, "running");
	eventRead(progress, hook("apply_start", 2, "a.b", "create"));
	eventRead(progress, hook("apply_complete", 3, "a.b", "create", { id_value: "new" }));
	assert.deepEqual(
		[progress.rows.get("a.b")?.state, progress.rows.get("a.b")?.id, progress.rows.get("a.b")?.action],
		["done", "new", "replace"],
	);
});

test("a plan counts what it refreshes and finds", () => {
	const progress = read(
		hook("refresh_start", 1, "a.b", ""),
		hook("refresh_start", 1, "a.c", ""),
		hook("refresh_complete", 2, "a.b", ""),
		planned("a.b", "update"),
		line("planned_change", 0, { change: { resource: { addr: "a.d" }, previous_resource: { addr: "a.e" }, action: "move" } }),
	);
	assert.deepEqual([progress.refreshing, progress.refreshed, progress.found], [2, 1, 2]);
	assert.deepEqual(progress.planned, [
		{ address: "a.b", action: "update", previous: "", reason: "" },
		{ address: "a.d", action: "move", previous: "a.e", reason: "" },
	]);
	assert.deepEqual([...progress.rows.keys()], ["a.b"]);
});

test("errors come first, and those with the same text are one problem", () => {
	const diagnostic = (severity: string, summary: string, address: string) =>
		line("diagnostic", 1, {
			diagnostic: {
				severity,
				summary,
				detail: "d",
				address,
				range: { filename: "main.tf", start: { line: 5 } },
				snippet: {
					code: "x = y",
					start_line: 5,
					highlight_start_offset: 4,
					highlight_end_offset: 5,
					values: [{ traversal: "y", statement: "is 1" }],
				},
			},
		});
	const problems = problemsOfLog(
		read(diagnostic("warning", "old", "a"), diagnostic("error", "bad", "b"), diagnostic("error", "bad", "c")).diagnostics,
	);
	assert.deepEqual(
		problems.map((problem) => [problem.severity, problem.summary, problem.places.map((place) => place.address)]),
		[
			["error", "bad", ["b", "c"]],
			["warning", "old", ["a"]],
		],
	);
	const [place] = problems[0]?.places ?? [];
	assert.deepEqual([place?.file, place?.line, place?.code.slice(place.from, place.to), place?.values], ["main.tf", 5, "y", ["y is 1"]]);
});

test("lines that are no events, and hostile ones, change nothing", () => {
	const progress = read(
		"Terraform v1.11.4",
		"{not json",
		"{}",
		'{"type":"constructor"}',
		'{"type":"__proto__"}',
		'{"type":"apply_start"}',
		'{"type":"apply_start","hook":{"resource":{"addr":5}}}',
		'{"type":"outputs","outputs":[1]}',
		'{"type":"planned_change","change":null}',
	);
	assert.deepEqual([progress.rows.size, progress.diagnostics.length, progress.outputs.length], [0, 0, 0]);
	eventRead(progress, planned("__proto__", "create"));
	assert.equal(progress.rows.get("__proto__")?.state, "pending");
});

test("a line and a character may be split between ranges", () => {
	const text = `\u0002${hook("apply_start", 1, "a.ö", "create")}\n${hook("apply_complete", 2, "a.ö", "create")}\n\u0003`;
	const bytes = new TextEncoder().encode(text);
	for (let cut = 1; cut < bytes.length; cut += 7) {
		const events = new EventBytes();
		events.add(bytes.slice(0, cut));
		events.add(bytes.slice(cut));
		assert.equal(events.progress.rows.get("a.ö")?.state, "done");
	}
});

test("sensitive outputs have no value", () => {
	const progress = read(line("outputs", 1, { outputs: { a: { sensitive: true, type: "string" }, b: { sensitive: false, value: [1] } } }));
	assert.deepEqual(progress.outputs, [
		{ name: "a", sensitive: true, value: undefined },
		{ name: "b", sensitive: false, value: [1] },
	]);
});
