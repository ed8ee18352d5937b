// SPDX-License-Identifier: MPL-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { summaryOf } from "../../changes/summary.ts";
import type { Resource } from "../../core/resource.ts";
import {
	barsOf,
	checksText,
	driftOf,
	driftText,
	historyText,
	outcomeOf,
	runMessage,
	startReason,
	stateWord,
	warningOf,
} from "./health_words.ts";

type Fields = Readonly<Record<string, unknown>>;

const resultOf = (attributes: Fields): Resource => ({
	type: "assessment-results",
	id: "asmtres-1",
	attributes: { succeeded: true, drifted: false, "resources-drifted": 0, "resources-undrifted": 5, ...attributes },
});
const drifted = { drifted: true, "resources-drifted": 2, "resources-undrifted": 3 };
const failing = { "checks-passed": 3, "checks-failed": 1, "checks-unknown": 2 };

test("a result is healthy, warns of drift and checks, or has failed", () => {
	const words = [{}, drifted, failing, { "checks-errored": 1 }, { ...drifted, ...failing }, { ...drifted, succeeded: false }].map(
		(attributes) => outcomeOf(resultOf(attributes)),
	);
	assert.deepEqual(
		words.map(({ tone, word }) => `${tone}: ${word}`),
		["success: Healthy", "wait: Drift", "wait: Checks failed", "wait: Checks failed", "wait: Drift, Checks failed", "failure: Failed"],
	);
});

test("drift and checks are counted", () => {
	assert.equal(driftText(resultOf(drifted)), "2 of 5 resources");
	assert.equal(driftText(resultOf({ drifted: true, "resources-drifted": 1, "resources-undrifted": 0 })), "1 of 1 resource");
	assert.equal(checksText(resultOf({})), "None");
	assert.equal(checksText(resultOf({ ...failing, "checks-errored": 4 })), "3 passed, 1 failed, 4 errored, 2 unknown");
});

test("a warning names drift and failed checks, and is of no failed assessment", () => {
	assert.equal(warningOf(undefined), "");
	assert.equal(warningOf(resultOf({ "checks-unknown": 3 })), "");
	assert.equal(warningOf(resultOf({ ...drifted, succeeded: false })), "");
	assert.equal(warningOf(resultOf({ ...drifted, "checks-failed": 1, "checks-errored": 1 })), "drift in 2 of 5 resources, 2 checks failed");
});

test("the strip has the newest result last, and its words count the outcomes", () => {
	const results = [drifted, {}, {}, { succeeded: false }].map(resultOf);
	assert.deepEqual(
		barsOf(results).map((result) => outcomeOf(result).word),
		["Failed", "Healthy", "Healthy", "Drift"],
	);
	assert.equal(historyText(results), "Last 4 assessments: 1 Drift; 2 Healthy; 1 Failed");
	assert.equal(historyText(results.slice(0, 1)), "Last assessment: 1 Drift");
	assert.equal(barsOf(Array.from({ length: 100 }, () => resultOf({}))).length, 30);
});

test("an assessment can't be started without the right, while it is off, underway or refused", () => {
	const health = (attributes: Fields): Resource => ({ type: "workspace-health", id: "ws-1", attributes: { enabled: true, ...attributes } });
	assert.equal(startReason(health({ refusal: null }), true), undefined);
	assert.match(startReason(health({}), false) ?? "", /admin access/);
	assert.match(startReason(health({ enabled: false, refusal: "Why." }), true) ?? "", /off/);
	assert.match(startReason(health({ "is-underway": true }), true) ?? "", /underway/);
	assert.equal(startReason(health({ refusal: "Why." }), true), "Why.");
	assert.deepEqual([{}, { enforced: true }, { enabled: false }].map(health).map(stateWord), [
		"On",
		"On: the organization enforces them",
		"Off",
	]);
});

test("drift that counts is apart from the rest, and neither has the mark of a plan's drift", () => {
	const row = (address: string, relevant: boolean) => ({ index: 0, address, action: "update", type: "t", relevant });
	const changes = {
		drift: [row("t.a", true), row("t.b", false), row("t.c", true)],
		"resource-changes": [row("t.a", false)],
		checks: [{ address: "check.a", kind: "check", status: "fail", problems: [] }],
	};
	const { counted, rest } = driftOf(summaryOf({ type: "plan-changes", id: "plan-1", attributes: changes }));
	assert.deepEqual(
		[counted, rest].map(({ rows }) => rows.map(({ address }) => address)),
		[["t.a", "t.c"], ["t.b"]],
	);
	assert.ok(counted.rows.every(({ relevant }) => !relevant));
	assert.deepEqual([counted.checks, rest.checks], [[], []]);
});

test("a run's message has the number and the first addresses of the drift", () => {
	assert.equal(runMessage("Restore", 1, ["a.b"]), "Restore 1 drifted resource: a.b");
	assert.equal(runMessage("Accept", 1200, ["a.b", "a.c", "a.d", "a.e"]), "Accept 1,200 drifted resources: a.b, a.c, a.d and 1,197 more");
	assert.ok(runMessage("Restore", 3, Array(3).fill("x".repeat(9999))).length < 500);
});
