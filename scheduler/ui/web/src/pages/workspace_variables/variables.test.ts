// SPDX-License-Identifier: MPL-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Resource } from "../../core/resource.ts";
import { variableRows } from "./effective.ts";
import { emptyForm, formOf, variableBody } from "./variable_form.ts";

function variable(id: string, key: string, category = "terraform"): Resource {
	return { type: "vars", id, attributes: { key, category, value: id } };
}

const set: Resource = {
	type: "varsets",
	id: "varset-1",
	attributes: { name: "common", priority: true },
	relationships: { vars: { data: [{ type: "vars", id: "var-2" }] } },
};

test("the winner stands first, and the others name what a run gets instead", () => {
	const own = variable("var-1", "region");
	const other = variable("var-2", "region");
	const rows = variableRows([own], [set], [other], () => other);
	assert.deepEqual(
		rows.map((row) => [row.variable.id, row.wins, row.beatenBy]),
		[
			["var-2", true, ""],
			["var-1", false, "variable set common"],
		],
	);
});

test("the same key of another category is another variable", () => {
	const own = variable("var-1", "region", "env");
	const other = variable("var-2", "region");
	const rows = variableRows([own], [set], [own, other], () => other);
	assert.deepEqual(
		rows.map((row) => row.wins),
		[true, true],
	);
});

test("a sensitive value is sent only if it was typed", () => {
	const secret: Resource = { type: "vars", id: "var-1", attributes: { key: "k", category: "env", value: null, sensitive: true } };
	const form = formOf(secret);
	assert.equal("value" in variableBody(form, secret).data.attributes, false);
	assert.equal(variableBody({ ...form, value: "new", isTyped: true }, secret).data.attributes.value, "new");
	assert.equal(variableBody({ ...form, value: "", isTyped: true }, secret).data.attributes.value, "");
});

test("a new variable is sent whole", () => {
	const body = variableBody({ ...emptyForm("env"), key: "A", value: "b", isTyped: true }, undefined);
	assert.deepEqual(body.data.attributes, { key: "A", value: "b", category: "env", hcl: false, sensitive: false, description: "" });
});
