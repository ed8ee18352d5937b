// SPDX-License-Identifier: MPL-2.0
// The changes of a plan as the API gives them: rows of the summary, and single changes.

import { flag, list, type Resource, text } from "../core/resource.ts";

export type ListName = "resource-changes" | "drift" | "deferred" | "outputs";

export type ChangeRow = {
	readonly list: ListName;
	readonly index: number; // of /plans/:plan/changes/:index
	readonly action: string;
	readonly address: string;
	readonly previousAddress: string;
	readonly badges: readonly string[];
	readonly type: string;
	readonly module: string;
	readonly reason: string;
	readonly deposed: string;
	readonly deferredReason: string;
	readonly relevant: boolean;
	readonly unreadable: boolean;
	readonly changed: readonly string[]; // names of changed attributes, not always all
	readonly changedCount: number;
};

export type CheckRow = {
	readonly list: "checks";
	readonly address: string;
	readonly kind: string;
	readonly status: string;
	readonly problems: readonly string[];
};

export type Summary = { readonly rows: readonly ChangeRow[]; readonly checks: readonly CheckRow[]; readonly truncated: boolean };

const lists: readonly ListName[] = ["resource-changes", "deferred", "drift", "outputs"];

type Attributes = Readonly<Record<string, unknown>>;

const string = (value: unknown) => (typeof value === "string" ? value : "");
const strings = (value: unknown) => (Array.isArray(value) ? value.filter((item) => typeof item === "string") : []);
const attributesOf = (value: unknown): Attributes => (value !== null && typeof value === "object" ? (value as Attributes) : {});

function rowOf(name: ListName, value: unknown): ChangeRow {
	const row = attributesOf(value);
	return {
		list: name,
		index: typeof row.index === "number" ? row.index : -1,
		action: string(row.action) || "unknown",
		address: string(row.address),
		previousAddress: string(row["previous-address"]),
		badges: strings(row.badges),
		type: string(row.type),
		module: string(row.module),
		reason: string(row.reason),
		deposed: string(row.deposed),
		deferredReason: string(row["deferred-reason"]),
		relevant: row.relevant === true,
		unreadable: row.unreadable === true,
		changed: strings(row.changed),
		changedCount: typeof row["changed-count"] === "number" ? row["changed-count"] : 0,
	};
}

function checkOf(value: unknown): CheckRow {
	const row = attributesOf(value);
	return {
		list: "checks",
		address: string(row.address),
		kind: string(row.kind),
		status: string(row.status) || "unknown",
		problems: strings(row.problems),
	};
}

export function summaryOf(resource: Resource): Summary {
	return {
		rows: lists.flatMap((name) => list(resource, name).map((row) => rowOf(name, row))),
		checks: list(resource, "checks").map(checkOf),
		truncated: flag(resource, "truncated"),
	};
}

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };
export type Path = readonly (string | number)[];

// One change. undefined: the side is absent, or the mask marks nothing.
export type Change = {
	readonly row: ChangeRow;
	readonly name: string;
	readonly mode: string;
	readonly provider: string;
	readonly importId: string;
	readonly generated: string;
	readonly replacePaths: readonly Path[];
	readonly before: Json | undefined;
	readonly after: Json | undefined;
	readonly sensitive: Json | undefined;
	readonly changed: Json | undefined;
	readonly unknown: Json | undefined;
};

const isPath = (value: unknown): value is Path =>
	Array.isArray(value) && value.every((step) => typeof step === "string" || typeof step === "number");

export function changeOf(resource: Resource): Change {
	const listName = lists.find((name) => name === text(resource, "list")) ?? "resource-changes";
	const side = (name: string) => resource.attributes[name] as Json | undefined;
	return {
		row: rowOf(listName, { ...resource.attributes, changed: [] }),
		name: text(resource, "name"),
		mode: text(resource, "mode"),
		provider: text(resource, "provider"),
		importId: text(resource, "import-id"),
		generated: text(resource, "generated-configuration"),
		replacePaths: list(resource, "replace-paths").filter(isPath),
		before: side("before"),
		after: side("after"),
		sensitive: side("sensitive"),
		changed: side("changed"),
		unknown: side("unknown"),
	};
}
