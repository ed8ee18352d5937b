// SPDX-License-Identifier: MPL-2.0
// A change's new values as HCL, to be copied into a configuration. Unknown and sensitive values become comments.

import type { Change, Json } from "./summary.ts";
import { isObject, marks, member } from "./tree.ts";

const deepest = 40;
const pad = (depth: number) => "  ".repeat(depth);

const escapes: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\" };

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are escaped
const unseen = /[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

export function hclString(text: string): string {
	const escaped = text
		.replace(/["\\\n\r\t]/g, (char) => escapes[char] ?? char)
		.replace(/[$%]\{/g, (start) => start[0] + start)
		.replace(unseen, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
	return `"${escaped}"`;
}

const hclName = (name: string) => (/^[A-Za-z_][\w-]*$/.test(name) ? name : hclString(name));

type Masks = { readonly sensitive: Json | undefined; readonly unknown: Json | undefined };

const masksAt = (masks: Masks, step: string | number): Masks => ({
	sensitive: member(masks.sensitive, step),
	unknown: member(masks.unknown, step),
});

function valueHcl(value: Json, masks: Masks, depth: number): string {
	if (masks.sensitive === true) {
		return "null # sensitive";
	}
	if (masks.unknown === true || depth > deepest) {
		return masks.unknown === true ? "null # known after apply" : "null # nested too deep";
	}
	if (typeof value === "string") {
		return hclString(value);
	}
	if (Array.isArray(value)) {
		const items = (value as readonly Json[]).map((item, i) => `${pad(depth + 1)}${itemHcl(item, masksAt(masks, i), depth + 1)}\n`);
		return items.length > 0 ? `[\n${items.join("")}${pad(depth)}]` : "[]";
	}
	if (isObject(value)) {
		const body = membersHcl(value, masks, depth + 1);
		return body ? `{\n${body}${pad(depth)}}` : "{}";
	}
	return String(value);
}

// A comma follows the value, before its comment.
function itemHcl(value: Json, masks: Masks, depth: number): string {
	const text = valueHcl(value, masks, depth);
	const comment = /^null # /.test(text) ? text.indexOf(" #") : -1;
	return comment < 0 ? `${text},` : `${text.slice(0, comment)},${text.slice(comment)}`;
}

function membersHcl(value: { readonly [name: string]: Json }, masks: Masks, depth: number): string {
	const names = new Set([...Object.keys(value), ...(isObject(masks.unknown) ? Object.keys(masks.unknown) : [])]);
	return [...names]
		.filter((name) => value[name] !== null || marks(member(masks.sensitive, name)) || marks(member(masks.unknown, name)))
		.map((name) => `${pad(depth)}${hclName(name)} = ${valueHcl(value[name] ?? null, masksAt(masks, name), depth)}\n`)
		.join("");
}

// changeHcl: the block of the resource as it will be, or as it was if it is destroyed; or an output's value.
export function changeHcl(change: Change): string {
	const { row, sensitive, unknown } = change;
	const gone = change.after === null || change.after === undefined;
	const value = gone ? change.before : change.after;
	const masks = { sensitive, unknown: gone ? undefined : unknown };
	if (row.list === "outputs") {
		return `output ${hclString(row.address)} {\n  value = ${valueHcl(value ?? null, masks, 1)}\n}\n`;
	}
	const block = change.mode === "data" ? "data" : "resource";
	const body = sensitive === true ? "  # sensitive\n" : isObject(value) ? membersHcl(value, masks, 1) : "";
	return `${block} ${hclString(row.type)} ${hclString(change.name)} {\n${body}}\n`;
}
