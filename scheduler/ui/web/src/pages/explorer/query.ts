// SPDX-License-Identifier: MPL-2.0
// A query of the explorer, as the page's address has it: type, filter (one for each condition), sort, columns, page.

import { type ExplorerField, type ExplorerView, explorerOperators, explorerViews } from "generated/explorer";
import type { Members } from "../../core/resource.ts";
import { isObject, listIn, textIn } from "../../core/resource.ts";

export type Condition = { readonly field: string; readonly operator: string; readonly value: string };
export type Query = {
	readonly type: string;
	readonly conditions: readonly Condition[];
	readonly sort: string; // "-" before the field: the largest first
	readonly columns: readonly string[]; // none: all
};

export const viewOf = (type: string): ExplorerView | undefined => explorerViews.find((view) => view.name === type);
export const fieldOf = (view: ExplorerView, name: string): ExplorerField | undefined => view.fields.find((field) => field.name === name);
export const operatorsOf = (field: ExplorerField | undefined): readonly string[] =>
	explorerOperators.filter((operator) => field && operator.kinds.includes(field.kind)).map((operator) => operator.name);
export const needsValue = (operator: string): boolean => !operator.endsWith("_empty");

// A condition in the address is "field operator value"; the value may have spaces.
const separator = " ";

export function conditionText({ field, operator, value }: Condition): string {
	return [field, operator, value].join(separator);
}

export function conditionOf(written: string): Condition {
	const [field = "", operator = "", ...rest] = written.split(separator);
	return { field, operator, value: rest.join(separator) };
}

export function queryOf(address: URLSearchParams): Query | undefined {
	const type = address.get("type") ?? "";
	if (!viewOf(type)) {
		return undefined;
	}
	const columns = address.get("columns") ?? "";
	return {
		type,
		conditions: address.getAll("filter").map(conditionOf),
		sort: address.get("sort") ?? "",
		columns: columns ? columns.split(",") : [],
	};
}

// addressOf: the view state of a query. `view` is the saved view that it came from.
export function addressOf(query: Query, view = ""): URLSearchParams {
	const address = new URLSearchParams({ type: query.type });
	for (const condition of query.conditions) {
		address.append("filter", conditionText(condition));
	}
	for (const [name, value] of [
		["sort", query.sort],
		["columns", query.columns.join(",")],
		["view", view],
	] as const) {
		if (value) {
			address.set(name, value);
		}
	}
	return address;
}

// filtersOf: what decides which rows a result has, whatever their order and columns.
export function filtersOf({ type, conditions }: Query): string {
	return String(addressOf({ type, conditions, sort: "", columns: [] }));
}

// parametersOf: the query as parameters of the API.
export function parametersOf(query: Query): Record<string, string> {
	const parameters: Record<string, string> = { type: query.type, sort: query.sort, fields: query.columns.join(",") };
	query.conditions.forEach(({ field, operator, value }, number) => {
		parameters[`filter[${number}][${field}][${operator}][0]`] = value;
	});
	return parameters;
}

// savedOf: the form in which the API saves a query; querySaved reads it.
export function savedOf(query: Query): Members {
	return {
		filter: query.conditions.map(({ field, operator, value }) => ({ field, operator, value: [value] })),
		...(query.sort && { sort: [query.sort] }),
		...(query.columns.length > 0 && { fields: query.columns }),
	};
}

const firstText = (value: unknown): string => (Array.isArray(value) ? String(value[0] ?? "") : typeof value === "string" ? value : "");

export function querySaved(type: string, saved: unknown): Query {
	const members: Members = isObject(saved) ? saved : {};
	const columns = members.fields;
	return {
		type,
		conditions: listIn(members.filter).map((item) => ({
			field: textIn(item, "field"),
			operator: textIn(item, "operator"),
			value: firstText(item.value),
		})),
		sort: firstText(members.sort),
		columns: Array.isArray(columns) ? columns.map(String) : [],
	};
}

// emptyFilters: a parameter without a value is part of the query, too: "is empty".
export function emptyFilters(parameters: Readonly<Record<string, string>>): string {
	const empty = Object.entries(parameters).filter(([name, value]) => name.startsWith("filter") && value === "");
	return empty.map(([name]) => `&${encodeURIComponent(name)}=`).join("");
}
