// SPDX-License-Identifier: MPL-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Input } from "./description.ts";
import { linesOf, optionsOf, valuesOf, varsOf } from "./no_code.ts";

const input = (name: string, type: string, more: Partial<Input> = {}): Input => ({
	name,
	type,
	description: "",
	default: "",
	required: false,
	sensitive: false,
	...more,
});
const choice = (name: string, type: string, values: readonly unknown[]) => ({ id: "", name, type, values });

test("inputs with a value become variables, texts as text and the rest as expressions", () => {
	const inputs = [
		input("word", "string"),
		input("size", "number"),
		input("list", "list(string)"),
		input("any", "any", { sensitive: true }),
		input("none", "string"),
		input("__proto__", "bool"),
		input("chosen", "any"),
	];
	const given = new Map([
		["word", " a "],
		["size", " 3 "],
		["list", '["a"]\n'],
		["any", "1"],
		["none", " "],
		["__proto__", "true"],
		["chosen", "1"],
	]);
	assert.deepEqual(
		varsOf(inputs, [choice("chosen", "any", ["x", { a: [1] }])], given).map(({ attributes: { key, value, hcl, sensitive } }) => [
			key,
			value,
			hcl,
			sensitive,
		]),
		[
			["word", " a ", false, false],
			["size", "3", false, false],
			["list", '["a"]', true, false],
			["any", "1", true, true],
			["__proto__", "true", false, false],
			["chosen", '{"a":[1]}', true, false],
		],
	);
});

test("only choices and booleans are chosen", () => {
	assert.equal(optionsOf(input("a", "string"), undefined), undefined);
	assert.deepEqual(optionsOf(input("a", "bool"), undefined)?.[0], ["", "The module's default"]);
	assert.deepEqual(optionsOf(input("a", "string", { required: true }), choice("a", "string", ["eu", "", 3])), [
		["", "Choose a value"],
		["0", "eu"],
		["1", '""'],
		["2", "3"],
	]);
});

test("allowed values are the same after they were shown and read", () => {
	const examples: readonly (readonly [string, readonly unknown[]])[] = [
		["string", ["eu", "", " a ", '"b"', "a\nb", "3", "true"]],
		["number", [1, 2.5]],
		["bool", [true, false]],
		["list(string)", [["a", "b"], []]],
		["any", ["eu", "3", 3, null, { a: "b" }]],
	];
	for (const [type, values] of examples) {
		assert.deepEqual(valuesOf(linesOf(choice("a", type, values)), type), { values });
	}
	assert.deepEqual(valuesOf("1\n\n large ", "number"), { values: [], wrong: "large" });
	assert.deepEqual(valuesOf("1", "bool"), { values: [], wrong: "1" });
	assert.deepEqual(valuesOf("[a]", "list(string)"), { values: [], wrong: "[a]" });
});
