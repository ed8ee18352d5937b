// SPDX-License-Identifier: MPL-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Resource } from "../../core/resource.ts";
import { attributesOf, valuesOf } from "../../objects/fields.ts";
import { notificationKind } from "../notification_kind.tsx";
import { accessFields, detailWords } from "./access_levels.ts";
import { lockActions, lockState } from "./lock_state.ts";

const all = { "can-lock": true, "can-unlock": true, "can-force-unlock": true };

function workspace(attributes: Record<string, unknown>, by?: { type: string; id: string }): Resource {
	return {
		type: "workspaces",
		id: "ws-1",
		attributes: { permissions: all, ...attributes },
		relationships: { "locked-by": { data: by ?? null } },
	};
}

const ada: Resource = { type: "users", id: "user-1", attributes: { username: "ada" } };

test("a lock of another person can be forced, and not unlocked", () => {
	const locked = workspace(
		{ locked: true, "locked-reason": "audit", "locked-at": "2026-01-01T00:00:00Z" },
		{ type: "users", id: "user-1" },
	);
	const state = lockState(locked, ada, "user-2");
	assert.deepEqual(state, { kind: "person", who: "ada", mine: false, since: "2026-01-01T00:00:00Z", reason: "audit" });
	const actions = lockActions(state, locked);
	assert.deepEqual(
		actions.map(({ action, reason }) => [action, Boolean(reason)]),
		[
			["unlock", true],
			["force-unlock", false],
		],
	);
});

test("the own lock can be unlocked", () => {
	const locked = workspace({ locked: true }, { type: "users", id: "user-1" });
	assert.deepEqual(lockActions(lockState(locked, ada, "user-1"), locked), [{ action: "unlock" }]);
});

test("a held workspace names the lost apply, though a run holds the lock", () => {
	const hold = { "run-id": "run-1", worker: "w1", since: "2026-01-01T00:00:00Z", until: null, "engine-ended": false, settled: false };
	const held = workspace({ locked: true, hold }, { type: "runs", id: "run-1" });
	const state = lockState(held, undefined, "user-1");
	assert.equal(state.kind === "held" && state.hold.worker, "w1");
	assert.deepEqual(lockActions(state, held), [{ action: "force-unlock" }]);
});

test("a run in progress is no lock of a person", () => {
	const busy = workspace({ locked: true, hold: null }, { type: "runs", id: "run-1" });
	assert.deepEqual(lockState(busy, undefined, "user-1"), { kind: "run", run: "run-1" });
});

test("without the right, the lock says what is needed", () => {
	const free = workspace({ locked: false, permissions: {} });
	assert.match(lockActions(lockState(free, undefined, "user-1"), free)[0]?.reason ?? "", /write access/);
});

test("a notification sends only what its destination takes, and an empty token keeps the stored one", () => {
	const { fields } = notificationKind;
	const typed = { name: "m", "destination-type": "email", "email-addresses": ["a@b.c", " d@e.f", ""], url: "http://x" };
	assert.deepEqual(attributesOf(fields, { ...valuesOf(fields, undefined), ...typed }, undefined), {
		name: "m",
		enabled: true,
		triggers: ["run:needs_attention", "run:errored"],
		"destination-type": "email",
		"email-addresses": ["a@b.c", "d@e.f"],
	});
	const hook = {
		type: "notification-configurations",
		id: "nc-1",
		attributes: { name: "h", "destination-type": "generic", url: "http://x", enabled: true, triggers: [] },
	};
	assert.deepEqual(attributesOf(fields, { ...valuesOf(fields, hook), name: "i" }, hook), { name: "i" });
});

test("a team with custom access has all its details, and another level has none", () => {
	const given = { type: "team-workspaces", id: "tws-1", attributes: { access: "plan", runs: "plan", variables: "read" } };
	const values = valuesOf(accessFields, given);
	assert.deepEqual(attributesOf(accessFields, values, given), {});
	const custom = attributesOf(accessFields, { ...values, access: "custom", "run-tasks": true }, given);
	assert.equal(Object.keys(custom).length, 8);
	assert.deepEqual([custom.runs, custom["run-tasks"], custom["workspace-locking"]], ["plan", true, false]);
	assert.equal(detailWords({ ...given, attributes: custom }), "runs: plan, variables: read, manage run tasks");
});
