// SPDX-License-Identifier: MPL-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Resource } from "../../../core/resource.ts";
import { type Parts, stageList, timeSplit } from "./stage_list.ts";
import { interleave } from "./timeline.ts";

const at = (second: number) => `2026-11-23T05:00:${String(second).padStart(2, "0")}.000Z`;

function part(type: string, status: string, times: Record<string, string> = {}, more: Record<string, unknown> = {}): Resource {
	return { type, id: `${type}-1`, attributes: { status, "status-timestamps": times, ...more } };
}

function run(status: string, times: Record<string, string>, more: Record<string, unknown> = {}): Resource {
	return { type: "runs", id: "run-1", attributes: { status, "status-timestamps": times, "created-at": at(0), ...more } };
}

function result(status: string, level: string): Resource {
	return part("task-results", status, {}, { "workspace-task-enforcement-level": level, "task-name": "scan" });
}

const tasks = (of: Record<string, Resource[]> = {}) => of;
const planned = part("plans", "finished", { "queued-at": at(1), "started-at": at(3), "finished-at": at(8) });
const brief = (list: ReturnType<typeof stageList>) =>
	list.map((stage) => `${stage.name}: ${stage.label}${stage.note && `, ${stage.note}`}`);

test("stages that are not configured are left out", () => {
	const waits = run("planned", { "plan-queued-at": at(1), "planned-at": at(8) }, { actions: { "is-confirmable": true } });
	assert.deepEqual(brief(stageList(waits, { plan: planned, apply: part("applies", "pending"), tasks: tasks() })), [
		"pending: done",
		"plan: finished",
		"confirm: needs confirmation",
		"apply: waiting",
	]);
});

test("stages of a run that has ended say why they did not start", () => {
	const times = { "plan-queued-at": at(0), "planned-at": at(8), "discarded-at": at(9) };
	const parts: Parts = {
		plan: planned,
		apply: part("applies", "unreachable"),
		tasks: tasks({ pre_apply: [result("pending", "mandatory")] }),
	};
	assert.deepEqual(brief(stageList(run("discarded", times), parts)), [
		"plan: finished",
		"confirm: discarded",
		"pre_apply: not started, the run was discarded",
		"apply: not started, the run was discarded",
	]);
	const failed = part("plans", "errored", { "started-at": at(3), "errored-at": at(4) });
	assert.deepEqual(
		brief(stageList(run("errored", { "plan-queued-at": at(0), "errored-at": at(4) }), { ...parts, plan: failed, tasks: tasks() })),
		["plan: failed", "apply: not started, Plan failed"],
	);
});

test("stages that a run leaves out say why", () => {
	const parts: Parts = { plan: planned, apply: part("applies", "unreachable"), tasks: tasks() };
	const times = { "plan-queued-at": at(0), "planned-and-finished-at": at(8) };
	assert.deepEqual(brief(stageList(run("planned_and_finished", times), parts)), [
		"plan: finished",
		"apply: skipped, there is nothing to apply",
	]);
	assert.deepEqual(brief(stageList(run("planned_and_finished", times, { "plan-only": true }), parts)), [
		"plan: finished",
		"apply: skipped, a plan-only run is never applied",
	]);
	const auto = run("applying", { "plan-queued-at": at(0), "confirmed-at": at(8) }, { "auto-apply": true });
	assert.equal(brief(stageList(auto, parts))[1], "confirm: automatic, auto-apply is on");
});

test("an advisory task that failed warns, and a mandatory one fails", () => {
	const state = (...results: Resource[]) => {
		const times = { "plan-queued-at": at(0), "post-plan-running-at": at(8), "post-plan-completed-at": at(9) };
		return stageList(run("planned", times), { plan: planned, tasks: tasks({ post_plan: results }) }).find(
			(stage) => stage.name === "post_plan",
		)?.state;
	};
	assert.equal(state(result("passed", "mandatory"), result("failed", "advisory")), "warned");
	assert.equal(state(result("errored", "mandatory"), result("failed", "advisory")), "failed");
	assert.equal(state(result("passed", "mandatory")), "passed");
	assert.equal(state(result("canceled", "mandatory"), result("failed", "advisory")), "stopped");
});

test("a policy that failed waits for a person until it is overridden", () => {
	const times = { "queued-at": at(8), "running-at": at(9), "failed-at": at(10) };
	const opa = (status: string, more = {}) =>
		part("policy-evaluations", status, { ...times, ...more }, { "result-count": { "mandatory-failed": 1 } });
	const open = run("policy_override", { "plan-queued-at": at(0) });
	const waiting = stageList(open, { plan: planned, opa: opa("failed"), tasks: tasks() }).find((stage) => stage.name === "opa");
	assert.deepEqual([waiting?.state, waiting?.asked, waiting?.answered], ["person", at(10), undefined]);
	const passed = stageList(open, { plan: planned, opa: opa("overridden", { "overridden-at": at(40) }), tasks: tasks() });
	assert.deepEqual(passed.find((stage) => stage.name === "opa")?.label, "failed, overridden");
	assert.deepEqual(timeSplit(passed, 0), { queue: 3000, run: 6000, person: 30_000 });
});

test("the time is split into queues, work and persons", () => {
	const applied = part("applies", "finished", { "queued-at": at(20), "started-at": at(21), "finished-at": at(30) });
	const times = { "plan-queued-at": at(1), "planned-at": at(8), "confirmed-at": at(20), "applied-at": at(30) };
	const list = stageList(run("applied", times), { plan: planned, apply: applied, tasks: tasks() });
	assert.deepEqual(timeSplit(list, 0), { queue: 4000, run: 14_000, person: 12_000 });
});

test("what persons did stands before the stage that began after it", () => {
	const event = (action: string, second: number, actor = true): Resource => ({
		type: "run-events",
		id: `re-${action}-${second}`,
		attributes: { action, "created-at": at(second), description: "" },
		...(actor && { relationships: { actor: { data: { type: "users", id: "user-1" } } } }),
	});
	const applied = part("applies", "finished", { "queued-at": at(20), "started-at": at(21), "finished-at": at(30) });
	const times = { "plan-queued-at": at(0), "planned-at": at(8), "confirmed-at": at(20), "applied-at": at(30) };
	const list = stageList(run("applied", times), { plan: planned, apply: applied, tasks: tasks() });
	const events = [
		event("created", 0),
		event("started", 3, false),
		event("warned", 9, false),
		event("confirmed", 20),
		event("commented", 50),
	];
	assert.deepEqual(
		interleave(list, events).map((item) => ("stage" in item ? item.stage.name : item.moment.event.attributes.action)),
		["created", "plan", "confirm", "warned", "confirmed", "apply", "commented"],
	);
	const automatic = stageList(run("canceled", times, { "auto-apply": true }), { plan: planned, apply: applied, tasks: tasks() });
	assert.deepEqual(
		interleave(automatic, [event("created", 0), event("canceled", 25)]).map((item) =>
			"stage" in item ? item.stage.name : item.moment.event.attributes.action,
		),
		["created", "plan", "confirm", "apply", "canceled"],
	);
});

test("fetching runs until the files are here, and says whether it failed or was canceled", () => {
	const fetching = (status: string, times: Record<string, string>) =>
		stageList(run(status, { "fetching-at": at(0), ...times }), { tasks: tasks() })[0];
	assert.deepEqual(brief(stageList(run("fetching", { "fetching-at": at(0) }), { tasks: tasks() })), ["fetch: running", "confirm: waiting"]);
	const done = fetching("fetching_completed", { "fetched-at": at(2) });
	assert.deepEqual([done?.label, done?.ended], ["finished", at(2)]);
	const failed = fetching("errored", { "errored-at": at(3) });
	assert.deepEqual([failed?.label, failed?.ended], ["failed", at(3)]);
	assert.equal(fetching("canceled", { "canceled-at": at(3) })?.label, "canceled");
});
