// SPDX-License-Identifier: MPL-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { windowDays, windowEnd } from "./window_times.ts";

test("days read in the order of a week", () => {
	assert.equal(windowDays(["sun", "mon", "fri"]), "Mon, Fri, Sun");
	assert.equal(windowDays([]), "");
});

test("a window may end on the next day", () => {
	assert.equal(windowEnd("22:00", 60), "23:00");
	assert.equal(windowEnd("22:00", 120), "00:00 of the next day");
	assert.equal(windowEnd("09:05", 1440), "09:05 of the next day");
});
