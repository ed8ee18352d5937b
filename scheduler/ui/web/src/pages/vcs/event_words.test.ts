// SPDX-License-Identifier: MPL-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Resource } from "../../core/resource.ts";
import { eventOf, needsApproval, outcomesOf, stateOf } from "./event_words.ts";

function event(attributes: Record<string, unknown>): Resource {
	return { type: "vcs-events", id: "ve-1", attributes };
}

test("an event names its branch, tag or pull request", () => {
	assert.deepEqual(eventOf(event({ kind: "push", ref: "refs/heads/a/b" })).ref, { kind: "branch", name: "a/b", href: "" });
	assert.deepEqual(eventOf(event({ kind: "tag", ref: "refs/tags/v1" })).ref, { kind: "tag", name: "v1", href: "" });
	const pull = event({ kind: "pr_open", ref: "refs/heads/x", "pull-request-number": 7, "pull-request-url": "https://git.example/7" });
	assert.deepEqual(eventOf(pull).ref, { kind: "pull request", name: "#7", href: "https://git.example/7" });
	assert.equal(eventOf(event({ kind: "ping" })).ref, undefined);
	assert.equal(eventOf(event({ kind: "news" })).what, "news");
});

test("an error is told before the state", () => {
	assert.deepEqual(stateOf(event({ state: "approval", level: "info" })), ["wait", "Needs approval"]);
	assert.deepEqual(stateOf(event({ state: "done", level: "error" })), ["failure", "Error"]);
});

test("outcomes with a run come first, and what is no outcome is left out", () => {
	const outcomes = [
		null,
		{ "subject-id": "ws-1", name: "net", reason: "path", message: "No changed file matches." },
		{ "subject-id": "polset-1", name: "rules", reason: "policy_version" },
		{ "subject-id": "ws-2", name: "storage", reason: "started", "run-id": "run-1" },
	];
	const list = outcomesOf(event({ outcomes }));
	assert.deepEqual(
		list.map(({ name, type, run }) => [name, type, run]),
		[
			["storage", "workspaces", "run-1"],
			["net", "workspaces", ""],
			["rules", "policy-sets", ""],
		],
	);
	assert.deepEqual([list[1]?.sentence, list[2]?.sentence], ["No changed file matches.", "policy_version"]);
	assert.deepEqual(outcomesOf(event({ outcomes: "x" })), []);
});

test("the head of a fork needs an approval until it has one", () => {
	const outcomes = (reason: string) => [{ "subject-id": "ws-1", reason }];
	assert.equal(needsApproval(event({ state: "approval", outcomes: outcomes("fork_approval") })), true);
	assert.equal(needsApproval(event({ state: "approval", outcomes: outcomes("planned") })), false);
	assert.equal(needsApproval(event({ state: "approval" })), false, "the user sees none of the workspaces");
	assert.equal(needsApproval(event({ state: "done", outcomes: outcomes("planned") })), false);
});
