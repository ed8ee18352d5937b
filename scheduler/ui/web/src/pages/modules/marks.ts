// SPDX-License-Identifier: MPL-2.0
// How versions are deprecated, revoked and reinstated.

import { attributesOf, type FieldRow, type Values } from "../../objects/fields.ts";
import type { Version } from "./module_words.ts";

export type Marking = "deprecate" | "revoke" | "reinstate";

type Mark = {
	readonly word: string; // of the button
	readonly done: string; // "deprecated"
	readonly intro: string;
	readonly fields: readonly FieldRow[];
	readonly sent: (values: Values) => Readonly<Record<string, object>>; // beside the values of the fields
};

const longest = 1000;

// what: the attribute; words: its member with the words.
const textsOf = (what: string, words: string, hint: string): readonly FieldRow[] => [
	{ name: `${what}.${words}`, label: "Reason", kind: "long", longest, hint },
	{
		name: `${what}.link`,
		label: "Link",
		kind: "url",
		longest,
		pointer: what,
		hint: "More about it, such as the module that replaces this one. With https or http.",
	},
];

const undone = { deprecation: { "deprecated-status": "Undeprecated" }, revocation: { status: "Unrevoked" } };

export const marks: Readonly<Record<Marking, Mark>> = {
	deprecate: {
		word: "Deprecate",
		done: "deprecated",
		intro: "The version can be used as before. Runs and terminals that install it show a warning with the reason and the link.",
		fields: textsOf("deprecation", "reason", "What is wrong with the version, and what to use instead."),
		sent: () => ({ deprecation: { "deprecated-status": "Deprecated" } }),
	},
	revoke: {
		word: "Revoke",
		done: "revoked",
		intro: "Nobody can install the version any more. Runs that need it fail. It can be reinstated.",
		fields: textsOf("revocation", "message", "Why it must not be used."),
		sent: () => ({ revocation: { status: "Revoked" } }),
	},
	reinstate: {
		word: "Reinstate",
		done: "reinstated",
		intro: "The version can be used again.",
		fields: [{ name: "deprecated", label: "It stays deprecated", kind: "flag" }],
		sent: ({ deprecated }) => (deprecated === true ? { revocation: undone.revocation } : undone),
	},
};

// The fields for the version: only a revoked one can stay deprecated.
export function markFields(what: Marking, { word }: Version): readonly FieldRow[] {
	return what === "reinstate" && word !== "Revoked" ? [] : marks[what].fields;
}

// The marks that the version may get.
export function markingsOf({ status, word }: Version): readonly Marking[] {
	if (status !== "ok") {
		return [];
	}
	return word === "Revoked" ? ["reinstate"] : word === "Deprecated" ? ["revoke", "reinstate"] : ["deprecate"];
}

export function markBody(what: Marking, values: Values) {
	const typed = what === "reinstate" ? {} : attributesOf(marks[what].fields, values, undefined);
	const fixed = Object.entries(marks[what].sent(values));
	const attributes = Object.fromEntries(fixed.map(([name, members]) => [name, { ...members, ...(typed[name] as object | undefined) }]));
	return { data: { type: "registry-module-versions", attributes } };
}
