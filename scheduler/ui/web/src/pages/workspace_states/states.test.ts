// SPDX-License-Identifier: MPL-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { sideText } from "../../changes/side.ts";
import { rowsOf, treeOf } from "../../changes/tree.ts";
import { stateChanges } from "./state_diff.ts";
import { statePartsOf } from "./state_file.ts";
import { detachedReason } from "./state_words.ts";

function file(secret: string, size: number, more: object[] = []) {
	return {
		version: 4,
		outputs: { token: { value: secret, sensitive: true, type: "string" }, size: { value: size, type: "number" } },
		resources: [
			{
				mode: "managed",
				type: "aws_db",
				name: "main",
				module: "module.db",
				instances: [
					{
						index_key: "eu",
						attributes: { id: "db-1", size, login: { password: secret, user: "ada" } },
						sensitive_attributes: [
							[
								{ type: "get_attr", value: "login" },
								{ type: "get_attr", value: "password" },
							],
						],
					},
				],
			},
			...more,
		],
	};
}

const added = { mode: "managed", type: "aws_s3", name: "logs", instances: [{ attributes: { id: "b-1" }, sensitive_attributes: [] }] };

test("resources and outputs that differ are changes, by address", () => {
	const changes = stateChanges(statePartsOf(file("wine", 1)), statePartsOf(file("wine", 2, [added])));
	assert.deepEqual(
		changes.map(({ kind, action, change }) => [kind, action, change.row.address]),
		[
			["resource", "update", 'module.db.aws_db.main["eu"]'],
			["resource", "create", "aws_s3.logs"],
			["output", "update", "size"],
		],
	);
});

test("a sensitive value is in no change, and says whether it changed", () => {
	const changes = stateChanges(statePartsOf(file("wine-dark", 1)), statePartsOf(file("rosy-fingered", 1)));
	assert.deepEqual(
		changes.map(({ change }) => change.row.address),
		['module.db.aws_db.main["eu"]', "token"],
	);
	assert.doesNotMatch(JSON.stringify(changes), /wine-dark|rosy/);
	const rows = changes.flatMap(({ change }) => rowsOf(treeOf(change), new Set(), false));
	const texts = rows.flatMap((row) => (row.kind === "node" ? [`${row.node.key}: ${sideText(row.node.after)}`] : []));
	assert.ok(texts.includes("password: (sensitive, changed)"));
	assert.ok(texts.includes("value: (sensitive, changed)"));
});

test("a file that is no state has no parts", () => {
	assert.deepEqual(statePartsOf([1]), []);
	assert.deepEqual(statePartsOf({ resources: "x", outputs: 3 }), []);
	const odd = { resources: [{ instances: [{ attributes: { a: "secret" }, sensitive_attributes: ["?", [{ value: {} }]] }] }] };
	assert.doesNotMatch(JSON.stringify(statePartsOf(odd)), /"a":"secret"/);
});

test("the reason of a detached state is in the event that names it", () => {
	const event = (id: string, action: string, description: string) => ({ type: "run-events", id, attributes: { action, description } });
	const events = [
		event("re-1", "applied", "Applied"),
		event("re-2", "state-detached", "A state of the apply was stored as a detached state (sv-1): another lineage."),
		event("re-3", "state-detached", "A state of the apply was stored as a detached state (sv-2): it is older."),
	];
	const state = { type: "state-versions", id: "sv-2", attributes: {} };
	assert.equal(detachedReason(state, events), "it is older.");
	assert.equal(detachedReason({ ...state, id: "sv-3" }, events), "");
});
