// SPDX-License-Identifier: MPL-2.0
// The changes of a plan as the API gives them: rows of the summary, and single changes.

import { flag, list, membersOf, type Resource, text, textIn } from "../core/resource.ts";
import type { RiskHint } from "./risk_hints.ts";

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

export type Summary = {
	readonly rows: readonly ChangeRow[];
	readonly checks: readonly CheckRow[];
	readonly truncated: boolean;
	readonly risks: readonly RiskHint[];
};

const lists: readonly ListName[] = ["resource-changes", "deferred", "drift", "outputs"];

const strings = (value: unknown) => (Array.isArray(value) ? value.filter((item) => typeof item === "string") : []);

function rowOf(name: ListName, value: unknown): ChangeRow {
	const row = membersOf(value);
	return {
		list: name,
		index: typeof row.index === "number" ? row.index : -1,
		action: textIn(row, "action") || "unknown",
		address: textIn(row, "address"),
		previousAddress: textIn(row, "previous-address"),
		badges: strings(row.badges),
		type: textIn(row, "type"),
		module: textIn(row, "module"),
		reason: textIn(row, "reason"),
		deposed: textIn(row, "deposed"),
		deferredReason: textIn(row, "deferred-reason"),
		relevant: row.relevant === true,
		unreadable: row.unreadable === true,
		changed: strings(row.changed),
		changedCount: typeof row["changed-count"] === "number" ? row["changed-count"] : 0,
	};
}

function checkOf(value: unknown): CheckRow {
	const row = membersOf(value);
	return {
		list: "checks",
		address: textIn(row, "address"),
		kind: textIn(row, "kind"),
		status: textIn(row, "status") || "unknown",
		problems: strings(row.problems),
	};
}

function riskOf(value: unknown): RiskHint {
	const hint = membersOf(value);
	return { type: textIn(hint, "type"), action: textIn(hint, "action"), count: Number(hint.count ?? 0) };
}

export function summaryOf(resource: Resource): Summary {
	return {
		rows: lists.flatMap((name) => list(resource, name).map((row) => rowOf(name, row))),
		checks: list(resource, "checks").map(checkOf),
		truncated: flag(resource, "truncated"),
		risks: list(resource, "risk-hints").map(riskOf),
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
