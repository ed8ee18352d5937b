// SPDX-License-Identifier: MPL-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Resource } from "../../core/resource.ts";
import { framePath, lockOf, queueReason, renamedPath } from "./frame_links.ts";
import { emptyOrder, listWith, orderReason, type QueueFacts, runBody, whatFollows } from "./queue_order.ts";

const facts: QueueFacts = { name: "net", autoApply: false, mayApply: true, destroyable: true, before: 0, lock: "" };

test("each mode sets its attribute only", () => {
	const flags = (mode: typeof emptyOrder.mode) => runBody({ ...emptyOrder, mode }, "ws-1").data.attributes;
	assert.deepEqual(flags("apply"), { "plan-only": false });
	assert.deepEqual(flags("plan"), { "plan-only": true });
	assert.deepEqual(flags("refresh"), { "plan-only": false, "refresh-only": true });
	assert.deepEqual(flags("destroy"), { "plan-only": false, "is-destroy": true });
	assert.deepEqual(flags("empty"), { "plan-only": false, "allow-empty-apply": true });
	assert.deepEqual(flags("save"), { "plan-only": false, "save-plan": true });
});

test("a terraform version is sent for plan-only runs, empty variables are not", () => {
	const order = {
		...emptyOrder,
		version: "1.2.3",
		targets: ["a.b"],
		variables: [
			{ key: "", value: "" },
			{ key: "n", value: "2" },
		],
	};
	assert.deepEqual(runBody(order, "ws-1").data.attributes, {
		"plan-only": false,
		"target-addrs": ["a.b"],
		variables: [{ key: "n", value: "2" }],
	});
	const planOnly = runBody({ ...order, mode: "plan" }, "ws-1").data.attributes as { "terraform-version"?: string };
	assert.equal(planOnly["terraform-version"], "1.2.3");
});

test("an address that was typed and not added counts", () => {
	const order = { ...emptyOrder, targets: ["a.b"], typedTarget: " c.d ", typedReplaced: "e.f" };
	assert.deepEqual(runBody(order, "ws-1").data.attributes, {
		"plan-only": false,
		"target-addrs": ["a.b", "c.d"],
		"replace-addrs": ["e.f"],
	});
	const follows = whatFollows({ ...order, mode: "destroy" }, { ...facts, autoApply: true }).join(" ");
	assert.match(follows, /limited to these targets: a\.b, c\.d\. The plan replaces e\.f\./);
	assert.match(follows, /the plan of the targets is applied without another question/);
	assert.match(whatFollows({ ...order, mode: "plan" }, facts).join(" "), /these targets: a\.b, c\.d\./);
});

test("a variable for the run needs a name for its value", () => {
	const variables = (key: string, value: string) => orderReason({ ...emptyOrder, variables: [{ key, value }] }, facts);
	assert.match(variables("", "1") ?? "", /no name/);
	assert.deepEqual([variables("", ""), variables("n", "1"), variables("n", "")], [undefined, undefined, undefined]);
});

test("what follows names the lock, the runs before, and who applies", () => {
	const text = (mode: typeof emptyOrder.mode, changes: Partial<QueueFacts>) =>
		whatFollows({ ...emptyOrder, mode }, { ...facts, ...changes })
			.slice(0, -1)
			.join(" ");
	assert.equal(text("apply", {}), "No run is before this one. Auto-apply is off: the plan waits for a confirmation.");
	assert.equal(
		text("apply", { before: 2, lock: "Locked by ada: release", autoApply: true }),
		"Locked by ada: release. The run will wait until it is unlocked. 2 runs before this one. Auto-apply is on: the plan is applied without confirmation.",
	);
	assert.match(text("apply", { autoApply: true, mayApply: false }), /You may not apply/);
	assert.match(text("save", { autoApply: true }), /waits for a confirmation/);
	assert.match(text("destroy", { autoApply: true }), /everything is destroyed/);
	assert.doesNotMatch(text("plan", { before: 3, lock: "Locked" }), /before|Locked/);
});

test("a destroy plan wants the name, and the workspace's permission", () => {
	const destroy = { ...emptyOrder, mode: "destroy" as const };
	assert.equal(orderReason(destroy, facts), "type the name of the workspace");
	assert.equal(orderReason({ ...destroy, typedName: "net" }, facts), undefined);
	assert.match(orderReason({ ...destroy, typedName: "net" }, { ...facts, destroyable: false }) ?? "", /not allowed/);
	assert.equal(orderReason(emptyOrder, facts), undefined);
	assert.deepEqual([listWith(["a"], " a "), listWith(["a"], "b"), listWith([], " ")], [["a"], ["a", "b"], []]);
});

function workspace(attributes: object, lockedBy?: string): Resource {
	return {
		type: "workspaces",
		id: "ws-1",
		attributes: { ...attributes },
		relationships: { "locked-by": { data: lockedBy ? { type: lockedBy, id: "x-1" } : null } },
	};
}

test("the lock of a run in progress is no lock of a person", () => {
	assert.equal(lockOf(workspace({ locked: true, "locked-reason": "" }, "runs"), undefined), undefined);
	assert.equal(lockOf(workspace({ locked: false }), undefined), undefined);
	const held = { locked: true, "locked-reason": "Held after run-1: ...", hold: { "run-id": "run-1", worker: "w1" } };
	assert.deepEqual(lockOf(workspace(held, "runs"), undefined), {
		word: "Held after a lost apply",
		reason: "contact with worker w1 was lost",
	});
	const ada = { type: "users", id: "x-1", attributes: { username: "ada" } };
	assert.deepEqual(lockOf(workspace({ locked: true, "locked-reason": "why" }, "users"), ada), { word: "Locked by ada", reason: "why" });
	assert.equal(queueReason(workspace({ "execution-mode": "remote" }), true), undefined);
	assert.match(queueReason(workspace({ "execution-mode": "local" }), true) ?? "", /local/);
	assert.equal(framePath("settings", "acme", "a b"), "/app/acme/workspaces/a%20b/settings/general");
});

test("pages of a renamed workspace keep their place below its new name", () => {
	const renamed = (path: string) => renamedPath(path, "acme", "net", "net-2");
	assert.equal(renamed("/app/acme/workspaces/net"), "/app/acme/workspaces/net-2");
	assert.equal(renamed("/app/acme/workspaces/net/settings/locking"), "/app/acme/workspaces/net-2/settings/locking");
	assert.equal(renamed("/app/acme/workspaces/net-1/runs"), "");
	assert.equal(renamed("/app/acme/runs"), "");
	assert.equal(renamedPath("/app/acme/workspaces/net", "acme", "net", "net"), "");
});
