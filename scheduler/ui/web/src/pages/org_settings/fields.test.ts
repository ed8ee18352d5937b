// SPDX-License-Identifier: MPL-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { attributesOf, type FieldRow, pointerOf, valuesOf } from "./fields.ts";

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
