// SPDX-License-Identifier: MPL-2.0
// The stages of a run in their fixed order, with state and times, from the run's attributes and its parts.

import { stages } from "generated/statuses";
import { object, type Resource, text } from "../../core/resource.ts";
import { isFinal, statusRow, type Tone } from "../../core/status.ts";

export type StageState = "waiting" | "running" | "passed" | "failed" | "stopped" | "not started";
export type Stage = {
	readonly name: string;
	readonly word: string;
	readonly state: StageState;
	readonly since: string | undefined; // when its work was queued
	readonly started: string | undefined;
	readonly ended: string | undefined;
};

const words: Readonly<Record<string, string>> = {
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

export const stateTones: Readonly<Record<StageState, Tone>> = {
	waiting: "muted",
	running: "running",
	passed: "success",
	failed: "failure",
	stopped: "muted",
	"not started": "muted",
};

function timeAt(run: Resource, status: string): string | undefined {
	const key = statusRow(status)?.timestamp;
	const time = key === undefined ? undefined : object(run, "status-timestamps")[key];
	return typeof time === "string" ? time : undefined;
}

// The states of operations (plans, applies, task stages, policy checks, cost estimates) in the words of a stage.
const operationStates: Readonly<Record<string, StageState>> = {
	pending: "waiting",
	queued: "waiting",
	managed_queued: "waiting",
	running: "running",
	finished: "passed",
	passed: "passed",
	errored: "failed",
	failed: "failed",
	hard_failed: "failed",
	soft_failed: "failed",
	overridden: "passed",
	canceled: "stopped",
	unreachable: "not started",
	skipped_due_to_targeting: "not started",
};

export function operationState(part: Resource | undefined): StageState | undefined {
	return part && (operationStates[text(part, "status")] ?? "running");
}

function operationTime(part: Resource | undefined, names: readonly string[]): string | undefined {
	const times = object(part, "status-timestamps");
	const found = names.map((name) => times[name]).find((time) => typeof time === "string");
	return found as string | undefined;
}

export type Parts = Readonly<Record<string, Resource | undefined>>; // the plan, the apply and so on, by the stage's name

// stageList: the stages that the run has or will have. A stage that is not configured has no part and no timestamp.
export function stageList(run: Resource, parts: Parts): readonly Stage[] {
	const ended = isFinal(text(run, "status"));
	return stages.flatMap((row) => {
		const part = parts[row.name];
		const since = timeAt(run, row.waits);
		const started = operationTime(part, ["started-at", "running-at"]) ?? timeAt(run, row.runs);
		const finished = operationTime(part, ["finished-at", "passed-at", "errored-at", "failed-at", "canceled-at"]);
		const rested = row.rests === row.runs ? undefined : timeAt(run, row.rests);
		const always = row.name === "plan" || row.name === "apply";
		if (!since && !started && !part && !always) {
			return [];
		}
		const own = operationState(part);
		const state =
			own ?? (rested ? "passed" : ended ? (started ? "passed" : "not started") : started ? "running" : since ? "waiting" : "not started");
		return [
			{
				name: row.name,
				word: words[row.name] ?? row.name,
				state: ended && (state === "waiting" || state === "running") ? "stopped" : state,
				since,
				started,
				ended: finished ?? rested,
			},
		];
	});
}
