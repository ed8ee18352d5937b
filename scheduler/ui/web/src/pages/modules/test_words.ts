// SPDX-License-Identifier: MPL-2.0
// What a test run of a module came to, and the messages of its log.

import { isObject, number, type Resource, text } from "../../core/resource.ts";
import type { Tone } from "../../core/status.ts";

const statuses: Readonly<Record<string, readonly [Tone, string]>> = {
	pending: ["muted", "Pending"],
	queued: ["muted", "Queued"],
	running: ["running", "Running"],
	errored: ["failure", "Errored"],
	canceled: ["muted", "Canceled"],
};

const verdicts: Readonly<Record<string, readonly [Tone, string]>> = {
	pass: ["success", "Passed"],
	skip: ["muted", "Skipped"],
	fail: ["failure", "Failed"],
	error: ["failure", "Failed with errors"],
};

export function testLook(run: Resource): readonly [Tone, string] {
	const status = text(run, "status");
	return verdicts[text(run, "test-status")] ?? statuses[status] ?? ["muted", status];
}

export const testHasEnded = (run: Resource) => ["finished", "errored", "canceled"].includes(text(run, "status"));

// "3 passed, 1 failed"; "" before the results are known.
export function resultsOf(run: Resource): string {
	return ["passed", "failed", "errored", "skipped"]
		.map((word) => [number(run, `tests-${word}`) ?? 0, word] as const)
		.filter(([count, word]) => count > 0 || (word === "passed" && text(run, "test-status") !== ""))
		.map(([count, word]) => `${count} ${word}`)
		.join(", ");
}

function messageOf(line: string): string {
	if (!line.startsWith("{")) {
		return line;
	}
	try {
		const value: unknown = JSON.parse(line);
		return isObject(value) && typeof value["@message"] === "string" ? value["@message"] : line;
	} catch {
		return line;
	}
}

// The messages of the engine's JSON lines; other lines as they are.
export function messagesOf(log: string): string {
	return log
		.replaceAll(String.fromCharCode(2), "") // the marks at the ends of a log
		.replaceAll(String.fromCharCode(3), "")
		.split("\n")
		.map(messageOf)
		.join("\n")
		.trim();
}
