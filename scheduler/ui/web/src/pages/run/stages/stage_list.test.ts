// SPDX-License-Identifier: MPL-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Resource } from "../../core/resource.ts";
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
