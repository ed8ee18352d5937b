// SPDX-License-Identifier: MPL-2.0
// How run statuses look: a tone, which has a colour and an icon, and a word.

import { type RunStatusRow, runStatuses, type StatusGroup } from "generated/statuses";
import { object, type Resource, text, textIn } from "./resource.ts";

export type Tone = "muted" | "running" | "wait" | "success" | "failure";

export const toneIcons: Readonly<Record<Tone, string>> = { muted: "○", running: "◐", wait: "‖", success: "✓", failure: "✕" };

const byName = new Map(runStatuses.map((row) => [row.name, row]));

export function statusRow(name: string): RunStatusRow | undefined {
	return byName.get(name);
}

// reachedAt: when the run reached its status, or undefined.
export function reachedAt(run: Resource, status = text(run, "status")): string | undefined {
	return textIn(object(run, "status-timestamps"), statusRow(status)?.timestamp ?? "") || undefined;
}

export function statusGroup(name: string): StatusGroup {
	return byName.get(name)?.group ?? "open";
}

export function isFinal(name: string): boolean {
	return statusGroup(name) === "final";
}

const tones: Readonly<Record<string, Tone>> = {
	pending: "muted",
	applied: "success",
	planned_and_finished: "success",
	planned_and_saved: "wait",
	planned: "wait",
	policy_override: "wait",
	policy_soft_failed: "failure",
	errored: "failure",
	discarded: "muted",
	canceled: "muted",
	force_canceled: "muted",
};

// statusTone: a run that a person can confirm waits, whatever stage it rests in.
export function statusTone(name: string, confirmable = false): Tone {
	return confirmable && !isFinal(name) ? "wait" : (tones[name] ?? "running");
}

const stopped = new Set(["discarded", "canceled", "force_canceled"]);

export function statusIcon(name: string, tone: Tone): string {
	return stopped.has(name) ? "⊘" : toneIcons[tone];
}

export function statusWord(name: string, label = ""): string {
	return label || byName.get(name)?.label || name;
}

// The groups of workspaces' chips: filter[current-run][status] takes the names.
export const workspaceGroups = [
	{ key: "attention", word: "Needs attention", tone: "wait", names: ["planned", "policy_override", "planned_and_saved"] },
	{ key: "errored", word: "Errored", tone: "failure", names: ["errored", "policy_soft_failed"] },
	{
		key: "running",
		word: "Running",
		tone: "running",
		names: runStatuses
			.filter((row) => row.group === "open" && !["pending", "planned", "policy_override"].includes(row.name))
			.map((row) => row.name),
	},
	{ key: "hold", word: "On hold", tone: "muted", names: ["pending"] },
	{ key: "applied", word: "Applied", tone: "success", names: ["applied", "planned_and_finished"] },
] as const;
