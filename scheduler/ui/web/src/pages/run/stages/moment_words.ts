// SPDX-License-Identifier: MPL-2.0
// The actions of run events in words.

const words: Readonly<Record<string, string>> = {
	created: "queued the run",
	turn: "The run had its turn",
	started: "Work started",
	passed: "Work finished",
	warned: "Warning:",
	failed: "Failed:",
	"soft-failed": "Failed, can be overridden:",
	errored: "Error:",
	stopped: "Work ended after the cancel",
	lost: "The worker lost contact.",
	"timed-out": "The time ran out.",
	confirmed: "confirmed the apply",
	overridden: "overrode the failed policies",
	discarded: "discarded the run",
	canceled: "canceled the run",
	"force-canceled": "force-canceled the run",
	"force-executed": "moved the run to the front of the queue",
	commented: "commented",
	stale: "The saved plan is out of date: another run has changed the state.",
	"result-refused": "A late result was refused:",
};

export function momentWord(action: string): string {
	return words[action] ?? (action.startsWith("waiting") ? "Waited:" : `${action.replaceAll(/[-_]/g, " ")}:`);
}
