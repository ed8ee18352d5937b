// SPDX-License-Identifier: MPL-2.0
// No-code modules: the inputs of a module as a form has them, and the requests that the forms send.

import { linksOf, list, type Resource, text } from "../../core/resource.ts";
import type { Options } from "../../objects/fields.ts";
import type { Input } from "./description.ts";

export const noCodeOf = (module: Resource | undefined) => linksOf(module, "no-code-modules")[0]?.id ?? "";

// ---- values of inputs ----

// The values that a manager allows for an input.
export type Choice = { readonly id: string; readonly name: string; readonly type: string; readonly values: readonly unknown[] };

export function choiceOf(option: Resource): Choice {
	return { id: option.id, name: text(option, "variable-name"), type: text(option, "variable-type"), values: list(option, "options") };
}

// What was typed or chosen for the inputs, by their names. Of a choice it is the value's number. Names may be those of
// members of any object, so this is a map.
export type Given = ReadonlyMap<string, string>;

// expression: in the language of the configuration, such as ["a", "b"]
export function kindOf(type: string): "text" | "flag" | "expression" {
	if (type === "string" || type === "number") {
		return "text";
	}
	return type === "bool" ? "flag" : "expression";
}

const shown = (value: unknown) => (typeof value === "string" && value !== "" ? value : JSON.stringify(value));

// The values to choose from; undefined: anything may be typed.
export function optionsOf(input: Input, choice: Choice | undefined): Options | undefined {
	const none = ["", input.required ? "Choose a value" : "The module's default"] as const;
	if (choice) {
		return [none, ...choice.values.map((value, at) => [String(at), shown(value)] as const)];
	}
	return kindOf(input.type) === "flag" ? [none, ["true", "true"], ["false", "false"]] : undefined;
}

function valueGiven(input: Input, choice: Choice | undefined, given: string): { readonly value: string; readonly hcl: boolean } {
	if (choice) {
		const value = choice.values[Number(given)];
		return typeof value === "string" ? { value, hcl: false } : { value: JSON.stringify(value ?? null), hcl: true };
	}
	return { value: input.type === "string" ? given : given.trim(), hcl: kindOf(input.type) === "expression" };
}

export const isGiven = (given: Given, { name }: Input) => (given.get(name) ?? "").trim() !== "";

// The variables of the request: one for each input that has a value, in the order of `inputs`.
export function varsOf(inputs: readonly Input[], choices: readonly Choice[], given: Given) {
	return inputs
		.filter((input) => isGiven(given, input))
		.map((input) => {
			const choice = choices.find(({ name }) => name === input.name);
			const value = valueGiven(input, choice, given.get(input.name) ?? "");
			return { type: "vars", attributes: { key: input.name, category: "terraform", sensitive: input.sensitive, ...value } };
		});
}

export const varPointer = (at: number) => `/data/relationships/vars/data/${at}/attributes/value`;

// ---- allowed values as a manager types them, one on each line ----

const isPlain = (value: unknown): value is string =>
	typeof value === "string" && value !== "" && value === value.trim() && !value.startsWith('"') && !/[\r\n]/.test(value);

const isRead = (line: string, type: string) => (type === "string" ? isPlain(line) : type === "any" && !isJson(line));

function isJson(line: string): boolean {
	try {
		JSON.parse(line);
		return true;
	} catch {
		return false;
	}
}

export function linesOf({ type, values }: Choice): string {
	return values.map((value) => (isPlain(value) && isRead(value, type) ? value : JSON.stringify(value))).join("\n");
}

function fits(value: unknown, type: string): boolean {
	const expected = { string: "string", number: "number", bool: "boolean" }[type];
	return expected === undefined || typeof value === expected;
}

// The values of the lines, or the line that is no value of the type.
export function valuesOf(lines: string, type: string): { readonly values: readonly unknown[]; readonly wrong?: string } {
	const values: unknown[] = [];
	for (const line of lines.split("\n").map((typed) => typed.trim())) {
		if (line === "") {
			continue;
		}
		const value = isRead(line, type) ? line : isJson(line) ? JSON.parse(line) : undefined;
		if (value === undefined || !fits(value, type)) {
			return { values: [], wrong: line };
		}
		values.push(value);
	}
	return { values };
}
