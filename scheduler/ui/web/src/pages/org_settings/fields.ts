// SPDX-License-Identifier: MPL-2.0
// Attributes of an object as a form edits them: a table of fields, the values in the form, and the request's body.

import type { Resource } from "../../core/resource.ts";

export type Value = string | boolean | readonly string[];
export type Values = Readonly<Record<string, Value>>;
export type Options = readonly (readonly [value: string, word: string])[];

export type FieldRow = {
	readonly name: string; // of the attribute; "a.b" is the member b of the attribute a
	readonly label: string;
	// secret: written only. list: texts, one on each line. set: a list of options. flags: an object of booleans.
	readonly kind: "text" | "email" | "url" | "number" | "secret" | "long" | "list" | "flag" | "choice" | "set" | "flags" | "time";
	readonly hint?: string;
	readonly options?: Options; // of choice, set and flags
	readonly initial?: Value;
	readonly only?: "create" | "update";
	readonly nullable?: boolean; // an empty text is sent as null
	readonly shown?: (values: Values) => boolean;
};

const blank: Readonly<Record<FieldRow["kind"], Value>> = {
	text: "",
	email: "",
	url: "",
	number: "",
	secret: "",
	long: "",
	time: "",
	choice: "",
	flag: false,
	list: [],
	set: [],
	flags: [],
};

function attributeOf(item: Resource | undefined, name: string): unknown {
	return name.split(".").reduce<unknown>((value, part) => (value as Record<string, unknown> | undefined | null)?.[part], item?.attributes);
}

function valueShown(field: FieldRow, item: Resource | undefined): Value {
	const value = attributeOf(item, field.name);
	if (field.kind === "secret" || value === undefined || value === null) {
		return (item ? undefined : field.initial) ?? blank[field.kind];
	}
	if (field.kind === "flags") {
		return Object.entries(value as object).flatMap(([name, on]) => (on === true ? [name] : []));
	}
	if (field.kind === "flag") {
		return value === true;
	}
	return Array.isArray(value) ? value.map(String) : String(value);
}

export function fieldsFor(fields: readonly FieldRow[], item: Resource | undefined): readonly FieldRow[] {
	return fields.filter((field) => field.only === undefined || field.only === (item ? "update" : "create"));
}

export function valuesOf(fields: readonly FieldRow[], item: Resource | undefined): Values {
	return Object.fromEntries(fields.map((field) => [field.name, valueShown(field, item)]));
}

function sent(field: FieldRow, value: Value): unknown {
	if (field.kind === "number") {
		return value === "" ? null : Number(value);
	}
	if (field.kind === "flags") {
		return Object.fromEntries((field.options ?? []).map(([name]) => [name, (value as readonly string[]).includes(name)]));
	}
	if (field.kind === "list") {
		return (value as readonly string[]).filter(Boolean);
	}
	if (field.kind === "time") {
		return value === "" ? null : new Date(String(value)).toISOString();
	}
	return value === "" && field.nullable ? null : value;
}

function put(attributes: Record<string, unknown>, name: string, value: unknown): void {
	const [first = "", second] = name.split(".");
	attributes[first] = second === undefined ? value : { ...(attributes[first] as object | undefined), [second]: value };
}

function isChanged(field: FieldRow, value: Value, item: Resource | undefined): boolean {
	if (field.kind === "secret") {
		return value !== "";
	}
	return !item || JSON.stringify(value) !== JSON.stringify(valueShown(field, item));
}

// attributesOf: those of a new object, or those that differ from the object's. An empty secret is not sent.
export function attributesOf(fields: readonly FieldRow[], values: Values, item: Resource | undefined): Record<string, unknown> {
	const attributes: Record<string, unknown> = {};
	for (const field of fieldsFor(fields, item)) {
		const value = values[field.name] ?? blank[field.kind];
		if ((field.shown?.(values) ?? true) && isChanged(field, value, item) && !(item === undefined && value === "")) {
			put(attributes, field.name, sent(field, value));
		}
	}
	return attributes;
}

export function pointerOf(field: FieldRow): string {
	return `/data/attributes/${field.name.replaceAll(".", "/")}`;
}
