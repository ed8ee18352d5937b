// SPDX-License-Identifier: MPL-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Resource } from "../../core/resource.ts";
import { changesOf } from "./draft.ts";
import { lockActions, lockState } from "./lock_state.ts";
import { emptyNotification, notificationBody, notificationOf } from "./notification_form.ts";

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

test("only attributes that differ are saved; null and an empty text are the same", () => {
	const shown = workspace({ name: "net", "auto-apply": false, description: null });
	assert.deepEqual(changesOf({ name: "net", "auto-apply": true, description: "" }, shown), { "auto-apply": true });
});

test("a notification sends only what its destination takes, and an empty token keeps the stored one", () => {
	const mail = notificationBody(
		{ ...emptyNotification, name: "m", destination: "email", emails: "a@b.c\n d@e.f", url: "http://x" },
		undefined,
	);
	assert.deepEqual(mail.data.attributes, {
		name: "m",
		enabled: true,
		triggers: ["run:needs_attention", "run:errored"],
		"destination-type": "email",
		"email-addresses": ["a@b.c", "d@e.f"],
	});
	const hook = {
		type: "notification-configurations",
		id: "nc-1",
		attributes: { name: "h", "destination-type": "generic", url: "http://x" },
	};
	assert.deepEqual(Object.keys(notificationBody(notificationOf(hook), hook).data.attributes), ["name", "enabled", "triggers", "url"]);
});
