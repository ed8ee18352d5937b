// SPDX-License-Identifier: MPL-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { timeInZone, zoneNames } from "./schedule_times.ts";

test("a time reads in the zone of its schedule", () => {
	const time = Date.parse("2027-03-28T01:00:00Z");
	assert.equal(timeInZone(time, "Europe/Berlin"), "Sun 2027-03-28 03:00");
	assert.equal(timeInZone(time, "America/New_York"), "Sat 2027-03-27 21:00");
	assert.equal(timeInZone(time, "UTC"), "Sun 2027-03-28 01:00");
	assert.equal(timeInZone(time, "Europe/Atlantis"), "");
});

test("zones are suggested by their names", () => {
	assert.equal(zoneNames()[0], "UTC");
	assert.ok(zoneNames().includes("Europe/Berlin"));
});
