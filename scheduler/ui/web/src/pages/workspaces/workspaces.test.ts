// SPDX-License-Identifier: MPL-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { stableOrder } from "../../core/stable_rows.ts";
import { groupCounts, recentRuns, recentText, searchOf, sortOf } from "./list.ts";

test("rows stay where they are until the list is sorted again", () => {
	assert.deepEqual(stableOrder(["a", "b", "c"], ["b", "a", "c"]), { ids: ["a", "b", "c"], changed: 2 });
	assert.deepEqual(stableOrder(["a", "b"], ["c", "a", "b"]), { ids: ["a", "b"], changed: 1 });
	assert.deepEqual(stableOrder(["a", "b"], ["b"]), { ids: ["a", "b"], changed: 1 });
	assert.deepEqual(stableOrder([], ["b"]), { ids: ["b"], changed: 0 });
	assert.deepEqual(stableOrder(["a"], ["a"]), { ids: ["a"], changed: 0 });
});

test("tag: words search tags, the rest is a name", () => {
	assert.deepEqual(searchOf("net tag:prod tag:eu=west"), {
		"search[name]": "net",
		"filter[tagged][0][key]": "prod",
		"filter[tagged][0][value]": "",
		"filter[tagged][1][key]": "eu",
		"filter[tagged][1][value]": "west",
	});
	assert.deepEqual(searchOf(""), {});
	assert.equal(sortOf("-latest-change-at"), "-latest-change-at");
	assert.equal(sortOf("nonsense"), undefined);
});

test("the chips count the workspaces of their statuses", () => {
	const counts = groupCounts({
		type: "workspace-status-counts",
		id: "acme",
		attributes: { total: 9, statuses: { planned: 2, policy_override: 1, errored: 1, applied: 3, planning: 1 } },
	});
	assert.deepEqual(counts, { "": 9, attention: 3, errored: 1, running: 1, hold: 0, applied: 3 });
	assert.deepEqual(groupCounts(undefined), {});
});

test("the bars of recent runs begin with the oldest and have words", () => {
	const attributes = { runs: ["planned", "applied", "applied"].map((status, i) => ({ id: `run-${i}`, status })) };
	const runs = recentRuns({ type: "workspace-recent-runs", id: "ws-1", attributes });
	assert.deepEqual(
		runs.map((run) => run.id),
		["run-2", "run-1", "run-0"],
	);
	assert.equal(recentText(runs), "Last 3 runs: 2 Applied, 1 Needs Confirmation");
	assert.deepEqual(recentRuns(undefined), []);
});
