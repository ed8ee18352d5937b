// SPDX-License-Identifier: MPL-2.0
// The state of a worker as a word, and what can be asked of it.

import type { Tone } from "../../core/status.ts";

export type WorkerAction = {
	readonly key: "drain" | "resume" | "leave";
	readonly word: string;
	readonly done: string; // what is said after it
	readonly asks?: boolean; // a dialog comes first
};

const drain: WorkerAction = { key: "drain", word: "Drain", done: "it takes no more runs" };
const resume: WorkerAction = { key: "resume", word: "Resume", done: "it takes runs again" };
const leave: WorkerAction = { key: "leave", word: "Leave", done: "it ends after its runs", asks: true };

const words: Readonly<Record<string, readonly [word: string, tone: Tone]>> = {
	idle: ["Idle", "success"],
	busy: ["Busy", "running"],
	unknown: ["Lost contact", "failure"],
	errored: ["Errored", "failure"],
	exited: ["Ended", "muted"],
};

export function stateOf(status: string, draining: boolean, order: string): { readonly word: string; readonly tone: Tone } {
	const [word, tone] = words[status] ?? [status, "muted"];
	if (status === "exited" || tone === "failure") {
		return { word, tone };
	}
	if (order === "leave") {
		return { word: "Leaving", tone: "wait" };
	}
	return draining || order === "drain" ? { word: "Draining", tone: "wait" } : { word, tone };
}

export function actionsOf(status: string, order: string): readonly WorkerAction[] {
	if (status === "exited") {
		return [];
	}
	return order === "none" ? [drain, leave] : order === "drain" ? [resume, leave] : [resume];
}
