// SPDX-License-Identifier: MPL-2.0
// The stages of a run in their fixed order, with state and times, from the run's attributes and its parts.

import { stages } from "generated/statuses";
import { timeOf } from "../../../core/format.ts";
import { can, flag, object, type Resource, text } from "../../../core/resource.ts";
import { isFinal, reachedAt, statusRow, type Tone } from "../../../core/status.ts";

export type StageState = "waiting" | "running" | "person" | "passed" | "warned" | "failed" | "stopped" | "skipped" | "not started";
export type Stage = {
	readonly name: string;
	readonly word: string;
	readonly state: StageState;
	readonly label: string; // the state in words
	readonly note: string; // why it is skipped or did not start
	readonly since: string | undefined; // when its work was queued
	readonly started: string | undefined;
	readonly ended: string | undefined;
	readonly asked: string | undefined; // when it began to wait for a person
	readonly answered: string | undefined;
};
export type Parts = {
	readonly plan?: Resource | undefined;
	readonly apply?: Resource | undefined;
	readonly cost?: Resource | undefined;
	readonly sentinel?: Resource | undefined;
	readonly opa?: Resource | undefined;
	readonly postPlan?: Resource | undefined; // the task stage that holds OPA's evaluation
	readonly tasks: Readonly<Record<string, readonly Resource[]>>; // task results by stage
};

const words: Readonly<Record<string, string>> = {
	pending: "Pending",
	fetch: "Fetching",
	pre_plan: "Pre-plan tasks",
	plan: "Plan",
	post_plan: "Post-plan tasks",
	opa: "OPA policies",
	cost: "Cost estimate",
	sentinel: "Sentinel policies",
	confirm: "Confirmation",
	pre_apply: "Pre-apply tasks",
	apply: "Apply",
	post_apply: "Post-apply tasks",
};

type Look = { readonly tone: Tone; readonly label: string; readonly icon?: string };

export const stateLooks: Readonly<Record<StageState, Look>> = {
	waiting: { tone: "muted", label: "waiting" },
	running: { tone: "running", label: "running" },
	person: { tone: "wait", label: "needs a person" },
	passed: { tone: "success", label: "passed" },
	warned: { tone: "wait", label: "passed with warnings", icon: "!" },
	failed: { tone: "failure", label: "failed" },
	stopped: { tone: "muted", label: "canceled", icon: "⊘" },
	skipped: { tone: "muted", label: "skipped", icon: "–" },
	"not started": { tone: "muted", label: "not started", icon: "–" },
};
const passedLabels: Readonly<Record<string, string>> = {
	fetch: "finished",
	plan: "finished",
	cost: "finished",
	apply: "finished",
	pending: "done",
	confirm: "confirmed",
};

type Found = Partial<Stage> & { readonly state: StageState };
type Facts = { readonly run: Resource; readonly parts: Parts; readonly ended: boolean; readonly before: readonly Stage[] };

function partTime(part: Resource | undefined, statuses: readonly string[]): string | undefined {
	const times = object(part, "status-timestamps");
	return statuses.map((status) => times[`${status}-at`]).find((time) => typeof time === "string") as string | undefined;
}

// endOf: when the run ended, or undefined.
export function endOf(run: Resource): string | undefined {
	return isFinal(text(run, "status")) ? reachedAt(run) : undefined;
}

// The states of plans, applies, policy checks and cost estimates in the words of a stage.
const partStates: Readonly<Record<string, StageState>> = {
	pending: "waiting",
	queued: "waiting",
	managed_queued: "waiting",
	running: "running",
	finished: "passed",
	passed: "passed",
	overridden: "passed",
	errored: "failed",
	failed: "failed",
	hard_failed: "failed",
	soft_failed: "failed",
	canceled: "stopped",
	unreachable: "not started",
	skipped_due_to_targeting: "skipped",
};

function partStage(part: Resource, ended: boolean): Found {
	const state = partStates[text(part, "status")] ?? "running";
	const started = partTime(part, ["started", "running"]);
	const stopped: StageState = started ? "stopped" : "not started";
	return {
		state: ended && (state === "waiting" || state === "running") ? stopped : state,
		since: partTime(part, ["queued"]),
		started,
		ended: partTime(part, ["finished", "passed", "errored", "failed", "hard_failed", "soft_failed", "canceled"]),
	};
}

// A check that failed and can be overridden waits for a person.
function checkStage(check: Resource | undefined, { run, ended }: Facts): Found | undefined {
	if (!check) {
		return undefined;
	}
	const found = partStage(check, ended);
	const counts = { ...object(check, "result-count"), ...object(check, "result") };
	const waits = found.state === "failed" && text(run, "status") === "policy_override";
	const overridden = text(check, "status") === "overridden";
	const asked = waits || overridden ? partTime(check, ["failed", "soft_failed", "errored"]) : undefined;
	return {
		...found,
		state: waits
			? "person"
			: found.state === "passed" && !overridden && Number(counts["advisory-failed"] ?? 0) > 0
				? "warned"
				: found.state,
		...(waits && { label: "failed, can be overridden" }),
		...(overridden && { label: "failed, overridden" }),
		asked,
		answered: asked && (partTime(check, ["overridden"]) ?? endOf(run)),
	};
}

const notPassed = (result: Resource) => !["passed", "pending", "running"].includes(text(result, "status"));
export const isMandatory = (result: Resource) => text(result, "workspace-task-enforcement-level") === "mandatory";

// advisoryFailures: the tasks that failed without an effect on the run.
export function advisoryFailures(results: readonly Resource[]): readonly Resource[] {
	return results.filter((result) => ["failed", "errored"].includes(text(result, "status")) && !isMandatory(result));
}

function taskStage(name: string, { run, parts, ended }: Facts): Found | undefined {
	const results = parts.tasks[name] ?? [];
	const row = stages.find((item) => item.name === name);
	if (results.length === 0 || !row) {
		return undefined;
	}
	const started = reachedAt(run, row.runs);
	const open = results.some((result) => ["pending", "running"].includes(text(result, "status")));
	const finished = reachedAt(run, row.rests);
	const times = { since: started, started, ended: started && (finished ?? (open ? undefined : latest(results)) ?? endOf(run)) };
	if (!started) {
		return { state: ended ? "not started" : "waiting" };
	}
	if (open && !finished) {
		return { ...times, state: ended ? "stopped" : "running" };
	}
	const failed = results.filter(notPassed);
	if (failed.some((result) => text(result, "status") === "canceled")) {
		return { ...times, state: "stopped" };
	}
	return { ...times, state: failed.some(isMandatory) ? "failed" : failed.length > 0 ? "warned" : "passed" };
}

function latest(parts: readonly Resource[]): string | undefined {
	return parts
		.flatMap((part) => Object.values(object(part, "status-timestamps")))
		.filter((time) => typeof time === "string")
		.sort()
		.at(-1);
}

function confirmStage({ run, parts, ended, before }: Facts): Found | undefined {
	const confirmed = reachedAt(run, "confirmed");
	const asked = before
		.map((stage) => stage.answered ?? stage.ended)
		.filter((time) => time !== undefined)
		.sort()
		.at(-1);
	const times = { asked, answered: confirmed ?? endOf(run) };
	if (flag(run, "plan-only") || before.some((stage) => stage.state === "failed")) {
		return undefined;
	}
	if (can(run, "is-confirmable")) {
		return { ...times, state: "person", label: "needs confirmation" };
	}
	if (flag(run, "auto-apply") && !text(run, "status").startsWith("planned_and_saved")) {
		return ended && !confirmed ? undefined : { state: "skipped", label: "automatic", note: "auto-apply is on" };
	}
	if (confirmed) {
		return { ...times, state: "passed" };
	}
	if (text(run, "status") === "planned_and_finished") {
		return undefined;
	}
	if (ended && text(parts.plan, "status") === "finished") {
		return { ...times, state: "stopped", label: text(run, "status") === "discarded" ? "discarded" : "canceled" };
	}
	return { state: ended ? "not started" : "waiting" };
}

function pendingStage({ run, ended }: Facts): Found | undefined {
	const since = text(run, "created-at");
	const own = statusRow("pending")?.timestamp;
	const others = Object.entries(object(run, "status-timestamps"))
		.filter(([key]) => key !== own)
		.map(([, time]) => String(time));
	const until = others.sort()[0];
	if (text(run, "status") === "pending") {
		return { state: "waiting", label: "waiting for its turn", since };
	}
	const waited = (timeOf(until) ?? 0) - (timeOf(since) ?? 0);
	return waited < 1000 ? undefined : { state: ended && others.length === 1 ? "stopped" : "passed", since, ended: until };
}

// Why a run that can still go on leaves the stage out, or "".
function skipReason(name: string, run: Resource): string {
	if (!["pre_apply", "apply", "post_apply"].includes(name)) {
		return "";
	}
	if (flag(run, "plan-only")) {
		return "a plan-only run is never applied";
	}
	return text(run, "status") === "planned_and_finished" ? "there is nothing to apply" : "";
}

function stageOf(name: string, facts: Facts): Found | undefined {
	const { run, parts, ended } = facts;
	switch (name) {
		case "plan":
		case "apply":
		case "cost": {
			const part = parts[name];
			return part && partStage(part, ended);
		}
		case "opa":
		case "sentinel":
			return checkStage(parts[name], facts);
		case "confirm":
			return confirmStage(facts);
		case "fetch": {
			const started = reachedAt(run, "fetching");
			const done = reachedAt(run, "fetching_completed");
			const failed = text(run, "status") === "errored" ? "failed" : "stopped";
			const state = done ? "passed" : ended ? failed : "running";
			return started ? { state, since: started, started, ended: done ?? endOf(run) } : undefined;
		}
		default:
			return taskStage(name, facts);
	}
}

// Why a stage of a run that has ended did not start.
function endReason(run: Resource, before: readonly Stage[]): string {
	const cause = before.find((stage) => stage.state === "failed");
	const how: Readonly<Record<string, string>> = {
		discarded: "the run was discarded",
		canceled: "the run was canceled",
		force_canceled: "the run was canceled",
	};
	return how[text(run, "status")] ?? (cause ? `${cause.word} failed` : "");
}

function stageFrom(name: string, found: Found, run: Resource, before: readonly Stage[]): Stage {
	const reason = found.state === "waiting" || found.state === "not started" ? skipReason(name, run) : "";
	const state = reason ? "skipped" : found.state;
	return {
		name,
		word: words[name] ?? name,
		state,
		label: (reason ? undefined : found.label) ?? (state === "passed" ? passedLabels[name] : undefined) ?? stateLooks[state].label,
		note: reason || found.note || (state === "not started" ? endReason(run, before) : ""),
		since: found.since,
		started: found.started,
		ended: found.ended,
		asked: found.asked,
		answered: found.answered,
	};
}

// stageList: the stages that the run has or will have. A stage that is not configured is left out.
export function stageList(run: Resource, parts: Parts): readonly Stage[] {
	const list: Stage[] = [];
	const facts: Facts = { run, parts, ended: isFinal(text(run, "status")), before: list };
	const pending = pendingStage(facts);
	if (pending) {
		list.push(stageFrom("pending", pending, run, list));
	}
	for (const row of stages) {
		const found = stageOf(row.name, facts);
		if (found) {
			list.push(stageFrom(row.name, found, run, list));
		}
	}
	return list;
}

export type Split = { readonly queue: number; readonly run: number; readonly person: number };

// timeSplit: milliseconds that the run waited for its turn and workers, worked, and waited for persons.
export function timeSplit(list: readonly Stage[], now: number): Split {
	const span = (from: string | undefined, until: string | undefined) =>
		timeOf(from) === undefined ? 0 : Math.max(0, (timeOf(until) ?? now) - (timeOf(from) ?? now));
	let [queue, run, person] = [0, 0, 0];
	for (const stage of list) {
		const open = stage.state === "waiting" || stage.state === "running";
		queue += stage.since && (stage.started || stage.ended || open) ? span(stage.since, stage.started ?? stage.ended) : 0;
		run += stage.started && (stage.ended || open) ? span(stage.started, stage.ended) : 0;
		person += stage.asked ? span(stage.asked, stage.answered) : 0;
	}
	return { queue, run, person };
}

// Advisory checks that failed: the run goes on, and its header says so.

export type Warning = { readonly stage: string; readonly text: string };

export function warningsOf(parts: Parts): readonly Warning[] {
	const tasks = Object.entries(parts.tasks).flatMap(([stage, results]) =>
		advisoryFailures(results).map((result) => ({ stage, text: `${text(result, "task-name")} failed (advisory)` })),
	);
	const policies = (["opa", "sentinel"] as const).flatMap((stage) => {
		const counts = { ...object(parts[stage], "result-count"), ...object(parts[stage], "result") };
		const failed = Number(counts["advisory-failed"] ?? 0);
		return failed > 0 ? [{ stage, text: `${failed} advisory ${failed === 1 ? "policy" : "policies"} failed` }] : [];
	});
	return [...tasks, ...policies];
}
