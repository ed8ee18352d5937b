// SPDX-License-Identifier: MPL-2.0
// Attributes of an object as a form edits them: a table of fields, the values in the form, and the request's body.

import type { ComponentChildren } from "preact";
import { timeOf, wallTime } from "../core/format.ts";
import { linkOf, linksOf, type Resource } from "../core/resource.ts";

export type Value = string | boolean | readonly string[];
export type Values = Readonly<Record<string, Value>>;
export type Options = readonly (readonly [value: string, word: string])[];

export type FieldRow = {
	readonly name: string; // of the attribute; "a.b" is the member b of the attribute a
	readonly label: string;
	// secret: is only written
	// list: texts, one on each line
	// set: a list of options
	// flags: an object of booleans
	// time: a day
	// moment: a time in the zone of the browser
	readonly kind: "text" | "email" | "url" | "number" | "secret" | "long" | "list" | "flag" | "choice" | "set" | "flags" | "time" | "moment";
	readonly heading?: string; // above the field
	readonly hint?: ComponentChildren;
	readonly disabled?: boolean; // of a flag, whose hint says why
	readonly pointer?: string; // of the errors, if the name does not lead to it
	readonly suggestions?: readonly string[]; // of a text
	readonly relation?: string; // the type of the objects that a choice or a set names: it is a relationship, and no attribute
	readonly from?: (item: Resource) => Value; // the value, if the attribute does not have it
	readonly always?: boolean; // sent also if it has not changed
	readonly options?: Options; // of choice, set and flags
	readonly initial?: Value;
	readonly longest?: number; // characters of a text
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
	moment: "",
	choice: "",
	flag: false,
	list: [],
	set: [],
	flags: [],
};

function attributeOf(item: Resource | undefined, name: string): unknown {
	return name.split(".").reduce<unknown>((value, part) => (value as Record<string, unknown> | undefined | null)?.[part], item?.attributes);
}

function sourceOf(field: FieldRow, item: Resource | undefined): unknown {
	if (item && field.from) {
		return field.from(item);
	}
	if (!field.relation) {
		return attributeOf(item, field.name);
	}
	return field.kind === "set" ? item && linksOf(item, field.name).map(({ id }) => id) : linkOf(item, field.name)?.id;
}

function valueShown(field: FieldRow, item: Resource | undefined): Value {
	const value = sourceOf(field, item);
	if (field.kind === "secret" || value === undefined || value === null) {
		return (item ? undefined : field.initial) ?? blank[field.kind];
	}
	if (field.kind === "flags") {
		return Object.entries(value as object).flatMap(([name, on]) => (on === true ? [name] : []));
	}
	if (field.kind === "flag") {
		return value === true;
	}
	if (field.kind === "moment") {
		const at = timeOf(value);
		return at === undefined ? "" : wallTime(at, false).slice(0, 16).replace(" ", "T"); // of <input type="datetime-local">
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
		return (value as readonly string[]).map((line) => line.trim()).filter(Boolean);
	}
	if (field.kind === "time" || field.kind === "moment") {
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
	return !item || field.always === true || JSON.stringify(value) !== JSON.stringify(valueShown(field, item));
}

// The fields that are sent: of a new object, or those that differ from the object. An empty secret is not sent.
function changedFields(fields: readonly FieldRow[], values: Values, item: Resource | undefined): readonly (readonly [FieldRow, Value])[] {
	return fieldsFor(fields, item)
		.filter((field) => field.shown?.(values) ?? true)
		.map((field) => [field, values[field.name] ?? blank[field.kind]] as const)
		.filter(([field, value]) => isChanged(field, value, item) && (item !== undefined || value !== ""));
}

export function attributesOf(fields: readonly FieldRow[], values: Values, item: Resource | undefined): Record<string, unknown> {
	const attributes: Record<string, unknown> = {};
	for (const [field, value] of changedFields(fields, values, item).filter(([{ relation }]) => !relation)) {
		put(attributes, field.name, sent(field, value));
	}
	return attributes;
}

export function relationshipsOf(fields: readonly FieldRow[], values: Values, item: Resource | undefined): Record<string, unknown> {
	const link = (type: string | undefined, id: string) => (id ? { type, id } : null);
	return Object.fromEntries(
		changedFields(fields, values, item)
			.filter(([{ relation }]) => relation)
			.map(([{ name, relation }, value]) => {
				const data = Array.isArray(value) ? value.map((id) => link(relation, id)) : link(relation, String(value));
				return [name, { data }];
			}),
	);
}

export function pointerOf(field: FieldRow): string {
	return `/data/${field.relation ? "relationships" : "attributes"}/${field.pointer ?? field.name.replaceAll(".", "/")}`;
}
