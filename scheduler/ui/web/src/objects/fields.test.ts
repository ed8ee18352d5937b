// SPDX-License-Identifier: MPL-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { attributesOf, type FieldRow, pointerOf, relationshipsOf, valuesOf } from "./fields.ts";

const fields: readonly FieldRow[] = [
	{ name: "name", label: "Name", kind: "text" },
	{ name: "minutes", label: "Minutes", kind: "number" },
	{ name: "hmac-key", label: "Key", kind: "secret" },
	{ name: "global.enabled", label: "Global", kind: "flag" },
	{ name: "global.stages", label: "Stages", kind: "set", options: [["pre_plan", "Before"]] },
	{
		name: "access",
		label: "Access",
		kind: "flags",
		options: [
			["read", "Read"],
			["write", "Write"],
		],
	},
	{ name: "kind", label: "Kind", kind: "choice", only: "create", initial: "opa" },
];
const item = {
	type: "things",
	id: "1",
	attributes: {
		name: "a",
		minutes: 5,
		"hmac-key": "never",
		global: { enabled: true, stages: ["pre_plan"] },
		access: { read: true, write: false },
	},
};

test("the values of an object have no secrets", () => {
	const values = valuesOf(fields, item);
	assert.equal(values["hmac-key"], "");
	assert.equal(values["global.enabled"], true);
	assert.deepEqual(values.access, ["read"]);
	assert.equal(values.minutes, "5");
});

test("an update sends only what has changed", () => {
	const values = valuesOf(fields, item);
	assert.deepEqual(attributesOf(fields, values, item), {});
	assert.deepEqual(attributesOf(fields, { ...values, minutes: "", "global.enabled": false, access: ["write"] }, item), {
		minutes: null,
		global: { enabled: false },
		access: { read: false, write: true },
	});
	assert.deepEqual(attributesOf(fields, { ...values, "hmac-key": "new" }, item), { "hmac-key": "new" });
});

test("a new object has its initial values and no empty texts", () => {
	const attributes = attributesOf(fields, { ...valuesOf(fields, undefined), name: "b" }, undefined);
	assert.deepEqual(attributes, { name: "b", kind: "opa", global: { enabled: false, stages: [] }, access: { read: false, write: false } });
});

test("a member of an attribute has the pointer of its path", () => {
	assert.equal(pointerOf({ name: "global.stages", label: "", kind: "set" }), "/data/attributes/global/stages");
});

test("null and an empty text are the same", () => {
	const field: FieldRow = { name: "description", label: "Description", kind: "long" };
	const without = { type: "things", id: "1", attributes: { description: null } };
	assert.deepEqual(attributesOf([field], { description: "" }, without), {});
	assert.deepEqual(attributesOf([field], { description: "a" }, without), { description: "a" });
});

test("a time of the browser's zone is sent as one of UTC, and an empty one as null", () => {
	const field: FieldRow = { name: "at", label: "At", kind: "moment" };
	const timed = { type: "things", id: "1", attributes: { at: "2026-01-02T03:04:00.000Z" } };
	const values = valuesOf([field], timed);
	assert.equal(new Date(String(values.at)).toISOString(), timed.attributes.at);
	assert.deepEqual(attributesOf([field], values, timed), {});
	assert.deepEqual(attributesOf([field], { at: "" }, timed), { at: null });
	assert.deepEqual(attributesOf([field], values, undefined), timed.attributes);
});

test("a field of a relation is sent as a relationship", () => {
	const related: readonly FieldRow[] = [
		{ name: "pool", label: "Pool", kind: "choice", relation: "pools" },
		{ name: "teams", label: "Teams", kind: "set", relation: "teams" },
	];
	const linked = { type: "things", id: "1", attributes: {}, relationships: { pool: { data: { type: "pools", id: "p1" } } } };
	const values = valuesOf(related, linked);
	assert.deepEqual(values, { pool: "p1", teams: [] });
	assert.deepEqual(relationshipsOf(related, values, linked), {});
	assert.deepEqual(relationshipsOf(related, { ...values, pool: "" }, linked), { pool: { data: null } });
	assert.deepEqual(relationshipsOf(related, { pool: "p2", teams: ["t"] }, undefined), {
		pool: { data: { type: "pools", id: "p2" } },
		teams: { data: [{ type: "teams", id: "t" }] },
	});
	assert.deepEqual([attributesOf(related, values, undefined), pointerOf(related[0] as FieldRow)], [{}, "/data/relationships/pool"]);
});
