// SPDX-License-Identifier: MPL-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { countsOf, lostOf } from "../../changes/counts.ts";
import { waitParts } from "../../components/wait_text.tsx";
import type { Resource } from "../../core/resource.ts";
import { optionsOf } from "./actions/again.ts";
import { fasterText } from "./actions/dialog.tsx";
import { isBefore } from "./actions/explain.tsx";
import { forceCancelWait } from "./actions/table.ts";
import { tagsOf } from "./stages/outcomes.tsx";
import { failedNames, opaSets, sentinelSets } from "./stages/policies.ts";
import { warningsOf } from "./stages/stage_list.ts";

function object(type: string, id: string, attributes: Record<string, unknown>): Resource {
	return { type, id, attributes };
}

const plan = object("plans", "plan-1", { "resource-additions": 2, "resource-changes": 1, "resource-destructions": 2 });
const changes = object("plan-changes", "plan-1", {
	"resource-changes": [
		{ action: "delete,create", address: "a.replaced" },
		{ action: "create", address: "a.new", badges: ["import"] },
		{ action: "update", address: "a.old" },
		{ action: "delete", address: "a.gone" },
		{ action: "no-op", address: "a.moved", badges: ["move"] },
	],
});

test("replacements are counted by themselves once the list of changes is there", () => {
	assert.deepEqual(countsOf(plan, undefined), { create: 2, update: 1, replace: 0, delete: 2, import: 0, move: 0 });
	assert.deepEqual(countsOf(plan, changes), { create: 1, update: 1, replace: 1, delete: 1, import: 1, move: 1 });
});

test("destroyed and replaced addresses are listed, as many as the plan destroys", () => {
	assert.deepEqual(lostOf(changes), [
		{ address: "a.gone", replaced: false },
		{ address: "a.replaced", replaced: true },
	]);
	assert.equal(lostOf(changes).length, plan.attributes["resource-destructions"]);
	assert.deepEqual(lostOf(object("plan-changes", "plan-2", { "resource-changes": "x" })), []);
});

test("the newest action of a person says who was faster", () => {
	const event = (action: string, second: number) =>
		object("run-events", `re-${second}`, { action, "created-at": `2026-11-23T05:00:0${second}Z` });
	const events = [event("created", 0), event("confirmed", 3), event("started", 4)];
	const now = Date.parse("2026-11-23T05:00:09Z");
	assert.equal(
		fasterText(events, () => "ada", now),
		"confirmed by ada 6 s ago",
	);
	assert.equal(
		fasterText(events, () => "", now),
		"",
	);
});

test("Force Cancel is possible once the API says so, whatever this browser's clock shows", () => {
	const at = "2026-11-23T05:00:10Z";
	const run = (possible: boolean) =>
		object("runs", "run-1", { "force-cancel-available-at": at, actions: { "is-force-cancelable": possible } });
	const before = Date.parse(at) - 4000;
	assert.deepEqual([forceCancelWait(run(false), before), forceCancelWait(run(true), before)], [4000, 0]);
	assert.equal(forceCancelWait(run(false), Date.parse(at) + 1), 0);
});

test("a pending run stands behind the current run and those queued earlier", () => {
	const run = (id: string, status: string, place: number, planOnly = false) =>
		object("runs", id, { status, "position-in-queue": place, "plan-only": planOnly });
	const mine = run("run-me", "pending", 2);
	const others = [
		mine,
		run("run-current", "planned", 0),
		run("run-first", "pending", 1),
		run("run-late", "pending", 3),
		run("run-spec", "pending", 0, true),
	];
	assert.deepEqual(
		others.filter((other) => isBefore(other, mine, "run-current")).map((other) => other.id),
		["run-current", "run-first"],
	);
});

test("a new plan has the options of the old one", () => {
	const options = optionsOf(
		object("runs", "run-1", { message: "m", "plan-only": true, refresh: true, "target-addrs": ["a.b"], "replace-addrs": null }),
		"1.9.0",
	);
	assert.deepEqual(
		[
			options.message,
			options["plan-only"],
			options.refresh,
			options["target-addrs"],
			options["replace-addrs"],
			options["terraform-version"],
		],
		["m", true, true, ["a.b"], undefined, "1.9.0"],
	);
});

test("severity and status are the first tags", () => {
	const tags = tagsOf([
		{ label: "Cost Centre", value: [{ label: "IT" }] },
		{ label: "Status", value: [{ label: "Failed", level: "error" }] },
		{ label: "Severity", value: [{ label: "High", level: "error" }, "Low"] },
		null,
	]);
	assert.deepEqual(
		tags.slice(0, 4).map((tag) => `${tag.label}: ${tag.value} ${tag.level}`),
		["Severity: High error", "Severity: Low none", "Status: Failed error", "Cost Centre: IT none"],
	);
});

test("failed policies come first, and an override names the mandatory ones", () => {
	const [set] = opaSets([
		object("policy-set-outcomes", "psout-1", {
			"policy-set-name": "guardrails",
			error: null,
			outcomes: [
				{ policy_name: "good", status: "passed", enforcement_level: "mandatory", output: [] },
				{ policy_name: "soft", status: "failed", enforcement_level: "advisory", output: [{ print: "a" }] },
				{ policy_name: "hard", status: "errored", enforcement_level: "mandatory", output: [{ print: "b" }, { print: "c" }] },
			],
		}),
	]);
	assert.deepEqual(
		set?.policies.map((policy) => [policy.name, policy.state, policy.reason, policy.output]),
		[
			["hard", "errored", "b", "c"],
			["soft", "failed", "", "a"],
			["good", "passed", "", ""],
		],
	);
	assert.deepEqual(failedNames(set ? [set] : []), ["hard"]);
	const sets = sentinelSets(
		object("policy-checks", "polchk-1", {
			result: {
				sentinel: {
					data: {
						company: {
							policies: [
								{ policy: "company/y", "enforcement-level": "advisory", result: false, error: "y:1:1: no", trace: { print: "" } },
								{
									policy: "company/x",
									"enforcement-level": "soft-mandatory",
									result: false,
									trace: { print: "Fail", description: "No x." },
								},
							],
						},
					},
				},
			},
		}),
	);
	assert.deepEqual(failedNames(sets), ["x"]);
	assert.deepEqual(
		sets[0]?.policies.map((policy) => [policy.name, policy.state, policy.description, policy.reason, policy.output]),
		[
			["x", "failed", "No x.", "", "Fail"],
			["y", "errored", "", "y:1:1: no", ""],
		],
	);
	assert.deepEqual(sentinelSets(object("policy-checks", "polchk-2", {})), []);
});

test("the links of a waiting sentence lead to pages of this site", () => {
	const wait = object("run-waits", "run-1", {
		text: "Behind run-0 (awaiting confirmation, 2 h).",
		links: [
			{ text: "run-0", href: "/app/acme/workspaces/net/runs/run-0" },
			{ text: "Behind", href: "/app/acme/queue" }, // before the last link
			{ text: "confirmation", href: "https://elsewhere.example" },
		],
	});
	assert.deepEqual(waitParts(wait), [
		{ text: "Behind " },
		{ text: "run-0", href: "/app/acme/workspaces/net/runs/run-0" },
		{ text: " (awaiting confirmation, 2 h)." },
	]);
	assert.deepEqual(waitParts(object("run-waits", "run-1", {})), []);
});

test("advisory tasks and policies that failed are warnings", () => {
	const result = (status: string, level: string) =>
		object("task-results", "t", { status, "workspace-task-enforcement-level": level, "task-name": "scan" });
	const parts = {
		tasks: { post_apply: [result("failed", "advisory"), result("failed", "mandatory"), result("passed", "advisory")] },
		opa: object("policy-evaluations", "p", { "result-count": { "advisory-failed": 2 } }),
	};
	assert.deepEqual(warningsOf(parts), [
		{ stage: "post_apply", text: "scan failed (advisory)" },
		{ stage: "opa", text: "2 advisory policies failed" },
	]);
});
