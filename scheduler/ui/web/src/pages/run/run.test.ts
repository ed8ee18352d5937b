// SPDX-License-Identifier: MPL-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Resource } from "../../core/resource.ts";
import { LogText, lineShown } from "./log/log_text.ts";
import { stageList } from "./stage_list.ts";

function part(type: string, status: string): Resource {
	return { type, id: `${type}-1`, attributes: { status } };
}

function run(status: string, times: Record<string, string>): Resource {
	return { type: "runs", id: "run-1", attributes: { status, "status-timestamps": times } };
}

test("stages that are not configured are left out", () => {
	const list = stageList(run("planned", { "plan-queued-at": "2026-11-23T05:00:00Z", "planned-at": "2026-11-23T05:00:09Z" }), {
		plan: part("plans", "finished"),
		apply: part("applies", "pending"),
	});
	assert.deepEqual(
		list.map((stage) => [stage.name, stage.state]),
		[
			["plan", "passed"],
			["apply", "waiting"],
		],
	);
});

test("nothing waits or runs in a run that has ended", () => {
	const list = stageList(run("discarded", { "plan-queued-at": "2026-11-23T05:00:00Z" }), {
		plan: part("plans", "finished"),
		apply: part("applies", "pending"),
	});
	assert.deepEqual(
		list.map((stage) => stage.state),
		["passed", "stopped"],
	);
});

test("a log keeps incomplete lines and characters for the next range", () => {
	const bytes = new TextEncoder().encode("\u0002one\ntwö\nthree\u0003");
	const log = new LogText();
	assert.equal(log.add(bytes.slice(0, 7)), "one\n");
	assert.equal(log.add(bytes.slice(7, 8)), "");
	assert.equal(log.ended, false);
	assert.equal(log.add(bytes.slice(8)), "twö\nthree");
	assert.equal(log.ended, true);
});

test("lines show the message of JSON, the last overwritten text, and no escapes", () => {
	assert.equal(lineShown('{"@level":"info","@message":"Apply complete"}'), "Apply complete");
	assert.equal(lineShown("{not json"), "{not json");
	assert.equal(lineShown("10%\r100%\r"), "100%");
	assert.equal(lineShown("\x1b[1m\x1b[31mError:\x1b[0m no \x1b]8;;http://x\x07link"), "Error: no link");
});
