// SPDX-License-Identifier: MPL-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { columns, pathOf, rangeOf, series, spanOf, tableSteps, topOf } from "./samples.ts";

const sample = (minute: number, pending: number, p50: number | null = null) => [minute, pending, 0, 0, 0, 0, p50, null, 0];

test("a minute without a sample counts as zero, and has no latency", () => {
	const span = { from: 0, to: 180, step: 60 };
	const samples = [sample(60, 3, 1.5)];
	assert.deepEqual(series(samples, columns.pending, span, 0), [0, 3, 0, 0]);
	assert.deepEqual(series(samples, columns.p50, span, null), [null, 1.5, null, null]);
});

test("a step of several minutes has their largest value", () => {
	const samples = [sample(0, 1), sample(60, 7), sample(540, 2), sample(600, 4)];
	assert.deepEqual(series(samples, columns.pending, { from: 0, to: 600, step: 600 }, 0), [7, 4]);
});

test("samples outside of the span are left out", () => {
	assert.deepEqual(series([sample(0, 9), sample(300, 9)], columns.pending, { from: 60, to: 120, step: 60 }, 0), [0, 0]);
});

test("a span ends with the current step and has the length of its range", () => {
	assert.deepEqual(spanOf("1h", 7261), { from: 3720, to: 7260, step: 60 } satisfies object);
	assert.equal(rangeOf("24h"), "24h");
	assert.equal(rangeOf("9h"), "1h");
});

test("the top of a chart is a round number", () => {
	assert.equal(topOf([[0, null]]), 1);
	assert.equal(topOf([[3], [17]]), 20);
	assert.equal(topOf([[100]]), 100);
});

test("a missing value interrupts a line", () => {
	assert.equal(pathOf([0, 1, null, 2], 2), "M0.00 100.00L33.33 50.00M100.00 0.00");
});

test("the table of a chart has few rows and ends with the last value", () => {
	assert.deepEqual(tableSteps(3), [0, 1, 2]);
	assert.equal(tableSteps(145).at(-1), 144);
	assert.ok(tableSteps(145).length <= 13);
});
