// SPDX-License-Identifier: MPL-2.0
// The health of a workspace in words: the results of its assessments, and the messages of runs that answer drift.

import type { Summary } from "../../changes/summary.ts";
import { count, counted } from "../../core/format.ts";
import { flag, number, type Resource, text } from "../../core/resource.ts";
import type { Tone } from "../../core/status.ts";

const numberOf = (result: Resource, name: string) => number(result, name) ?? 0;

// ---- one result ----

export type Outcome = { readonly tone: Tone; readonly word: string };

// Checks that failed, and those that could not be evaluated.
const badChecks = (result: Resource) => numberOf(result, "checks-failed") + numberOf(result, "checks-errored");

export function outcomeOf(result: Resource): Outcome {
	if (!flag(result, "succeeded")) {
		return { tone: "failure", word: "Failed" };
	}
	const found = [flag(result, "drifted") && "Drift", badChecks(result) > 0 && "Checks failed"].filter(Boolean);
	return found.length > 0 ? { tone: "wait", word: found.join(", ") } : { tone: "success", word: "Healthy" };
}

// driftText: "2 of 5 resources".
export function driftText(result: Resource): string {
	const drifted = numberOf(result, "resources-drifted");
	return `${count(drifted)} of ${counted(drifted + numberOf(result, "resources-undrifted"), "resource")}`;
}

const checkWords = [
	["checks-passed", "passed"],
	["checks-failed", "failed"],
	["checks-errored", "errored"],
	["checks-unknown", "unknown"],
] as const;

// checksText: "3 passed, 1 failed"; "None" for a configuration without checks.
export function checksText(result: Resource): string {
	const parts = checkWords
		.map(([name, word]) => [numberOf(result, name), word] as const)
		.filter(([value]) => value > 0)
		.map(([value, word]) => `${count(value)} ${word}`);
	return parts.join(", ") || "None";
}

// warningOf: what the last assessment found, or "". A failed one found nothing.
export function warningOf(result: Resource | undefined): string {
	if (!result || !flag(result, "succeeded")) {
		return "";
	}
	const parts = [
		flag(result, "drifted") && `drift in ${driftText(result)}`,
		badChecks(result) > 0 && `${counted(badChecks(result), "check")} failed`,
	];
	return parts.filter(Boolean).join(", ");
}

// ---- history ----

// The bars that fit beside each other at 320 pixels.
const maxBars = 30;

// barsOf: the last results of a list that has the newest first, the oldest first.
export function barsOf(results: readonly Resource[]): readonly Resource[] {
	return results.slice(0, maxBars).reverse();
}

// historyText: "Last 3 assessments: 2 Healthy, 1 Drift".
export function historyText(results: readonly Resource[]): string {
	const counts = new Map<string, number>();
	for (const result of results) {
		const { word } = outcomeOf(result);
		counts.set(word, (counts.get(word) ?? 0) + 1);
	}
	const parts = [...counts].map(([word, times]) => `${times} ${word}`);
	return `${results.length === 1 ? "Last assessment" : `Last ${results.length} assessments`}: ${parts.join("; ")}`;
}

// ---- the state ----

export function stateWord(health: Resource): string {
	if (!flag(health, "enabled")) {
		return "Off";
	}
	return flag(health, "enforced") ? "On: the organization enforces them" : "On";
}

// startReason: why no assessment can be started, or undefined.
export function startReason(health: Resource, mayManage: boolean): string | undefined {
	if (!mayManage) {
		return "you need admin access to this workspace";
	}
	if (!flag(health, "enabled")) {
		return "health assessments are off";
	}
	if (flag(health, "is-underway")) {
		return "an assessment is underway";
	}
	return text(health, "refusal") || undefined;
}

// ---- drift ----

// driftOf: the drift that counts, and the rest. The rows lose their mark of relevance: the lists say the same.
export function driftOf(summary: Summary): { readonly counted: Summary; readonly rest: Summary } {
	const drift = summary.rows.filter((row) => row.list === "drift");
	const only = (relevant: boolean): Summary => ({
		...summary,
		rows: drift.filter((row) => row.relevant === relevant).map((row) => ({ ...row, relevant: false })),
		checks: [],
	});
	return { counted: only(true), rest: only(false) };
}

const namedAddresses = 3;
const maxAddress = 150; // characters of an address in a message

const shortened = (address: string) => (address.length > maxAddress ? `${address.slice(0, maxAddress - 1)}…` : address);

// runMessage: "Restore 5 drifted resources: a.b, a.c, a.d and 2 more". `total` may be more than the addresses that are listed.
export function runMessage(verb: string, total: number, addresses: readonly string[]): string {
	const named = addresses.slice(0, namedAddresses).map(shortened);
	const more = total - named.length;
	return `${verb} ${counted(total, "drifted resource")}: ${named.join(", ")}${more > 0 ? ` and ${count(more)} more` : ""}`;
}
