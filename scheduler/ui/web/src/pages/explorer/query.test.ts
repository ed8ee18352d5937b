// SPDX-License-Identifier: MPL-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { addressOf, fieldOf, operatorsOf, parametersOf, queryOf, querySaved, savedOf, viewOf } from "./query.ts";
import { typeWords, useCases } from "./words.ts";

test("a query survives its address and its saved form", () => {
	const query = {
		type: "modules",
		sort: "-workspace_count",
		columns: ["name", "version"],
		conditions: [
			{ field: "name", operator: "contains", value: "a b & c=d" },
			{ field: "version", operator: "is_empty", value: "" },
		],
	};
	assert.deepEqual(queryOf(new URLSearchParams(String(addressOf(query, "sq-1")))), query);
	assert.deepEqual(querySaved("modules", savedOf(query)), query);
	assert.deepEqual(parametersOf(query), {
		type: "modules",
		sort: "-workspace_count",
		fields: "name,version",
		"filter[0][name][contains][0]": "a b & c=d",
		"filter[1][version][is_empty][0]": "",
	});
});

test("addresses and saved queries of any shape are read", () => {
	assert.equal(queryOf(new URLSearchParams("type=secrets")), undefined);
	assert.deepEqual(queryOf(new URLSearchParams("type=tags&filter=")), {
		type: "tags",
		sort: "",
		columns: [],
		conditions: [{ field: "", operator: "", value: "" }],
	});
	assert.deepEqual(querySaved("tags", { filter: 7, sort: {}, fields: "x" }), { type: "tags", sort: "", columns: [], conditions: [] });
});

test("operators follow from the kind of a field", () => {
	const view = viewOf("modules");
	assert.ok(view);
	assert.deepEqual(operatorsOf(fieldOf(view, "curated")), ["is", "is_empty", "is_not_empty"]);
	assert.ok(operatorsOf(fieldOf(view, "version")).includes("lt"));
	assert.deepEqual(operatorsOf(undefined), []);
});

test("each offered query has a type, fields and operators of the table", () => {
	for (const [word, query] of useCases) {
		const view = viewOf(query.type);
		assert.ok(view && typeWords[query.type], word);
		for (const name of [...query.columns, ...(query.sort ? [query.sort.replace("-", "")] : [])]) {
			assert.ok(fieldOf(view, name), `${word}: ${name}`);
		}
		for (const { field, operator } of query.conditions) {
			assert.ok(operatorsOf(fieldOf(view, field)).includes(operator), `${word}: ${operator}`);
		}
	}
});
